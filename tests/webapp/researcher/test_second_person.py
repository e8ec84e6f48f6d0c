"""What a study asks two people for is done when the second asks for exactly the same."""

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

import parallax
from experiment.payment.payment import PaymentError
from tests.webapp.payments.conftest import hit, platform, worked  # noqa: F401 - fixtures
from tests.webapp.researcher.test_money import Payer, published  # noqa: F401
from webapp.database.engine import reading
from webapp.database.models import (
    AuditEntry,
    Participant,
    Payment,
    RequestedAct,
    StudyFile,
    Unblinding,
)
from webapp.errors import RunError
from webapp.payments.accounts import load_accounts
from webapp.payments.reconciliation.statement import compute_owed_minor
from webapp.payments.run_payments import Proposal
from webapp.runs.runs import load_launched_study
from webapp.runs.second_person import REQUEST_LIFETIME, GuardedRequest, find_first_requester
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
WHY = "all have finished"
TWO = b"\n[oversight]\nsecond_person = ['payments', 'publishing', 'unblinding']\n"


@pytest.fixture
def guarded(run, sessions, app):
    with sessions.begin() as session:
        toml = session.scalars(select(StudyFile).where(StudyFile.name == "study.toml")).one()
        toml.content += TWO
    app.extensions["parallax"]._studies.clear()
    return run


@pytest.fixture
def two(researcher):
    """Two people who are signed in."""
    return researcher(Role.RESEARCHER), researcher(Role.OWNER)


def count(sessions, table) -> int:
    with reading(sessions) as session:
        return session.scalar(select(func.count()).select_from(table))


def test_a_run_is_unblinded_by_the_second_person_and_not_by_the_first_again(guarded, two, sessions):
    first, second = two
    at = f"/runs/{guarded.ref}"
    for _ in range(2):
        asked = first.post(f"{at}/unblind", reason=WHY)
        assert asked.status_code == 202
        assert "asks two people for unblinding" in asked.text
        assert count(sessions, Unblinding) == 0
    assert "researcher asked for unblinding" in second.get(at).text
    assert second.post(f"{at}/unblind", reason=WHY).status_code == 303
    with reading(sessions) as session:
        [done] = session.scalars(select(Unblinding))
        acts = [entry.act for entry in session.scalars(select(AuditEntry))]
    assert done.who == "researcher and owner"
    assert acts[-2:] == ["unblinding asked for", "run unblinded"]
    assert count(sessions, RequestedAct) == 0


def test_the_command_is_a_person_too(guarded, two, sessions, instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    words = ["unblind", guarded.ref, "--reason", WHY]
    for _ in range(2):
        with pytest.raises(RunError, match="asks two people for unblinding"):
            runner.invoke(parallax.cli, words, catch_exceptions=False)
    assert two[0].post(f"/runs/{guarded.ref}/unblind", reason=WHY).status_code == 303
    assert count(sessions, Unblinding) == 1


def test_without_a_reason_nothing_is_asked_for(guarded, two, sessions):
    assert two[0].post(f"/runs/{guarded.ref}/unblind", reason="why").status_code == 400
    assert count(sessions, RequestedAct) == 0


def test_a_request_that_is_too_old_is_asked_for_anew(guarded, sessions, clock):
    with reading(sessions) as session:
        study = load_launched_study(session, guarded)

    def first(by: str, digest: str = "d") -> str:
        wanted = GuardedRequest(guarded, study, "payments", digest, "something", by, clock())
        return find_first_requester(sessions, wanted)

    with pytest.raises(RunError, match="asks two people"):
        first("anna")
    clock.go_on(seconds=REQUEST_LIFETIME.total_seconds() + 1)
    with pytest.raises(RunError, match="asks two people"):
        first("bert")
    assert first("anna") == "bert"
    with pytest.raises(RunError, match="asks two people"):
        first("anna", digest="e")


def test_payments_wait_for_the_second_person_who_asks_for_the_very_same(
    guarded,
    published,  # noqa: F811
    worked,  # noqa: F811
    two,
    sessions,
    platform,  # noqa: F811
):
    worked(1)
    worked(2)
    first, second = Payer(two[0], published), Payer(two[1], published)
    refused = first.pay(act="approve")
    assert "asks two people for payments" in refused.text
    assert count(sessions, Payment) == 0
    assert first.pay(act="approve").status_code == 202
    with reading(sessions) as session:
        ref = session.scalars(select(Participant.ref).order_by(Participant.id)).first()
    assert second.pay(act="approve_one", who=ref).status_code == 202, "that is something else"
    assert count(sessions, Payment) == 0
    assert second.pay(act="approve").status_code == 303
    assert count(sessions, Payment) == 2
    with reading(sessions) as session:
        ordered = session.scalars(
            select(AuditEntry).where(AuditEntry.act == "payment ordered")
        ).one()
    assert (ordered.who, ordered.after["asked for by"]) == ("owner", "researcher")


def test_a_study_that_says_nothing_asks_one_person(run, two, sessions):
    assert two[0].post(f"/runs/{run.ref}/unblind", reason=WHY).status_code == 303
    assert count(sessions, Unblinding) == 1


def test_a_bonus_for_correct_answers_is_neither_told_nor_paid_while_the_run_is_blind(
    run, start, sessions, two
):
    visitor = start(run)
    visitor.answer_all()
    visitor.questionnaire(native_language="English")
    with reading(sessions) as session:
        study = load_launched_study(session, run)
        rule = study.payment.model_copy(update={"bonus": "per_correct_catch_trial"})
        study = study.model_copy(update={"payment": rule})
        [account] = load_accounts(session, run)
    assert account.correct_catch_trials is None
    assert compute_owed_minor(account, study) is None
    from experiment.payment.bonuses import bonuses_by_rule

    with pytest.raises(
        PaymentError, match=f"the run is blind.*parallax unblind {run.ref} --reason"
    ):
        bonuses_by_rule(study.payment, [account.bonus_candidate], run.ref)
    two[0].post(f"/runs/{run.ref}/unblind", reason=WHY)
    with reading(sessions) as session:
        [account] = load_accounts(session, run)
    assert account.correct_catch_trials is not None
    assert compute_owed_minor(account, study) is not None


def test_two_people_agree_on_what_an_order_may_do_besides():
    proposal = Proposal((), 0, 0, 0, "USD")
    orders = {
        proposal.digest_request(undo_rejections=undo, additional=additional)
        for undo in (False, True)
        for additional in (False, True)
    }
    assert len(orders) == 4
