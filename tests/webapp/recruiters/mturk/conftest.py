"""A marketplace on this machine, a run for its workers, and the workers."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

import parallax
from experiment.studies.load import load_study
from marketplace.mturk import create_marketplace
from tests.marketplace.door import Door, served
from tests.patience import PATIENCE_S
from webapp.core.clock import utc_now
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Participant, Run
from webapp.recruiters.mturk import client as mturk_client
from webapp.recruiters.mturk.client import MturkClient, open_client
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run

LINK = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def mturk_door() -> Iterator[tuple[Door, str]]:
    with served() as door:
        yield door


@pytest.fixture(scope="session")
def new_marketplace(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "marketplace"
    create_marketplace(folder).extensions["marketplace"].engine.dispose()
    return folder


@pytest.fixture
def endpoint(mturk_door: tuple[Door, str], new_marketplace: Path, tmp_path: Path) -> Iterator[str]:
    door, url = mturk_door
    shutil.copytree(new_marketplace, tmp_path / "marketplace")
    door.app = create_marketplace(tmp_path / "marketplace")
    yield url
    door.app.extensions["marketplace"].engine.dispose()


@pytest.fixture
def control(endpoint: str) -> Callable[..., None]:
    """Return a function that changes how the marketplace behaves."""

    def change(what: str, **how: object) -> None:
        answer = httpx.post(
            f"{endpoint}/control/{what}", json=how, trust_env=False, timeout=PATIENCE_S
        )
        assert answer.status_code == 200, answer.text

    return change


@pytest.fixture
def fail_once(control) -> Callable[[str, str], None]:
    """Return a function that lets the next call of an operation go wrong in some way."""
    return lambda kind, operation: control(
        "faults", faults=[{"kind": kind, "operation": operation, "count": 1}]
    )


@pytest.fixture
def instance(instance: Path, endpoint: str) -> Path:
    instance.mkdir(exist_ok=True)
    with (instance / "parallax.toml").open("a") as file:
        file.write(f'mturk_endpoint = "{endpoint}"\n')
    return instance


@pytest.fixture
def clock():
    """The server's clock goes with the marketplace's."""
    return utc_now


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def platform(endpoint: str) -> MturkClient:
    return open_client(endpoint, attempts=1)


@pytest.fixture
def run(sessions: Sessions) -> Run:
    with sessions() as session:
        run = launch_run(
            session, load_study("minimal"), 1, "mturk", now=utc_now(), code_version="0",
        )  # fmt: skip
        session.commit()
    return run


@pytest.fixture
def publish_run(sessions: Sessions, platform: MturkClient, run: Run):
    """Return a function that publishes the run and gives what came of it."""

    def carry_out(now: datetime | None = None) -> list[tuple[str, int]]:
        link = f"{LINK}/run/{run.ref}"
        plan = draft_plan(sessions, platform, run.ref, link, now or utc_now())
        return list(carry_out_plan(sessions, platform, plan, lambda: now or utc_now()))

    return carry_out


class Form(HTMLParser):
    """The form of a page: where it goes, and its hidden fields."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.action, self.fields = "", dict[str, str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "form":
            self.action = named.get("action") or ""
        if tag == "input" and named.get("type") == "hidden":
            self.fields[named["name"] or ""] = named["value"] or ""


@dataclass
class Worker:
    """Somebody at the marketplace's site, and in the study's pages."""

    endpoint: str
    study: FlaskClient
    visit: Callable
    worker_id: str
    site: httpx.Client = field(init=False)
    assignment_id: str = ""
    accepted_at: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        headers = {"Accept": "application/json"}
        self.site = httpx.Client(
            base_url=self.endpoint, headers=headers, trust_env=False, timeout=PATIENCE_S
        )
        signed_in = self.site.post("/signin", data={"worker_id": self.worker_id, "country": "US"})
        assert signed_in.status_code == 303

    def groups(self) -> list[str]:
        return [g["group_id"] for g in self.site.get("/projects").json()["groups"]]

    def preview(self) -> str:
        """Return the address in the preview's frame."""
        return self._frame(self.site.get(f"/projects/{self.groups()[0]}/tasks"))

    def accept(self) -> str:
        """Accept a HIT and return the address in its frame."""
        accepted = self.site.post(f"/projects/{self.groups()[0]}/tasks/accept")
        assert accepted.status_code == 303, accepted.text
        page = self.site.get(accepted.headers["location"])
        self.assignment_id = page.json()["assignment_id"]
        return self._frame(page)

    def _frame(self, page: httpx.Response) -> str:
        parts = urlsplit(page.json()["frame"]["address"])
        self.accepted_at = parts.path
        return f"{parts.path}?{parts.query}"

    def study_link(self, arguments: dict[str, str]) -> str:
        """Return the address in the frame with other arguments."""
        return f"{self.accepted_at}?{urlencode(arguments)}"

    def give_back(self) -> None:
        given = self.site.post(f"/assignments/{self.assignment_id}/return")
        assert given.status_code == 303

    def consent(self, link: str) -> str:
        """Agree, and return the address the worker is sent to."""
        agreed = self.study.post(link, data={"decision": "accept", "session": self.session})
        assert agreed.status_code == 303, agreed.text
        # As a browser keeps it.
        self.session = agreed.location.strip("/").split("/")[-1]
        return agreed.location

    def finish(self, home: str) -> Form:
        """Answer everything and return the closing page's form."""
        visitor = self.visit(home)
        visitor.answer_all()
        assert visitor.questionnaire(native_language="English").status_code == 303
        return Form(visitor.page().text)

    def submit(self, form: Form) -> httpx.Response:
        return self.site.post(form.action, data=form.fields)

    def take_part(self) -> None:
        assert self.submit(self.finish(self.consent(self.accept()))).status_code == 200


