"""A stand-in of Prolific on this machine, a run for its people, and the people."""

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import parallax
from experiment.studies.files import study_files
from experiment.studies.load import STUDIES_FOLDER, load_study
from marketplace.prolific import create_prolific
from tests.marketplace.door import Door, served
from tests.marketplace.prolific.stand_in import Person, StandIn
from tests.webapp.done_once import DoneOnce
from webapp.database.engine import Sessions, reading
from webapp.database.models import OutgoingReport, Participant, Payment, Run
from webapp.jobs.platforms import send_reports
from webapp.recruiters.prolific import opening
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run

LINK = "http://127.0.0.1:8000"
_DESIGN = """
[design]
lists = 2
participants_per_list = 1
trials_per_list = 2
separate = ""

[[design.squares]]
templates = ["simple"]
frames = 2
"""
SCREENING = """
[[screening]]
name = "reads_english"
label = "Do you read English fluently?"
type = "choice"
options = ["Yes", "No"]
accept = ["Yes"]
"""


@pytest.fixture(scope="session")
def prolific_door() -> Iterator[tuple[Door, str]]:
    with served() as door:
        yield door


@pytest.fixture(scope="session")
def new_prolific(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "prolific"
    create_prolific(folder, currency="USD").extensions["prolific"].engine.dispose()
    return folder


@pytest.fixture
def stand_in(prolific_door, new_prolific: Path, tmp_path: Path, clock) -> Iterator[StandIn]:
    """The stand-in, whose clock is the installation's."""
    door, url = prolific_door
    shutil.copytree(new_prolific, tmp_path / "prolific")
    door.app = app = create_prolific(tmp_path / "prolific", now=clock, webhooks_by_themselves=False)
    # The installation's calls go by its address; people and controls are spared the sockets.
    yield StandIn(url, app, clock, lambda: httpx.WSGITransport(app=app))
    app.extensions["prolific"].engine.dispose()


@pytest.fixture
def more_settings() -> str:
    """More lines of the installation's settings; a test may have its own."""
    return ""


@pytest.fixture
def instance(instance: Path, stand_in: StandIn, more_settings: str) -> Path:
    instance.mkdir(exist_ok=True)
    with (instance / "parallax.toml").open("a") as file:
        file.write(f'prolific_endpoint = "{stand_in.url}"\npublic_url = "{LINK}"\n{more_settings}')
    return instance


@pytest.fixture
def settings(stand_in: StandIn, more_settings: str) -> ProlificSettings:
    signed = tomllib.loads(more_settings).get("prolific_signed_arrivals")
    return ProlificSettings(endpoint=stand_in.url, signed_arrivals=signed)


@pytest.fixture
def platform(settings: ProlificSettings, clock) -> ProlificClient:
    """The platform, by a client that makes each call once."""
    return opening.open_prolific(settings, live=False, attempts=1, now=clock)


@pytest.fixture
def more() -> str:
    """More tables of the study; a test may have its own."""
    return ""


@pytest.fixture
def study_folder(tmp_path: Path, more: str) -> Path:
    """A study with one place in each of two lists, and two trials for everybody."""
    folder = tmp_path / "study" / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", folder)
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    toml = re.sub(r"\[design\].*?(?=\[\[exclusion)", "", toml, flags=re.DOTALL)
    toml = re.sub(r"\[\[exclusion\]\].*?(?=\[\[questionnaire)", "", toml, flags=re.DOTALL)
    if SCREENING in more:
        toml = toml.replace(
            "[recruitment]\n", '[recruitment]\nscreen_out_reward = "0.15"\nscreen_out_places = 1\n'
        )
    (folder / "study.toml").write_text(f"{toml}\n{_DESIGN}\n{more}", encoding="utf-8")
    return folder


@pytest.fixture
def once(app, instance: Path, stand_in: StandIn, settings: ProlificSettings, clock) -> DoneOnce:
    """What does the first deeds of many tests once."""
    folders = (instance, instance.parent / "prolific")
    return DoneOnce(folders, lambda: None if stand_in.faulty else (settings, clock()))


@pytest.fixture
def run(sessions: Sessions, study_folder: Path, clock, once: DoneOnce) -> Run:
    study = load_study(str(study_folder))

    def launched() -> int:
        with sessions() as session:
            run = launch_run(session, study, 1, "prolific", now=clock(), code_version="0")
            session.commit()
            return run.id

    number = once(("launch", *study_files(study).items()), launched, first=True)
    with sessions() as session:
        return session.get_one(Run, number)


@dataclass
class Lab:
    """A researcher with a run."""

    stand_in: StandIn
    app: Any
    sessions: Sessions
    platform: ProlificClient
    run: Run
    visit: Callable[[str], Any]
    once: DoneOnce

    def publish(self) -> str:
        """Publish the run, and return its study's id there."""
        return self.once(("publish", self.run.ref), self._publish)

    def _publish(self) -> str:
        now = self.app.extensions["parallax"].now
        plan = draft_plan(self.sessions, self.platform, self.run.ref, self.link, now())
        [(study, _)] = list(carry_out_plan(self.sessions, self.platform, plan, now))
        return study

    @property
    def link(self) -> str:
        return f"{LINK}/run/{self.run.ref}"

    def arrive(self, person: Person, study: str) -> tuple[str, str]:
        """Take the study and open it; return the submission and the way to our page."""
        submission = person.take(study)
        parts = urlsplit(person.open(submission))
        return submission, f"{parts.path}?{parts.query}"

    def agree(self, way: str) -> str:
        agreed = self.app.test_client().post(way, data={"decision": "accept"}, base_url=LINK)
        assert agreed.status_code == 303, agreed.text
        return agreed.location

    def finish(self, home: str) -> str:
        """Answer everything, and return the closing page."""
        visitor = self.visit(home)
        visitor.answer_all()
        assert visitor.questionnaire(native_language="English").status_code == 303
        return visitor.page().text

    def work(self, study: str) -> tuple[str, str]:
        """Let somebody do everything; return their submission and the closing page."""
        return self.once(("work", self.run.ref, study), lambda: self._work(study))

    def _work(self, study: str) -> tuple[str, str]:
        submission, way = self.arrive(self.stand_in.person(), study)
        return submission, self.finish(self.agree(way))

    def report(self) -> list[str]:
        """Tell the platform of endings, and return the state of every report."""
        send_reports(self.app.extensions["parallax"])
        with reading(self.sessions) as session:
            return list(session.scalars(select(OutgoingReport.state).order_by(OutgoingReport.id)))

    def poll(self) -> None:
        poll_run(self.sessions, self.platform, self.run.ref, self.app.extensions["parallax"].now())

    def hand_in(self, study: str) -> str:
        """Let somebody do everything until their submission waits for review."""
        return self.once(("hand in", self.run.ref, study), lambda: self._hand_in(study))

    def _hand_in(self, study: str) -> str:
        submission, _ = self.work(study)
        self.report()
        self.poll()
        return submission

    def ref_of(self, submission: str) -> str:
        worker = self.stand_in.submission(submission)["participant"]
        named = Participant.platform_id == worker
        with reading(self.sessions) as session:
            return session.scalars(select(Participant.ref).where(named)).one()

    def ledger(self) -> list[tuple[str, int, str]]:
        with reading(self.sessions) as session:
            found = session.scalars(select(Payment).order_by(Payment.id))
            return [(each.kind, each.amount_minor, each.state) for each in found]


@pytest.fixture
def lab(stand_in, app, sessions, platform, run, visit, once) -> Lab:
    return Lab(stand_in, app, sessions, platform, run, visit, once)


@pytest.fixture
def shell(instance, lab, monkeypatch) -> Callable[..., Result]:
    """Return a function that gives a command of the run, to a client that tries once."""
    monkeypatch.setattr(opening, "open_prolific", lambda *_, **__: lab.platform)
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def call(*command: str, ask: str = "") -> Result:
        return runner.invoke(parallax.cli, [*command], input=ask)

    return call


@pytest.fixture
def problems(shell, lab):
    """Return a function that gives what reconciling finds: problem and whether it is safe."""

    def find(*arguments: str) -> list[tuple[str, bool]]:
        result = shell("reconcile", lab.run.ref, "--json", *arguments)
        assert isinstance(result.exception, SystemExit | None), result.exception
        return [(each["problem"], each["safe"]) for each in json.loads(result.output)]

    return find


@pytest.fixture
def bonus_file(tmp_path, lab):
    """Return a function that writes a file of one bonus."""

    def write(submission: str, amount: str, reason: str = "You were quick.") -> str:
        path = tmp_path / "bonuses.csv"
        row = f"{lab.ref_of(submission)},{amount},{reason}"
        path.write_text(f"participant,amount,reason\n{row}\n", encoding="utf-8")
        return str(path)

    return write
