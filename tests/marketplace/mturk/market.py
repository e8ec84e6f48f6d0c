"""A running marketplace, as requesters, workers and operators meet it."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from marketplace.mturk.store import Store
from tests.patience import PATIENCE_S

JSON = {"Accept": "application/json"}
SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14"
    "/ExternalQuestion.xsd"
)
DAY_S = 24 * 60 * 60


def question(url: str = "https://study.example/run", height: object = 0) -> str:
    address = url.replace("&", "&amp;")
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{address}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


@dataclass
class Person:
    """A worker at the site, without a browser."""

    worker_id: str
    client: httpx.Client

    def facts(self, path: str) -> dict[str, Any]:
        response = self.client.get(path, headers=JSON)
        assert response.status_code == 200, response.text
        return response.json()

    def groups(self) -> list[dict[str, Any]]:
        return self.facts("/projects")["groups"]

    def try_to_accept(self, group_id: str) -> httpx.Response:
        return self.client.post(f"/projects/{group_id}/tasks/accept", headers=JSON)

    def accept(self, hit: dict[str, Any]) -> str:
        response = self.try_to_accept(hit["HITGroupId"])
        assert response.status_code == 303, response.text
        return response.headers["location"].rpartition("/")[2]

    def give_back(self, assignment_id: str) -> httpx.Response:
        return self.client.post(f"/assignments/{assignment_id}/return", headers=JSON)

    def submit(self, assignment_id: str, **fields: str) -> httpx.Response:
        form = {"assignmentId": assignment_id, **(fields or {"receipt": "r"})}
        return self.client.post("/mturk/externalSubmit", data=form, headers=JSON)

    def work(self, hit: dict[str, Any], **fields: str) -> str:
        assignment_id = self.accept(hit)
        assert self.submit(assignment_id, **fields).status_code == 200
        return assignment_id


@dataclass
class Market:
    """A marketplace that answers.

    Attributes:
        url: Where.
        boto3: Gives boto3's client of a service.
        store: Its state.
    """

    url: str
    boto3: Callable[[str], Any]
    store: Store
    _open: ExitStack = field(default_factory=ExitStack)

    @property
    def mturk(self) -> Any:
        return self.boto3("mturk")

    @property
    def queue(self) -> Any:
        return self.boto3("sqs")

    def client(self) -> httpx.Client:
        return self._open.enter_context(
            httpx.Client(base_url=self.url, trust_env=False, timeout=PATIENCE_S)
        )

    def worker(self, worker_id: str = "A1WORKER", **profile: object) -> Person:
        person = Person(worker_id, self.client())
        response = person.client.post("/signin", data={"worker_id": worker_id, **profile})
        assert response.status_code == 303, response.text
        return person

    def control(self, path: str, **given: object) -> dict[str, Any]:
        response = self.client().post(f"/control/{path}", json=given)
        assert response.status_code == 200, response.text
        return response.json()

    def go_on(self, seconds: float) -> None:
        self.control("clock", advance_s=seconds)

    def fail(self, *faults: dict[str, object], seed: int = 1) -> None:
        self.control("faults", seed=seed, faults=list(faults))

    def type(self, **changes: object) -> str:
        facts = {
            "Title": "Which sentence is better?",
            "Description": "Choose one of two sentences.",
            "Reward": "0.50",
            "AssignmentDurationInSeconds": 600,
            **changes,
        }
        return self.mturk.create_hit_type(**facts)["HITTypeId"]

    def hit(self, places: int = 1, **changes: object) -> dict[str, Any]:
        of_hit = {
            "MaxAssignments": places,
            "LifetimeInSeconds": 7 * DAY_S,
            "Question": question(),
        }
        for name in (*of_hit, "RequesterAnnotation", "UniqueRequestToken"):
            if name in changes:
                of_hit[name] = changes.pop(name)
        of_hit["HITTypeId"] = changes.pop("HITTypeId", None) or self.type(**changes)
        return self.mturk.create_hit_with_hit_type(**of_hit)["HIT"]

    def now(self, hit: dict[str, Any]) -> dict[str, Any]:
        return self.mturk.get_hit(HITId=hit["HITId"])["HIT"]

    def balance(self) -> tuple[str, str]:
        balance = self.mturk.get_account_balance()
        return balance["AvailableBalance"], balance["OnHoldBalance"]

    def close(self) -> None:
        self._open.close()
        self.store.engine.dispose()


def refusal(call: Any, **request: object) -> tuple[str, str]:
    """Return the code and the message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    answer = caught.value.response
    code = answer.get("TurkErrorCode", answer["Error"]["Code"])
    return code.removeprefix("AWS.MechanicalTurk."), answer["Error"]["Message"]
