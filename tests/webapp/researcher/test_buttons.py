"""No button is refused in the very state in which a page shows it.

Every form of every page that somebody can reach is sent as the page shows it.
"""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import select

import parallax
from experiment.studies.study import Study
from tests.webapp.conftest import Clock, start_run
from tests.webapp.payments.conftest import hit, platform  # noqa: F401 - fixtures
from tests.webapp.payments.platform_double import PlatformDouble, WritingDouble
from tests.webapp.researcher.conftest import Researcher
from tests.webapp.researcher.pressing import Walk
from webapp.core.subprocesses import CommandResult
from webapp.database.engine import Sessions
from webapp.database.models import Assignment, Hit, Participant, Recruitment, Run, StudyFile
from webapp.gate.gate import store_ledger_state
from webapp.gate.paying_copy import FILE
from webapp.recruiters import registry
from webapp.recruiters.base import Recruiter
from webapp.researcher import launch, runs, studies
from webapp.runs.blinding import unblind_run
from webapp.runs.runs import STATIC_FILE, StaticMark
from webapp.users.members import set_member
from webapp.users.projects import add_project
from webapp.users.roles import ProjectRole, Role
from webapp.users.users import find_user

pytestmark = pytest.mark.one_database
REFUSED = (403, 409, 500, 503)
TWO = "\n[oversight]\nsecond_person = ['payments', 'publishing', 'unblinding']\n"
COMPARING = (
    '\n[[exclusion]]\nrule = "outlier"\nmeasure = "log_rt"\nconstruction = "simple_agreement"\n'
)


@dataclass
class Lab:
    """A run, what can happen to it, and an owner who looks at it."""

    app: Flask
    sessions: Sessions
    study: Study
    run: Run
    instance: Path
    clock: Clock
    platform: PlatformDouble
    owner: Researcher
    start: Callable[[Run], Any]

    def change(self, **values: object) -> None:
        with self.sessions.begin() as session:
            run = session.get_one(Run, self.run.id)
            for name, value in values.items():
                setattr(run, name, value)

    def add_to_study(self, more: str) -> None:
        with self.sessions.begin() as session:
            of_run = StudyFile.run_id == self.run.id, StudyFile.name == "study.toml"
            session.scalars(select(StudyFile).where(*of_run)).one().content += more.encode()
        self.app.extensions["parallax"]._studies.clear()

    def finish(self) -> None:
        visitor = self.start(self.run)
        visitor.answer_all()
        visitor.questionnaire(native_language="Latin")

    def close(self) -> None:
        self.change(closed_at=self.clock())

    def unblind(self) -> None:
        with self.sessions.begin() as session:
            run, reason = session.get_one(Run, self.run.id), "to see every button"
            unblind_run(session, run, by="a test", reason=reason, now=self.clock())

    def publish(self) -> None:
        """Publish it; one person handed in, and another is at work."""
        self.finish()
        self.start(self.run)
        self.change(recruiter="double")
        with self.sessions.begin() as session:
            offer, person = session.scalars(select(Hit)).one(), session.get_one(Participant, 1)
            person.platform_id, at = "WORKER1", self.clock()
            session.add_all(
                [
                    Recruitment(
                        run_id=self.run.id, endpoint=self.platform.endpoint, published_at=at
                    ),
                    Assignment(
                        run_id=self.run.id, hit_id=offer.id, platform_id="ASSIGNMENT1",
                        status="submitted", participant_id=person.id, worker_id="WORKER1",
                        submit_to="", receipt="", accepted_at=at, submitted_at=at,
                    ),
                ]
            )  # fmt: skip
            session.flush()
            store_ledger_state(session.connection())
        self.platform.add("ASSIGNMENT1", "WORKER1", receipt="")

    def pay(self) -> None:
        at = f"/runs/{self.run.ref}/money"
        asked = self.owner.post(f"{at}/check", act="approve")
        named = dict(re.findall(r'name="(\w+)" value="([^"]*)"', asked.text))
        assert self.owner.post(f"{at}/pay", **named).status_code == 303

    def lose_right_to_pay(self) -> None:
        (self.instance / FILE).write_text("{}", encoding="utf-8")

    def put_into_project(self, member: ProjectRole | None = None, **limits: object) -> None:
        by, now = "a test", self.clock()
        with self.sessions.begin() as session:
            project = add_project(session, "lab", by=by, now=now)
            for name, value in limits.items():
                setattr(project, name, value)
            session.get_one(Run, self.run.id).project_id = project.id
            if member is not None:
                set_member(session, project, find_user(session, "member"), member, by=by, now=now)

    def names_to_type(self) -> dict[str, str]:
        """Return what to type where a page asks for a member, or for somebody who handed in."""
        with self.sessions() as session:
            query = select(Participant.ref).join(
                Assignment, Assignment.participant_id == Participant.id
            )
            ref = session.scalar(query)
        return {"members name": "owner"} | ({"check who": ref} if ref else {})


