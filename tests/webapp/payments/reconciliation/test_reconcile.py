"""What reconciling finds where our records, the platform and the ledger do not agree."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from experiment.payment.payment import Caps, PaymentItem, PaymentKind
from experiment.studies.load import load_study
from tests.webapp.payments.platform_double import DIES_BEFORE, REFUSES, ProcessDied
from webapp.database.engine import reading
from webapp.database.models import Assignment, Hit, Participant, Place, RunCount
from webapp.payments.accounts import load_accounts
from webapp.payments.compensate import build_compensation_entry, offer_compensation
from webapp.payments.ledger import Entry, load_payments
from webapp.payments.pay import pay_entries
from webapp.payments.reconciliation import snapshot as snapshots
from webapp.payments.reconciliation.reconcile import find_discrepancies, fix_discrepancies
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.recruiters.platform import Bonus
from webapp.recruitment.poll import upsert_submission

pytestmark = pytest.mark.one_database


@pytest.fixture
def look(app, sessions, platform, run, clock):
    """Return a function that gives the snapshot of the run."""
    tokens = app.extensions["parallax"].tokens
    return lambda: take_snapshot(sessions, platform, run, tokens, clock())


@pytest.fixture
def found(look):
    """Return a function that gives each problem and who has it."""
    return lambda: [
        (discrepancy.problem, discrepancy.who) for discrepancy in find_discrepancies(look())
    ]


@pytest.fixture
def fix(sessions, platform, run, look, clock):
    """Return a function that mends what is safe."""
    study = load_study("minimal")
    return lambda: fix_discrepancies(sessions, platform, run, study, "http://x", look(), clock)


@pytest.fixture
def receipt(app):
    return app.extensions["parallax"].tokens.receipt


@pytest.fixture
def one(worked, receipt) -> str:
    return worked(1, receipt=receipt("ref1"))


@pytest.fixture
def commits(app):
    """Return a function that counts the transactions that another commits."""

    def count(act) -> int:
        made = []
        listener = made.append
        event.listen(engine := app.extensions["parallax"].engine, "commit", listener)
        act()
        event.remove(engine, "commit", listener)
        return len(made)

    return count


@pytest.fixture
def poll_now(sessions, platform):
    """Return a function that brings in what the platform says of the first assignment."""

    def bring_in() -> None:
        with sessions.begin() as session:
            [assignment] = session.query(Assignment)
            assignment.status = platform.submitted["ASSIGNMENT1"].status

    return bring_in


def test_a_run_is_clean_before_anybody_came_and_after_everybody_was_paid(
    hit, found, one, pay_rewards, poll_now
):
    assert found() == [("never_paid", "ref1")]
    pay_rewards()
    poll_now()
    assert found() == []


def test_what_was_decided_and_not_done_is_done_by_mending(
    one, found, fix, pay_rewards, platform, poll_now, clock
):
    platform.trouble("approve", DIES_BEFORE)
    with pytest.raises(ProcessDied):
        pay_rewards()
    fix()  # the process may be at it still
    assert platform.approvals == []
    assert found() == [("payment_calling", "ref1")]
    clock.go_on(minutes=6)
    fix()
    poll_now()
    assert found() == []
    assert platform.approvals == ["ASSIGNMENT1"]


def test_a_refusal_stays_listed_until_it_can_be_done(
    one, found, fix, pay_rewards, platform, poll_now
):
    platform.trouble("approve", REFUSES, REFUSES)
    pay_rewards()
    fix()
    assert found() == [("payment_refused", "ref1")]
    fix()
    poll_now()
    assert found() == []


def test_what_is_settled_is_not_taken_in_hand_again_by_paying_and_mending(
    worked, receipt, pay_rewards, fix, commits
):
    def again() -> tuple[int, int]:
        return commits(pay_rewards), commits(fix)

    worked(1, receipt=receipt("ref1"))
    pay_rewards()
    of_one = again()
    for number in range(2, 7):
        worked(number, receipt=receipt(f"ref{number}"))
    pay_rewards()
    assert again() == of_one


def test_what_the_ledger_alone_calls_done_is_told(one, found, fix, pay_rewards, platform, poll_now):
    pay_rewards()
    one_submission = platform.submitted["ASSIGNMENT1"]
    platform.submitted["ASSIGNMENT1"] = replace(one_submission, status="submitted")
    poll_now()
    fix()
    assert ("recorded_not_made", "ref1") in found()


def test_a_bonus_paid_by_hand_is_told_and_written_down_without_being_paid_again(
    one, found, fix, pay_rewards, platform, poll_now, sessions, run
):
    pay_rewards()
    poll_now()
    by_hand = Bonus("AWORKER1", "ASSIGNMENT1", 77, "From the site", platform.now)
    platform.paid.append(by_hand)
    assert found() == [("bonus_elsewhere", "ref1")]
    fix()
    assert found() == []
    assert platform.paid == [by_hand]
    with reading(sessions) as session:
        assert [p.amount_minor for p in load_payments(session, run)][1:] == [77]


def test_a_second_submission_of_somebody_is_told(
    one, found, sessions, platform, run, hit, pay_rewards, poll_now, clock
):
    pay_rewards()
    poll_now()
    with sessions.begin() as session:
        [person] = session.query(Participant)
        session.add(
            Assignment(
                run_id=run.id, hit_id=hit.id, platform_id="ASSIGNMENT2", status="submitted",
                participant_id=person.id, worker_id="AWORKER1", submit_to="", receipt="",
                accepted_at=clock(), submitted_at=clock(),
            )
        )  # fmt: skip
    assert found() == [("submitted_twice", "ref1")]
    with sessions.begin() as session:
        session.query(Assignment).filter_by(platform_id="ASSIGNMENT2").one().status = "approved"
    assert found() == [("paid_twice", "ref1")]


def test_who_submitted_and_has_not_finished_is_told(worked, found, receipt):
    worked(1, state="working", receipt=receipt("ref1"))
    assert found() == [("submitted_unfinished", "ref1")]


def test_a_silent_participant_s_place_is_freed_by_mending(worked, found, fix, sessions, run, clock):
    worked(1, state="working", status=None)
    with sessions.begin() as session:
        [person] = session.query(Participant)
        place = session.query(Place).filter_by(run_id=run.id).first()
        place.participant_id = person.id
    clock.go_on(hours=2)
    assert found() == [("stuck_place", "ref1")]
    fix()
    assert found() == []
    with reading(sessions) as session:
        assert session.query(Place).filter(Place.participant_id.is_not(None)).count() == 0


def test_a_count_that_is_not_what_is_stored_is_told_and_counted_again(
    worked, found, fix, sessions, run, receipt
):
    worked(1, status=None)
    before = found()
    with sessions.begin() as session:
        session.query(RunCount).filter_by(run_id=run.id, subject="places").update({"n": 7})
    assert found() == [*before, ("wrong_count", run.ref)]
    fix()
    assert found() == before


def test_an_offer_that_was_never_confirmed_is_told(sessions, run, found):
    with sessions.begin() as session:
        session.add(Hit(run_id=run.id, token="a" * 64, purpose="recruitment", places=9))
    assert found() == [("unposted_offer", "a" * 12)]


def test_compensation_that_nobody_took_up_is_told_and_offered_again_under_the_same_token(
    worked, found, sessions, platform, run, clock
):
    worked(1, status=None)

    def offer() -> None:
        with reading(sessions) as session:
            [account] = load_accounts(session, run)
        entry = build_compensation_entry(account, "AWORKER1", 120, "It broke.")
        study, caps = load_study("minimal"), Caps(500, 500, "USD")
        offer_compensation(sessions, platform, run, study, entry, caps, "http://x", clock)

    offer()
    assert found() == []
    clock.go_on(days=31)
    assert found() == [("compensation_not_taken", "ref1")]
    offer()
    assert found() == []
    assert len(platform.posted) == 1
    assert platform.calls.count("expire") == 1


def test_compensation_whose_command_died_is_offered_by_mending(
    worked, found, fix, sessions, platform, run, clock
):
    worked(1, status=None)
    with reading(sessions) as session:
        [account] = load_accounts(session, run)
    entry = build_compensation_entry(account, "AWORKER1", 120, "It broke.")
    platform.trouble("post", DIES_BEFORE)
    with pytest.raises(ProcessDied):
        offer_compensation(
            sessions, platform, run, load_study("minimal"), entry, Caps(500, 500, "USD"), "x", clock
        )
    assert found() == [("unposted_offer", "ref1")]
    fix()
    assert found() == []
    [(task, _, offer)] = platform.posted.values()
    assert (task.duration, task.approve_after) == (timedelta(hours=1), timedelta(days=1))
    assert (offer.lifetime, offer.places) == (timedelta(days=30), 1)


def test_who_submits_after_compensation_was_offered_is_not_paid_twice_unasked(
    worked, found, sessions, platform, run, clock, hit, pay_rewards
):
    worked(1, status=None)
    with reading(sessions) as session:
        [account] = load_accounts(session, run)
    entry = build_compensation_entry(account, "AWORKER1", 120, "It broke.")
    offer_compensation(
        sessions, platform, run, load_study("minimal"), entry, Caps(500, 500, "USD"), "x", clock
    )
    platform.add("ASSIGNMENT1", "AWORKER1")
    with sessions.begin() as session:
        upsert_submission(session, hit, platform.submission("ASSIGNMENT1"), clock())
    assert pay_rewards() == []
    assert platform.approvals == []
    assert ("compensated_and_submitted", "ref1") in found()
    assert ("never_paid", "ref1") not in found()


def test_a_refused_rejection_is_made_by_no_fixing_and_ends_with_the_reward(
    one, found, fix, pay_rewards, platform, poll_now, sessions, run, clock
):
    platform.trouble("reject", REFUSES)
    item = PaymentItem("ref1", PaymentKind.REJECTION, 0, "Nothing was answered.")
    with reading(sessions) as session:
        [account] = load_accounts(session, run)
    entry = Entry(item, "AWORKER1", "ASSIGNMENT1", account.participant.id)
    caps = Caps(per_participant_minor=500, per_run_minor=1_000, currency="USD")
    pay_entries(sessions, platform, run, [entry], caps, clock)
    assert found() == [("payment_refused", "ref1")]
    fix()
    assert platform.rejections == []
    pay_rewards()
    poll_now()
    assert found() == []


def test_what_was_counted_wrongly_is_told_once_and_in_order(look, monkeypatch):
    wrong = [("lists", subject, 1) for subject in "jachbgidfeja"]
    monkeypatch.setattr(snapshots, "find_wrong_counts", lambda *_: wrong)
    assert look().miscounted == list("abcdefghij")
