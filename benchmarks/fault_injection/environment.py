"""A marketplace, an installation of Parallax, and workers who behave as workers do."""

import re
import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID
from wsgiref.types import WSGIApplication

import httpx
from flask import Flask

from experiment.studies.load import STUDIES_FOLDER
from marketplace.mturk import create_marketplace
from marketplace.mturk.store import EXTENSION as STORE
from marketplace.serving import serve_in_thread
from webapp import create_app
from webapp.services import EXTENSION, Services

# Stand-ins speak plain HTTP: reading the authorities' certificates for each person takes 60 ms.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
LINK = "http://127.0.0.1:1"
Serve = Callable[[WSGIApplication], AbstractContextManager[str]]
_BALANCE = 10_000_000
# One template in two conditions, so that a participant answers two trials.
_DESIGN = """
[design]
lists = 2
participants_per_list = {places}
trials_per_list = 2
separate = ""

[payment]
bonus = "everyone"
bonus_amount = "0.05"

[[design.squares]]
templates = ["simple"]
frames = 2
"""


class Clock:
    """One clock for everybody, that goes when it is told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.time

    def go_on(self, **by: float) -> None:
        """Let so many hours, minutes or seconds pass."""
        self.time += timedelta(**by)


@dataclass
class Environment:
    """Where everything happens."""

    folder: Path
    url: str
    app: Flask
    clock: Clock
    web: httpx.Client

    @property
    def services(self) -> Services:
        """The installation's parts."""
        services: Services = self.app.extensions[EXTENSION]
        return services

    def control(self, address: str, body: dict[str, object]) -> None:
        """Set the marketplace's faults, or another of its controls."""
        self.web.post(f"/control/{address}", json=body).raise_for_status()

    def paid(self) -> dict[str, list[tuple[str, int]]]:
        """Return what each worker was really paid, kind and amount, by the marketplace's books."""
        payments = self.web.get("/control/payments").raise_for_status().json()["payments"]
        paid = dict[str, list[tuple[str, int]]]()
        for payment in payments:
            paid.setdefault(payment["worker_id"], []).append(
                (payment["kind"], payment["amount_cents"])
            )
        return paid


@contextmanager
def open_environment(folder: Path, serve: Serve = serve_in_thread) -> Iterator[Environment]:
    """Yield a new environment, which is closed afterwards.

    Args:
        folder: Where it lies.
        serve: How the marketplace is reached.
    """
    clock = Clock()
    market = create_marketplace(folder / "market", balance_cents=_BALANCE, now=clock)
    with ExitStack() as stack:
        stack.callback(market.extensions[STORE].engine.dispose)
        url = stack.enter_context(serve(market))
        (folder / "instance").mkdir()
        settings = f'mturk_endpoint = "{url}"\n'
        (folder / "instance" / "parallax.toml").write_text(settings, encoding="utf-8")
        app = create_app(folder / "instance", now=clock)
        app.logger.setLevel("ERROR")
        stack.callback(app.extensions[EXTENSION].engine.dispose)
        web = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=30))
        yield Environment(folder, url, app, clock, web)


def small_study(folder: Path, places: int) -> Path:
    """Return the folder of a study with so many places in each of two lists."""
    study = folder / f"of_{places}" / "minimal"
    if not study.exists():
        shutil.copytree(STUDIES_FOLDER / "minimal", study)
        toml = (study / "study.toml").read_text(encoding="utf-8")
        toml = re.sub(r"\[design\].*?(?=\[\[exclusion)", "", toml, flags=re.DOTALL)
        toml = re.sub(r"\[\[exclusion\]\].*?(?=\[\[questionnaire)", "", toml, flags=re.DOTALL)
        # The platform must not pay by itself whom the operator means to reject.
        toml = toml.replace("duration_minutes", "auto_approve_days = 30\nduration_minutes")
        text = f"{toml}\n{_DESIGN.format(places=places)}"
        (study / "study.toml").write_text(text, encoding="utf-8")
    return study


def last_page(app: Flask, home: str) -> str:
    """Answer everything in somebody's session, and return its last page; empty if refused."""
    pages = app.test_client()
    for position in (1, 2):
        body = {
            "uuid": str(UUID(int=position, version=4)),
            "position": position,
            "side": "first",
            "input_method": "key",
        }
        if pages.post(f"{home}answers", json=body).status_code != 200:
            return ""
    pages.post(f"{home}questionnaire", data={"native_language": "x"})
    return pages.get(home).text


def is_finished(page: str) -> bool:
    """Return whether a last page is of somebody who did all the work.

    Whose place was given away meanwhile has worked all the same, and cannot hand it in.
    """
    return 'data-page="closing"' in page or 'data-page="late"' in page


@dataclass
class Worker:
    """Somebody at the marketplace's site and in the study's pages.

    Attributes:
        finished: Whether they answered everything.
        submitted: Whether the marketplace took their work.
    """

    environment: Environment
    run_ref: str
    worker_id: str
    assignment: str = ""
    link: str = ""
    home: str = ""
    finished: bool = False
    submitted: bool = False
    _site: httpx.Client = field(init=False)

    @property
    def key(self) -> str:
        """What the marketplace's books call them."""
        return self.worker_id

    @property
    def payee(self) -> str:
        """What our database calls them."""
        return self.worker_id

    @property
    def work(self) -> str:
        """What the marketplace calls their work."""
        return self.assignment

    def __enter__(self) -> "Worker":
        headers = {"Accept": "application/json"}
        self._site = httpx.Client(
            base_url=self.environment.url, headers=headers, trust_env=False, verify=NO_TLS
        )
        self._site.post("/signin", data={"worker_id": self.worker_id, "country": "US"})
        return self

    def __exit__(self, *_: object) -> None:
        self._site.close()

    def accept(self, address: str = "") -> bool:
        """Take a HIT of the run (or the one whose page has another address), if there is one."""
        wanted = f"/run/{self.run_ref}{address}?"
        for group in self._site.get("/projects").json()["groups"]:
            here = f"/projects/{group['group_id']}/tasks"
            if wanted not in (self._site.get(here).json().get("frame") or {}).get("address", ""):
                continue
            taken = self._site.post(f"{here}/accept")
            if taken.status_code == 303:
                page = self._site.get(taken.headers["location"]).json()
                self.assignment = page["assignment_id"]
                self.link = page["frame"]["address"].removeprefix(LINK)
                return True
        return False

    def give_back(self) -> None:
        """Return the HIT, if its time is not over."""
        self._site.post(f"/assignments/{self.assignment}/return")

    def consent(self) -> bool:
        """Agree to take part, and return whether there was a place."""
        # The browser shows the session that it began, if there is one.
        shown = self.home.strip("/").rpartition("/")[2]
        form = {"decision": "accept", "session": shown}
        answer = self.environment.app.test_client().post(self.link, data=form)
        self.home = answer.location or ""
        return answer.status_code == 303

    def answer(self) -> bool:
        """Answer everything, and return whether there is a form to hand it in."""
        page = last_page(self.environment.app, self.home)
        self.finished = is_finished(page)
        return "data-submit-form" in page

    def submit(self, receipt: str = "") -> bool:
        """Hand the assignment in, and return whether the marketplace took it."""
        form = {"assignmentId": self.assignment, "receipt": receipt or self._receipt()}
        self.submitted = self._site.post("/mturk/externalSubmit", data=form).status_code == 200
        return self.submitted

    def _receipt(self) -> str:
        page = self.environment.app.test_client().get(self.home).text
        found = re.search(r'name="receipt" value="([^"]+)"', page)
        return found[1] if found else "none"