def be_open(_: Lab) -> None:
    """Nobody came."""


def have_people(lab: Lab) -> None:
    lab.finish()
    lab.start(lab.run)


def be_unblinded(lab: Lab) -> None:
    lab.finish()
    lab.unblind()


def be_archived(lab: Lab) -> None:
    lab.finish()
    lab.change(closed_at=lab.clock(), archived_at=lab.clock())


def compare_people(lab: Lab) -> None:
    lab.finish()
    lab.add_to_study(COMPARING)


def need_two_people(lab: Lab) -> None:
    lab.add_to_study(TWO)
    lab.publish()


def have_asked_already(lab: Lab) -> None:
    lab.add_to_study(TWO)
    at = f"/runs/{lab.run.ref}/unblind"
    assert lab.owner.post(at, reason="all have finished").status_code == 202


def have_many_jobs(lab: Lab) -> None:
    lab.unblind()
    lab.change(simulated=True)
    for _ in range(3):
        assert lab.owner.post(f"/runs/{lab.run.ref}/reports").status_code == 303


def be_unpublished(lab: Lab) -> None:
    lab.change(recruiter="double")


def be_unpublished_on_a_platform_for_people(lab: Lab) -> None:
    """Whose frames show no page without a certificate."""
    lab.platform.endpoint = "live"
    lab.change(recruiter="double")


def be_unpublished_in_a_copy(lab: Lab) -> None:
    lab.change(recruiter="double")
    lab.lose_right_to_pay()


def owe(lab: Lab) -> None:
    lab.publish()


def owe_real_money(lab: Lab) -> None:
    lab.platform.endpoint = "live"
    lab.publish()


def owe_and_be_closed(lab: Lab) -> None:
    lab.publish()
    lab.close()


def owe_in_a_copy(lab: Lab) -> None:
    lab.publish()
    lab.lose_right_to_pay()


def have_paid(lab: Lab) -> None:
    lab.publish()
    lab.pay()


def be_in_a_full_project(lab: Lab) -> None:
    lab.put_into_project(most_runs=1)
    lab.close()
    other = start_run(lab.sessions, lab.study)
    with lab.sessions.begin() as session:
        project_id = session.get_one(Run, lab.run.id).project_id
        session.get_one(Run, other.id).project_id = project_id


def be_in_a_project_that_ended(lab: Lab) -> None:
    lab.put_into_project(ended_at=lab.clock())
    lab.close()


def need_no_server(lab: Lab) -> None:
    mark = StaticMark("folder", 3, "counter", "a text").as_file()
    with lab.sessions.begin() as session:
        session.add(StudyFile(run_id=lab.run.id, name=STATIC_FILE, content=mark))


def keep_data_unused(lab: Lab) -> None:
    lab.finish()
    with lab.sessions.begin() as session:
        session.get_one(Participant, 1).restricted_at = lab.clock()


STATES = (
    be_open, have_people, be_unblinded, be_archived, compare_people, need_two_people,
    have_asked_already, have_many_jobs, be_unpublished, be_unpublished_on_a_platform_for_people,
    be_unpublished_in_a_copy, owe, owe_real_money, owe_and_be_closed, owe_in_a_copy, have_paid,
    be_in_a_full_project, be_in_a_project_that_ended, need_no_server, keep_data_unused,
)  # fmt: skip


