"""A stand-in of Prolific, an installation of Parallax, and participants who behave as they do."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from fault_injection.environment import (
    NO_TLS,
    Clock,
    Environment,
    Serve,
    is_finished,
    last_page,
)
from marketplace.prolific import create_prolific
from marketplace.prolific.store import EXTENSION as STORE
from marketplace.prolific.store import new_id
from marketplace.serving import serve_in_thread
from webapp import create_app
from webapp.services import EXTENSION

_BALANCE_MINOR = 10**9
# A busy machine is slow, and nothing here is late.
_TIMEOUT_S = 600.0
_EVENT, _API = "submission.status.change", "/api/v1"


class ProlificEnvironment(Environment):
    """An environment whose platform is Prolific's stand-in."""

    def paid(self) -> dict[str, list[tuple[str, int]]]:
        """Return what each participant was really paid, kind and amount, by the books."""
        payments = self.web.get("/control/payments").raise_for_status().json()["payments"]
        paid = dict[str, list[tuple[str, int]]]()
        for payment in payments:
            entry = (payment["kind"], payment["amount_minor"])
            paid.setdefault(payment["participant"], []).append(entry)
        return paid

    def bonuses_of(self, submission: str) -> list[int]:
        """Return a submission's bonuses as a person reads them on the platform's own pages."""
        payments = self.web.get("/control/payments").raise_for_status().json()["payments"]
        return [
            each["amount_minor"]
            for each in payments
            if each["kind"] == "bonus" and each["submission"] == submission
        ]

    def deliver_webhooks(self) -> None:
        """Let the platform tell what it has to tell."""
        self.control("webhooks", {})


@contextmanager
def open_prolific_environment(
    folder: Path, serve: Serve = serve_in_thread
) -> Iterator[ProlificEnvironment]:
    """Yield a new environment, which is closed afterwards.

    Args:
        folder: Where it lies.
        serve: How the stand-in and the installation reach each other.
    """
    clock = Clock()
    market = create_prolific(
        folder / "prolific", currency="USD", balance_minor=_BALANCE_MINOR, now=clock,
        webhooks_by_themselves=False,
    )  # fmt: skip
    with ExitStack() as stack:
        stack.callback(market.extensions[STORE].engine.dispose)
        url = stack.enter_context(serve(market))
        web = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=_TIMEOUT_S))
        secret = _new_secret(web)
        (folder / "instance").mkdir()
        settings = f'prolific_endpoint = "{url}"\nprolific_hook_secret = "{secret}"\n'
        (folder / "instance" / "parallax.toml").write_text(settings, encoding="utf-8")
        app = create_app(folder / "instance", now=clock)
        app.logger.setLevel("CRITICAL")
        stack.callback(app.extensions[EXTENSION].engine.dispose)
        _subscribe(web, stack.enter_context(serve(app)))
        yield ProlificEnvironment(folder, url, app, clock, web)


def _new_secret(web: httpx.Client) -> str:
    made = _call(web, "/hooks/secrets/", {"workspace_id": "any"})
    return str(made.json()["value"])


def _subscribe(web: httpx.Client, here: str) -> None:
    workspace = web.get("/control/workspace").json()["workspace"]
    asked = {"event_type": _EVENT, "target_url": f"{here}/hooks/prolific",
             "workspace_id": workspace}  # fmt: skip
    made = _call(web, "/hooks/subscriptions/", asked)
    confirmed = {"secret": made.headers["X-Hook-Secret"]}
    _call(web, f"/hooks/subscriptions/{made.json()['id']}/", confirmed)


def _call(web: httpx.Client, path: str, body: dict[str, str]) -> httpx.Response:
    headers = {"Authorization": "Token any"}
    return web.post(f"{_API}{path}", json=body, headers=headers).raise_for_status()


@dataclass
class Participant:
    """Somebody at the platform's site and in the study's pages.

    Attributes:
        finished: Whether they answered everything.
    """

    environment: ProlificEnvironment
    run_ref: str
    ref: str = field(default_factory=new_id)
    submission: str = ""
    link: str = ""
    home: str = ""
    finished: bool = False
    _site: httpx.Client = field(init=False)

    @property
    def key(self) -> str:
        """What the platform's books call their work."""
        return self.submission

    @property
    def payee(self) -> str:
        """What our database calls them."""
        return self.ref

    @property
    def work(self) -> str:
        """What the platform calls their work."""
        return self.submission

    def __enter__(self) -> "Participant":
        headers = {"Accept": "application/json"}
        self._site = httpx.Client(
            base_url=self.environment.url,
            headers=headers,
            trust_env=False,
            timeout=_TIMEOUT_S,
            verify=NO_TLS,
        )
        self._site.post("/signin", data={"participant_id": self.ref})
        return self

    def __exit__(self, *_: object) -> None:
        self._site.close()

    def take(self, study: str) -> bool:
        """Take a place of the study and open it, if there is one."""
        taken = self._site.post(f"/studies/{study}/take")
        if taken.status_code != 303:
            return False
        self.submission = taken.headers["location"].rpartition("/")[2]
        opened = self._site.post(f"/submissions/{self.submission}/open")
        parts = urlsplit(opened.headers["location"])
        self.link = f"{parts.path}?{parts.query}"
        return True

    def give_back(self) -> None:
        """Return the submission, if that is still possible."""
        self._site.post(f"/submissions/{self.submission}/return")

    def enter(self, code: str) -> None:
        """Enter a completion code of one's own invention."""
        self._site.post(f"/submissions/{self.submission}/complete", data={"code": code})

    def consent(self, at: str = "http://localhost") -> bool:
        """Agree to take part, and return whether there was a place.

        A signature of the link counts only at the address that the platform knows.
        """
        agreed = {"decision": "accept"}
        answer = self.environment.app.test_client().post(self.link, data=agreed, base_url=at)
        self.home = answer.location or ""
        return answer.status_code == 303

    def answer(self) -> None:
        """Answer everything."""
        page = last_page(self.environment.app, self.home)
        self.finished = self.finished or is_finished(page)
