"""Who is forgotten is found nowhere: in no table, no file, no poll, and in no backup restored."""

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, select

import parallax
from tests.webapp.payments.conftest import (  # noqa: F401 - fixtures
    hit,
    pay_rewards,
    platform,
    worked,
)
from webapp.core.keys import read_keys
from webapp.core.sealing import Sealer
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import (
    Assignment,
    AuditEntry,
    Base,
    Erasure,
    LinkVisit,
    Participant,
    Payment,
    Recruitment,
)
from webapp.database.models.identity import unlock
from webapp.errors import RunError, WebappError
from webapp.payments.reconciliation.reconcile import find_discrepancies
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.privacy.forget import find_person
from webapp.recruitment.poll import poll_run


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return run


@pytest.fixture
def stored(sessions):
    """Return a function that gives everything the database holds, as one text."""

    def read() -> str:
        with reading(sessions) as session:
            tables = Base.metadata.sorted_tables
            return "\n".join(str(tuple(row)) for t in tables for row in session.execute(select(t)))

    return read


@pytest.fixture
def known(run, sessions, worked, platform, clock):  # noqa: F811
    """Two people who worked and are paid; the links said who they are."""
    with sessions.begin() as session:
        session.add(
            Recruitment(
                run_id=run.id, endpoint="double", qualification_id=None, published_at=clock()
            )
        )
    for number in (1, 2):
        worked(number, receipt=f"receipt of AWORKER{number}")
    with sessions.begin() as session:
        for person in session.scalars(select(Participant)).all():
            said = {"workerId": person.platform_id}
            session.add(
                LinkVisit(
                    run_id=run.id, participant_id=person.id, problem="", parameters=said,
                    at=clock(),
                )
            )  # fmt: skip
    return run


def test_a_person_is_forgotten_everywhere_and_the_books_still_agree(
    known,
    pay_rewards,  # noqa: F811
    platform,  # noqa: F811
    sessions,
    stored,
    shell,
    clock,
    instance,
):
    pay_rewards()
    platform.send_bonus("AWORKER1", "ASSIGNMENT1", 50, "by hand", "token")
    assert all(each in stored() for each in ("AWORKER1", "ASSIGNMENT1"))
    said = shell("forget", "AWORKER1", "--yes")
    assert (
        f"In exports of run {known.ref} made earlier, delete the rows of participant ref1" in said
    )
    assert "AWORKER1" not in stored()
    assert "ASSIGNMENT1" not in stored()
    assert "AWORKER2" in stored()
    # The platform goes on telling of them; nothing of it is stored again, and nothing differs.
    poll_run(sessions, platform, known.ref, clock())
    assert "AWORKER1" not in stored()
    snapshot = take_snapshot(sessions, platform, known, Tokens("k" * 32), clock())
    assert find_discrepancies(snapshot) == []
    with reading(sessions) as session:
        paid = session.scalars(select(Payment).order_by(Payment.id)).all()
        assert [(line.amount_minor, line.state) for line in paid] == [(20, "done"), (20, "done")]
        assert session.scalars(select(AuditEntry.act)).all() == ["person forgotten"]
    assert "AWORKER" not in (instance / "erasures").read_text()
    assert (instance / "erasures").stat().st_mode & 0o077 == 0
    with pytest.raises(RunError, match="no participant has that"):
        shell("forget", "AWORKER1", "--yes")
    # The reference that earlier entries of the audit log name leads to a row that says of nobody.
    with reading(sessions) as session:
        left = session.scalars(select(Participant).where(Participant.ref == "ref1")).one()
        assert left.platform_id is None and left.code != "code1"


def test_somebody_is_found_by_their_reference_their_code_and_a_platform_s_id(known, sessions):
    with sessions.begin() as session:
        someone = session.scalars(select(Participant).order_by(Participant.id)).first()
        named = (someone.ref, someone.code, someone.code.upper(), "AWORKER1")
        found = [find_person(session, who).participants for who in named]
    assert [[each.id for each in people] for people in found] == [[someone.id]] * 4


@pytest.mark.one_database
def test_whoever_does_not_say_yes_changes_nothing(visitor, sessions, instance, stored):
    visitor.answer(1)
    with reading(sessions) as session:
        ref = session.scalars(select(Participant.ref)).one()
    before = stored()
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    for answer in ("n\n", ""):
        asked = runner.invoke(parallax.cli, ["forget", ref], input=answer)
        assert "This cannot be undone. Forget them?" in asked.output
        assert asked.exit_code == 1 and stored() == before
    assert runner.invoke(parallax.cli, ["forget", ref], input="y\n").exit_code == 0
    assert stored() != before


@pytest.mark.one_database
def test_a_restored_backup_forgets_them_again(
    known,
    pay_rewards,  # noqa: F811
    sessions,
    stored,
    shell,
    tmp_path,
    platform,  # noqa: F811
    clock,
    visitor,
    instance,
):
    visitor.answer(1)
    with sessions.begin() as session:
        # One that never became a participant, and one whom nobody but their code names.
        stranger = session.scalars(
            select(Assignment).where(Assignment.worker_id == "AWORKER2")
        ).one()
        stranger.participant_id = None
        code = session.scalars(
            select(Participant.code).where(Participant.platform_id.is_(None))
        ).one()
    pay_rewards()
    shell("db", "backup", str(tmp_path / "backup"))
    # Under three keys, and the first in a file as an earlier version wrote it, without one.
    record, older = instance / "erasures", instance / "forgotten"
    for who in ("AWORKER1", "AWORKER2", code.upper()):
        with reading(sessions) as session:
            marks = find_person(session, who).marks
        assert "Forgotten" in shell("forget", who, "--yes", "--although-unpaid")
        assert marks
        assert not any(mark in record.read_text() for mark in marks), "a digest without a key"
        if who == "AWORKER1":
            record.unlink()
            with sessions.begin() as session:
                session.execute(delete(Erasure))
            older.write_text("\n".join(marks) + "\n")
        shell("keys", "rotate", "pseudonyms")
        unlock(sessions.kw["bind"], Sealer(read_keys(instance)))
    with pytest.raises(WebappError, match=r"record of erasures needs key 5.*you keep no"):
        shell("keys", "drop", "5")
    shell("keys", "drop", "2")  # names have newer digests, and no entry was made with it
    sessions.kw["bind"].dispose()
    said = shell("db", "restore", str(tmp_path / "backup"), "--replace")
    assert "had their data erased are taken out again" in said
    for each in ("AWORKER", "ASSIGNMENT", code, "receipt of"):
        assert each not in stored()
    poll_run(sessions, platform, known.ref, clock())
    assert "AWORKER" not in stored()
    assert not older.exists()
    assert "forgotten 2." not in record.read_text()


@pytest.mark.one_database
def test_a_backup_is_not_restored_while_a_key_of_the_record_is_missing(
    known,
    pay_rewards,  # noqa: F811
    sessions,
    shell,
    instance,
    tmp_path,
):
    pay_rewards()
    shell("db", "backup", str(tmp_path / "backup"))
    shell("forget", "AWORKER1", "--yes")
    record = instance / "erasures"
    record.write_text(record.read_text().replace(" 2.", " 9."))
    sessions.kw["bind"].dispose()
    with pytest.raises(WebappError, match=r"needs key 9.*delete the lines with ` 9\.`"):
        shell("db", "restore", str(tmp_path / "backup"), "--replace")
    with reading(sessions) as session:
        known_still = select(Assignment).where(Assignment.worker_id == "AWORKER1")
        assert session.scalars(known_still).all() == []