@pytest.fixture
def lab(run, sessions, study, clock, researcher, instance, start, hit, platform, app, monkeypatch):  # noqa: F811
    """A lab whose platform is in memory; what is done there is forgotten with the next request."""

    class DoubleRecruiter(Recruiter):
        name = "double"
        endpoint = property(lambda _: platform.endpoint)

        def open_platform(self, *, live: bool) -> PlatformDouble:
            assert live == (platform.endpoint == "live")
            return WritingDouble(
                **{f.name: copy(getattr(platform, f.name)) for f in fields(platform)}
            )

    recruiter, load = DoubleRecruiter(None), registry.load_recruiter
    app.extensions["parallax"]._recruiters["double"] = recruiter
    monkeypatch.setattr(
        registry,
        "load_recruiter",
        lambda *asked: recruiter if asked[0] == "double" else load(*asked),
    )
    platform.endpoint = "http://127.0.0.1:1"

    def run_here(folder: Path, *arguments: str, limit_s: float | None = None) -> CommandResult:
        done = CliRunner(env={"PARALLAX_INSTANCE": str(folder)}).invoke(parallax.cli, arguments)
        return CommandResult(done.exit_code == 0, done.output)

    for module in (launch, runs, studies):
        monkeypatch.setattr(module, "run_parallax", run_here)
    return Lab(app, sessions, study, run, instance, clock, platform, researcher(Role.OWNER), start)


def press_everything(
    lab: Lab, who: Researcher, first: str = "", within: str = ""
) -> tuple[int, list[object]]:
    """Return the number of buttons, on the pages of the run or others, and the refused ones."""
    run_page = f"/researcher/runs/{lab.run.ref}"
    walk = Walk(who.client, lab.instance, within or run_page, lab.names_to_type())
    walk.go(first or run_page)
    return len(walk.pressed), [
        (act, walk.pressed[act], walk.texts[act])
        for act in walk.texts
        if walk.pressed[act] in REFUSED
    ]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_button_of_a_run_is_refused_in_the_state_in_which_it_is_shown(lab, state):
    state(lab)
    pressed, refused = press_everything(lab, lab.owner)
    assert refused == []
    assert pressed > 2


# Those who lack a right to act; the others see what an owner sees.
@pytest.mark.parametrize(
    "role",
    [
        Role.VIEWER,
        ProjectRole.READER,
        ProjectRole.ANALYST,
        ProjectRole.FINANCE,
        ProjectRole.EXPERIMENTER,
    ],
)
def test_nobody_is_shown_a_button_that_their_role_forbids(lab, researcher, role):
    lab.publish()
    lab.unblind()
    who = researcher(role if isinstance(role, Role) else Role.MEMBER)
    if isinstance(role, ProjectRole):
        lab.put_into_project(member=role)
    assert press_everything(lab, who)[1] == []


def test_no_button_beside_the_runs_is_refused(lab, instance):
    """Neither of studies, projects and accounts, nor of one's own account."""
    lab.put_into_project()
    copied = lab.owner.post("/studies/copy", study="minimal", name="agreement")
    assert copied.status_code == 303
    pressed, refused = press_everything(
        lab, lab.owner, "/researcher/studies", "/researcher/(?!runs/)"
    )
    assert refused == []
    assert pressed > 2


def test_a_disabled_button_says_why_and_what_it_does_is_refused_for_the_same_reason(lab):
    """In a second tab, which still shows the button."""
    compare_people(lab)
    at, reason = f"/runs/{lab.run.ref}", "compares all participants, but the run"
    page = lab.owner.get(at).text
    assert "disabled>Apply the exclusion rules</button>" in page
    assert reason in page
    refused = lab.owner.post(f"{at}/exclude")
    assert refused.status_code == 409
    assert reason in refused.text
    lab.close()
    assert "<button>Apply the exclusion rules</button>" in lab.owner.get(at).text
