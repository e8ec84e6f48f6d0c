"""What identifies people is erased when the study says, and the books and the data stay."""

import pytest
from sqlalchemy import select

from experiment.errors import StudyError
from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from tests.webapp.payments.conftest import hit, pay_rewards, platform, worked  # noqa: F401
from tests.webapp.researcher.conftest import (  # noqa: F401
    browser,
    password_hash,
    researcher,
)
from webapp.commands.doctor import CHECKS
from webapp.commands.doctor.findings import Installation, Level
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import (
    Answer,
    AuditEntry,
    Base,
    LinkVisit,
    Participant,
    Payment,
    Recruitment,
    Run,
    StudyFile,
)
from webapp.jobs.housekeeping import erase_due_identities
from webapp.payments.reconciliation.reconcile import find_discrepancies
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.recruitment.poll import poll_run
from webapp.runs.runs import close_run, open_run
from webapp.users.roles import Role

PROMISE = b'\n[privacy]\nkeep_identifying_days = 30\nidentifying_questions = ["native_language"]\n'


@pytest.fixture
def erase(app):
    return lambda: erase_due_identities(app.extensions["parallax"])


@pytest.fixture
def stored(sessions):
    def read() -> str:
        with reading(sessions) as session:
            tables = [t for t in Base.metadata.sorted_tables if t.name != "study_file"]
            return "\n".join(str(tuple(row)) for t in tables for row in session.execute(select(t)))

    return read


@pytest.fixture
def promised(run, sessions, worked, start, clock):  # noqa: F811
    """A run whose study says 30 days: two worked for a platform, one came by a link and wrote."""
    with sessions.begin() as session:
        toml = session.scalars(select(StudyFile).where(StudyFile.name == "study.toml")).one()
        toml.content += PROMISE
        session.add(
            Recruitment(
                run_id=run.id, endpoint="double", qualification_id=None, published_at=clock()
            )
        )
    for number in (1, 2):
        worked(number, receipt=f"receipt of AWORKER{number}")
    visitor = start(run)
    visitor.answer_all()
    visitor.questionnaire(native_language="their own tongue")
    with sessions.begin() as session:
        person = session.scalars(select(Participant).where(Participant.ref == "ref1")).one()
        for who in (person.id, None):
            session.add(
                LinkVisit(
                    run_id=run.id, participant_id=who, problem="", at=clock(),
                    parameters={"workerId": "AWORKER1"},
                )
            )  # fmt: skip
    return run


def close(sessions, clock) -> None:
    with sessions.begin() as session:
        close_run(session, session.get_one(Run, 1), clock())


def test_nothing_is_erased_before_the_day_and_everything_that_identifies_on_it(
    promised,
    pay_rewards,  # noqa: F811
    platform,  # noqa: F811
    sessions,
    clock,
    erase,
    stored,
):
    pay_rewards()
    clock.go_on(days=60)
    assert erase() == 0  # the run is open
    close(sessions, clock)
    clock.go_on(days=29, hours=23)
    assert erase() == 0
    assert "AWORKER1" in stored() and "their own tongue" in stored()
    clock.go_on(hours=1)
    assert erase() == 3
    for each in ("AWORKER", "ASSIGNMENT", "receipt of", "their own tongue", "workerId"):
        assert each not in stored()
    with reading(sessions) as session:
        lines = session.scalars(select(Payment)).all()
        assert [(line.amount_minor, line.state) for line in lines] == [(20, "done")] * 2
        entry = session.scalars(select(AuditEntry)).one()
        assert (entry.act, entry.who, entry.run_ref) == (
            "identifying data erased", "parallax", promised.ref,
        )  # fmt: skip
        assert entry.after == {"people": "3", "still to be paid": "0"}
        assert session.get_one(Run, 1).identities_erased_at == clock()
    assert erase() == 0
    # The platform goes on telling of them; nothing of it is stored again, and nothing differs.
    poll_run(sessions, platform, promised.ref, clock())
    assert "AWORKER" not in stored()
    snapshot = take_snapshot(sessions, platform, promised, Tokens("k" * 32), clock())
    assert not {each.who for each in find_discrepancies(snapshot)} & {"ref1", "ref2"}


@pytest.mark.one_database
def test_who_is_still_to_be_paid_is_left_until_they_are(
    promised,
    pay_rewards,  # noqa: F811
    sessions,
    clock,
    erase,
    stored,
    app,
    instance,
    researcher,  # noqa: F811
):
    close(sessions, clock)
    clock.go_on(days=31)
    assert erase() == 1
    assert "AWORKER1" in stored() and "their own tongue" not in stored()
    services = app.extensions["parallax"]
    at = Installation(instance, services.settings, services.engine, "", clock)
    [found] = CHECKS["retention"](at)
    assert found.level == Level.WARNING
    assert f"parallax review {promised.ref}" in found.remedy
    assert (
        "due for erasure on 2026-03-31" in researcher(Role.VIEWER).get(f"/runs/{promised.ref}").text
    )
    pay_rewards()
    assert erase() == 2
    assert "AWORKER" not in stored()
    [found] = CHECKS["retention"](at)
    assert found.level == Level.GOOD


@pytest.mark.one_database
def test_answers_stay_in_the_analysis_and_a_run_opened_again_is_erased_again(
    promised,
    pay_rewards,  # noqa: F811
    sessions,
    clock,
    erase,
    start,
):
    # Whoever waits for money would keep the day open, whether or not the run is opened again.
    pay_rewards()
    close(sessions, clock)
    clock.go_on(days=31)
    assert erase() == 3
    assert erase() == 0
    with sessions.begin() as session:
        assert session.scalars(select(Answer)).all() == []
        open_run(session, session.get_one(Run, 1))
    clock.go_on(hours=1)
    visitor = start(promised)
    visitor.answer_all()
    visitor.questionnaire(native_language="another tongue")
    close(sessions, clock)
    clock.go_on(days=29)
    assert erase() == 0
    clock.go_on(days=2)
    assert erase() == 1


@pytest.mark.one_database
def test_a_study_that_says_nothing_keeps_everything(run, sessions, clock, visitor, erase, stored):
    close(sessions, clock)
    clock.go_on(days=3650)
    assert erase() == 0


def test_a_question_that_nobody_is_asked_is_named(tmp_path):
    folder = tmp_path / "minimal"
    write_study_files(load_study("minimal"), folder)
    toml = folder / "study.toml"
    toml.write_bytes(toml.read_bytes() + PROMISE)
    assert load_study(str(folder)).privacy.identifying_questions == ("native_language",)
    toml.write_bytes(toml.read_bytes().replace(b'["native_language"]', b'["comments"]'))
    with pytest.raises(StudyError, match='names "comments", but there is no such question'):
        load_study(str(folder))