@pytest.fixture
def worker(endpoint: str, client: FlaskClient, visit) -> Callable[..., Worker]:
    """Return a function that signs another worker in."""
    numbers = iter(range(1, 100))
    made: list[Worker] = []

    def sign_in(worker_id: str = "") -> Worker:
        made.append(Worker(endpoint, client, visit, worker_id or f"AWORKER{next(numbers)}"))
        return made[-1]

    yield sign_in
    for one in made:
        one.site.close()


@pytest.fixture
def assignments(sessions: Sessions, run: Run) -> Callable[[], list[tuple[str, str]]]:
    """Return a function that gives the run's assignments: worker and status, in order."""

    def stored() -> list[tuple[str, str]]:
        with reading(sessions) as session:
            found = select(Assignment).where(Assignment.run_id == run.id).order_by(Assignment.id)
            return [(a.worker_id, a.status) for a in session.scalars(found)]

    return stored


@pytest.fixture
def participants(sessions: Sessions, run: Run) -> Callable[[], list[tuple[str, str]]]:
    """Return a function that gives the run's participants: worker and state, in order."""

    def stored() -> list[tuple[str, str]]:
        with reading(sessions) as session:
            found = select(Participant).where(Participant.run_id == run.id)
            found = found.order_by(Participant.id)
            return [(p.platform_id or "", p.state) for p in session.scalars(found)]

    return stored


@pytest.fixture
def submit_form_of(app: Flask):
    """Return the signer of receipts."""
    return app.extensions["parallax"].tokens


@pytest.fixture
def shell(instance, run, platform, monkeypatch) -> Callable[..., Result]:
    """Return a function that gives a command of the run, to a client that tries once."""
    monkeypatch.setattr(mturk_client, "open_client", lambda _endpoint: platform)
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def call(command: str, *arguments: str, ask: str = "") -> Result:
        return runner.invoke(parallax.cli, [command, run.ref, *arguments], input=ask)

    return call


@pytest.fixture
def paid(endpoint):
    """Return a function that gives what a worker was really paid: kind and amount."""

    def read(worker_id: str) -> list[tuple[str, int]]:
        payments = httpx.get(
            f"{endpoint}/control/payments", trust_env=False, timeout=PATIENCE_S
        ).json()["payments"]
        return [(p["kind"], p["amount_cents"]) for p in payments if p["worker_id"] == worker_id]

    return read


@pytest.fixture
def ref_of(sessions, run):
    def find(worker_id: str) -> str:
        named = (Participant.run_id == run.id, Participant.platform_id == worker_id)
        with reading(sessions) as session:
            return session.scalars(select(Participant.ref).where(*named)).one()

    return find


@pytest.fixture
def problems(shell):
    """Return a function that gives what reconciling finds: problem and whether it is safe."""

    def find(*arguments: str) -> list[tuple[str, bool]]:
        result = shell("reconcile", "--json", *arguments)
        assert isinstance(result.exception, SystemExit | None), result.exception
        found = json.loads(result.output)
        return [(finding["problem"], finding["safe"]) for finding in found]

    return find


@pytest.fixture
def bonus_file(tmp_path, ref_of):
    """Return a function that writes a file of one bonus."""

    def write(worker_id: str, amount: str, reason: str) -> str:
        path = tmp_path / "bonuses.csv"
        row = f"{ref_of(worker_id)},{amount},{reason}"
        path.write_text(f"participant,amount,reason\n{row}\n", encoding="utf-8")
        return str(path)

    return write


def compensations(worker) -> list[str]:
    groups = worker.site.get("/projects").json()["groups"]
    return [group["group_id"] for group in groups if group["title"].startswith("Compensation")]


def accept_compensation(worker) -> str:
    [group] = compensations(worker)
    accepted = worker.site.post(f"/projects/{group}/tasks/accept")
    frame = worker.site.get(accepted.headers["location"]).json()["frame"]
    parts = urlsplit(frame["address"])
    return f"{parts.path}?{parts.query}"
