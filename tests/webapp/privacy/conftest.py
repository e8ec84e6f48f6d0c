"""Rows of people, work and money, put into a database by hand."""

import pytest
from sqlalchemy import func, select

from experiment.studies.load import load_study
from webapp.database.models import (
    Answer,
    Assignment,
    Hit,
    Link,
    LinkVisit,
    Note,
    OutgoingReport,
    Participant,
    Payment,
    Run,
)
from webapp.privacy.retention import erase_identities


@pytest.fixture
def book(run, sessions, clock):
    """The run and another one, into which rows are put by hand; nothing is committed."""
    with sessions() as session:
        run = session.get_one(Run, run.id)
        columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
        other = Run(ref="other", **{name: getattr(run, name) for name in columns})
        session.add(other)
        session.flush()
        yield Book(session, (run, other), clock())


class Book:
    """Adds rows; the study's question for the native language identifies people."""

    def __init__(self, session, runs, now):
        self.session, self.now = session, now
        found = load_study("minimal")
        asks = found.privacy.model_copy(update={"identifying_questions": ("native_language",)})
        self.study = found.model_copy(update={"privacy": asks})
        self.run, self.other = runs
        self.n = 0

    def add(self, row):
        self.session.add(row)
        self.session.flush()
        return row

    def person(self, run=None, **fields):
        self.n += 1
        row = Participant(
            run_id=(run or self.run).id, ref=f"ref{self.n}", code=f"code{self.n}",
            state="finished", arrived_at=self.now, **fields,
        )  # fmt: skip
        return self.add(row)

    def work(self, worker, person=None, status="approved", run=None, hit=None):
        self.n += 1
        return self.add(
            Assignment(
                run_id=(run or self.run).id,
                hit_id=hit,
                platform_id=f"WORK{self.n}",
                participant_id=person and person.id,
                worker_id=worker,
                status=status,
                submit_to="",
                receipt="",
                accepted_at=self.now,
            )
        )

    def pay(self, worker, work=None, person=None, run=None, kind="reward", state="done"):
        self.n += 1
        return self.add(
            Payment(
                run_id=(run or self.run).id,
                participant_id=person and person.id,
                worker_id=worker,
                assignment=work and work.platform_id,
                kind=kind,
                amount_minor=20,
                reason="Thanks.",
                token=f"token{self.n}",
                state=state,
                made_at=self.now,
                answer="",
            )
        )

    def offer(self, token="a", purpose="recruitment"):
        hit = Hit(run_id=self.run.id, token=token * 64, purpose=purpose, places=1)
        return self.add(hit).id

    def link(self, kind):
        self.n += 1
        return self.add(
            Link(
                run_id=self.run.id,
                token=f"link{self.n}",
                kind=kind,
                list=None,
                label=f"label {self.n}",
                made_at=self.now,
            )
        )

    def visit(self, person, run=None, worker="VISITOR"):
        row = LinkVisit(
            run_id=(run or self.run).id, participant_id=person and person.id, problem="",
            parameters={"workerId": worker}, at=self.now,
        )  # fmt: skip
        return self.add(row)

    def note(self, person):
        row = Note(
            run_id=person.run_id, participant_id=person.id, who="ada", at=self.now, text="tall"
        )
        return self.add(row)

    def report(self, person, state):
        row = OutgoingReport(
            run_id=person.run_id, participant_id=person.id, ending="completed", state=state,
            made_at=self.now, answer="about them",
        )  # fmt: skip
        return self.add(row)

    def answer(self, person, field="native_language"):
        return self.add(Answer(participant_id=person.id, field=field, value="Klingon"))

    def erase(self):
        found = erase_identities(self.session, self.run, self.study, self.now)
        return found.people, found.waiting

    def left(self, table):
        return self.session.scalar(select(func.count()).select_from(table))
