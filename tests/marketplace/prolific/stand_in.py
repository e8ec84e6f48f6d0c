"""A running stand-in, as researchers, participants and operators meet it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx

from marketplace.prolific.store import new_id
from tests.marketplace.prolific import document
from tests.patience import PATIENCE_S

JSON = {"Accept": "application/json"}
LINK = "https://study.example/run?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
LINK += "&SESSION_ID={{%SESSION_ID%}}"
DONE, OURS = "DONE1234", "OURS1234"
CODES = [
    {"code": DONE, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {
        "code": OURS,
        "code_type": "COMPLETED",
        "actions": [{"action": "MANUALLY_REVIEW"}],
        "actor": "researcher",
    },
]
MINUTE_S, DAY_S = 60, 24 * 60 * 60
REASON = "The answers were given without reading the sentences: " + "too fast " * 10


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-11-22T10:00:00+00:00")

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, **time: float) -> None:
        self.now += timedelta(**time)


def draft(**changes: object) -> dict[str, Any]:
    """Return a study as a researcher writes it."""
    return {
        "name": "Which sentence is better?",
        "internal_name": "run 1",
        "description": "You choose between sentences.",
        "external_study_url": LINK,
        "prolific_id_option": "url_parameters",
        "completion_codes": CODES,
        "total_available_places": 3,
        "estimated_completion_time": 10,
        "maximum_allowed_time": 40,
        "reward": 150,
        **changes,
    }


@dataclass
class Person:
    """A participant at the site, without a browser."""

    ref: str
    web: httpx.Client

    def facts(self, path: str) -> dict[str, Any]:
        answer = self.web.get(path, headers=JSON)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def studies(self) -> list[str]:
        return [each["study_id"] for each in self.facts("/studies")["studies"]]

    def try_to_take(self, study: str) -> httpx.Response:
        return self.web.post(f"/studies/{study}/take", headers=JSON)

    def take(self, study: str) -> str:
        answer = self.try_to_take(study)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].rpartition("/")[2]

    def open(self, submission: str) -> str:
        answer = self.web.post(f"/submissions/{submission}/open", headers=JSON)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def complete(self, submission: str, code: str = DONE) -> httpx.Response:
        return self.web.post(
            f"/submissions/{submission}/complete", data={"code": code}, headers=JSON
        )

    def give_back(self, submission: str) -> httpx.Response:
        return self.web.post(f"/submissions/{submission}/return", headers=JSON)

    def begin(self, study: str) -> str:
        submission = self.take(study)
        self.open(submission)
        return submission

    def work(self, study: str, code: str = DONE) -> str:
        submission = self.begin(study)
        assert self.complete(submission, code).status_code == 200
        return submission


@dataclass
class StandIn:
    """A stand-in that answers.

    Attributes:
        url: Where.
        app: The stand-in.
        clock: Its clock.
        checked: The calls that were checked against the platform's document.
        faulty: Whether it was told of faults, of which its folder says nothing.
    """

    url: str
    app: Any
    clock: Clock
    transport: Callable[[], httpx.BaseTransport | None] = lambda: None
    checked: list[str] = field(default_factory=list)
    faulty: bool = False

    def __post_init__(self) -> None:
        hooks = {"response": [self._check]} if document.FILE.exists() else {}
        self.api = self._client(headers={"Authorization": "Token any"}, event_hooks=hooks)
        self.web = self._client()

    def _client(self, **options: Any) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, transport=self.transport(), trust_env=False, timeout=PATIENCE_S,
            verify=False,  # everything is http; certificates would be read for each client
            **options,
        )  # fmt: skip

    def _check(self, response: httpx.Response) -> None:
        response.read()
        document.check(response)
        self.checked.append(f"{response.request.method} {response.request.url.path}")

    def call(self, method: str, path: str, json: object = None, **options: Any) -> Any:
        """Return the answer of a call that succeeds."""
        answer = self.api.request(method, f"/api/v1{path}", json=json, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def refused(self, method: str, path: str, json: object = None) -> str:
        """Return status and words of a call that is refused."""
        answer = self.api.request(method, f"/api/v1{path}", json=json)
        assert not answer.is_success
        body = answer.json()
        return f"{answer.status_code} {body.get('error', body)['detail']}"

    def control(self, address: str, **body: object) -> dict[str, Any]:
        answer = self.web.post(f"/control/{address}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def faults(self, *faults: dict[str, object]) -> None:
        self.faulty = True
        self.control("faults", faults=list(faults))

    def payments(self) -> list[tuple[str, str, int]]:
        """Return what was paid: kind, submission, minor units."""
        payments = self.web.get("/control/payments").json()["payments"]
        return [(each["kind"], each["submission"], each["amount_minor"]) for each in payments]

    def study(self, **changes: object) -> str:
        """Return a published study."""
        study = self.call("POST", "/studies/", draft(**changes))["id"]
        self.move(study, "PUBLISH")
        return study

    def move(self, study: str, action: str) -> dict[str, Any]:
        return self.call("POST", f"/studies/{study}/transition/", {"action": action})

    def status(self, study: str) -> str:
        return self.call("GET", f"/studies/{study}/")["status"]

    def submission(self, ref: str) -> dict[str, Any]:
        return self.call("GET", f"/submissions/{ref}/")

    def decide(self, ref: str, action: str, **more: object) -> dict[str, Any]:
        return self.call("POST", f"/submissions/{ref}/transition/", {"action": action, **more})

    def person(self, **profile: str) -> Person:
        web = self._client()
        ref = new_id()
        answer = web.post("/signin", data={"participant_id": ref, **profile})
        assert answer.status_code == 303, answer.text
        return Person(ref, web)
