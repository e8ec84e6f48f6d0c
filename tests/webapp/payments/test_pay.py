"""Whatever fails between the row and its result, everybody is paid, and nobody twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from experiment.payment.payment import Caps, PaymentError, PaymentItem, PaymentKind, PaymentState
from tests.webapp.payments.platform_double import (
    DIES_AFTER,
    DIES_BEFORE,
    LOST_REPLY,
    NO_CONNECTION,
    REFUSES,
    PlatformDouble,
    ProcessDied,
    Trouble,
)
from webapp.database.engine import reading
from webapp.database.models import Participant, Payment
from webapp.payments.accounts import load_accounts
from webapp.payments.ledger import CLAIM_TIMEOUT, Entry, load_payments
from webapp.payments.pay import pay_entries
from webapp.payments.platform_payments import is_paid_as_bonus
from webapp.recruiters.platform import PlatformError

CAPS = Caps(per_participant_minor=500, per_run_minor=1_000, currency="USD")
POINTS = {
    "the connection fails": NO_CONNECTION,
    "the reply is lost": LOST_REPLY,
    "the process dies before the call": DIES_BEFORE,
    "the process dies after the call": DIES_AFTER,
    "the platform refuses": REFUSES,
}


@pytest.fixture
def bonus(sessions, run, platform, clock):
    """Return a function that pays everybody the same bonus."""

    def pay(amount_minor=50, reason="Well done.", caps=CAPS):
        with reading(sessions) as session:
            entries = [
                Entry(
                    PaymentItem(
                        account.participant.ref, PaymentKind.BONUS, amount_minor, reason, reason
                    ),
                    account.assignment.worker_id,
                    account.assignment.platform_id,
                    account.participant.id,
                )
                for account in load_accounts(session, run)
            ]
        return pay_entries(sessions, platform, run, entries, caps, clock)

    return pay


@pytest.fixture
def states(sessions, run):
    def read():
        with reading(sessions) as session:
            return [payment.state for payment in load_payments(session, run)]

    return read


def test_everyone_who_finished_and_submitted_is_paid_the_reward_once(
    worked, pay_rewards, platform, states
):
    for number in (1, 2):
        worked(number)
    pay_rewards()
    assert pay_rewards() == []
    assert platform.approvals == ["ASSIGNMENT1", "ASSIGNMENT2"]
    assert states() == ["done", "done"]


def test_who_did_not_finish_or_not_submit_is_paid_nothing(worked, pay_rewards, platform):
    worked(1, state="working")
    worked(2, status=None)
    worked(3, status="returned")
    assert pay_rewards() == []
    assert platform.calls == []


@pytest.mark.parametrize("trouble", POINTS.values(), ids=POINTS)
def test_a_reward_is_paid_once_whatever_happens_to_the_first_attempt(
    worked, pay_rewards, platform, states, clock, trouble
):
    worked(1)
    platform.trouble("approve", trouble)
    attempt(pay_rewards)
    clock.go_on(minutes=6)
    pay_rewards()
    assert platform.approvals == ["ASSIGNMENT1"]
    assert states() == ["done"]


@pytest.mark.one_database
@pytest.mark.parametrize("later_h", [0.2, 25])
@pytest.mark.parametrize("trouble", POINTS.values(), ids=POINTS)
def test_a_bonus_is_paid_once_before_and_after_the_platform_forgot_the_token(
    worked, bonus, platform, states, clock, trouble, later_h
):
    worked(1)
    platform.trouble("send_bonus", trouble)
    attempt(bonus)
    clock.go_on(hours=later_h)
    platform.now = clock()
    bonus()
    assert [paid.amount_minor for paid in platform.paid] == [50]
    assert states() == ["done"]


def attempt(pay):
    try:
        pay()
    except ProcessDied:
        return


def test_what_is_in_doubt_stays_so_while_the_platform_cannot_be_asked(
    worked, bonus, platform, states, clock
):
    worked(1)
    platform.trouble("send_bonus", LOST_REPLY)
    bonus()
    clock.go_on(hours=30)
    platform.now = clock()
    platform.trouble("submission", NO_CONNECTION)
    bonus()
    assert states() == ["unknown"]
    platform.trouble("bonuses", NO_CONNECTION)
    bonus()
    assert states() == ["unknown"]
    bonus()
    assert states() == ["done"]
    assert len(platform.paid) == 1


def test_a_payment_in_another_process_s_hand_is_left_alone_until_that_process_must_be_gone(
    worked, bonus, platform, clock
):
    worked(1)
    platform.trouble("send_bonus", DIES_BEFORE)
    attempt(bonus)
    clock.go_on(seconds=CLAIM_TIMEOUT.total_seconds() - 1)
    assert bonus() == []
    clock.go_on(seconds=2)
    assert [payment.state for payment in bonus()] == ["done"]


def test_eight_payers_at_the_same_time_call_once_for_each_payment(
    worked, pay_rewards, platform, states
):
    for number in range(5):
        worked(number)
    with ThreadPoolExecutor(8) as pool:
        for payer in [pool.submit(pay_rewards) for _ in range(8)]:
            payer.result()
    # Each was read before it was paid, and paid by one of them.
    assert platform.calls.count("approve") == len(platform.approvals) == 5
    assert states() == ["done"] * 5


@pytest.mark.one_database("postgresql")
def test_what_was_paid_is_stored_though_every_connection_is_lost_during_the_call(
    worked, pay_rewards, platform, states, app, postgres, monkeypatch
):
    worked(1)
    approve, database = platform.approve, app.extensions["parallax"].engine.url.database

    def approve_and_lose_connections(*given: object, **named: object) -> None:
        approve(*given, **named)
        postgres.execute(
            "SELECT pg_terminate_backend(pid, 9000) FROM pg_stat_activity"
            f" WHERE datname = '{database}'"
        )

    monkeypatch.setattr(platform, "approve", approve_and_lose_connections)
    assert [payment.state for payment in pay_rewards()] == ["done"]
    assert states() == ["done"]


def test_a_refusal_keeps_the_platform_s_words_and_is_tried_again(worked, bonus, platform, states):
    worked(1)
    platform.trouble("send_bonus", REFUSES)
    (refused,) = bonus()
    assert (refused.state, refused.answer) == ("refused", "not enough money.")
    bonus()
    assert states() == ["done"]


def test_a_submission_that_the_platform_has_not_got_yet_is_approved_the_next_time(
    worked, pay_rewards, platform, states
):
    worked(1)
    late = platform.submitted.pop("ASSIGNMENT1")
    pay_rewards()
    platform.submitted["ASSIGNMENT1"] = late
    pay_rewards()
    assert states() == ["done"]


def test_caps_hold_for_a_participant_over_all_payments(worked, pay_rewards, bonus, platform):
    worked(1)
    pay_rewards()
    with pytest.raises(PaymentError, match=r"\$5\.01 in all.*\$5\.00.*most_per_participant"):
        bonus(481)
    assert platform.paid == []
    bonus(480)
    assert len(platform.paid) == 1


def test_caps_hold_for_the_run(worked, bonus, platform):
    for number in range(3):
        worked(number)
    with pytest.raises(PaymentError, match=r"would cost \$12\.00.*\$10\.00.*most_per_run"):
        bonus(400)
    assert platform.paid == []


def test_another_amount_for_the_same_reason_is_refused(worked, bonus, platform):
    worked(1)
    bonus(50, "Thanks.")
    with pytest.raises(PaymentError, match=r"\$0\.50, and cannot become \$0\.70"):
        bonus(70, "Thanks.")
    bonus(70, "Sorry for the wait.")
    assert [paid.amount_minor for paid in platform.paid] == [50, 70]


def test_what_the_platform_answers_is_kept_without_the_workers_id(worked, pay_rewards, platform):
    worked(1)
    platform.trouble("approve", Trouble(before=PlatformError("AWORKER1 is unknown")))
    assert [payment.answer for payment in pay_rewards()] == ["(the worker) is unknown."]


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("kind", "cents", "decided"),
    [(PaymentKind.REJECTION, 0, "rejections"), (PaymentKind.REWARD, 120, "approvals")],
)
def test_a_review_decision_reaches_the_right_submission_with_its_reason(
    worked, platform, sessions, run, clock, states, kind, cents, decided
):
    worked(1)
    worked(2)
    item = PaymentItem("ref2", kind, cents, "Nothing was answered.")
    entry = Entry(item, "AWORKER2", "ASSIGNMENT2", None)
    pay_entries(sessions, platform, run, [entry], CAPS, clock)
    assert getattr(platform, decided) == ["ASSIGNMENT2"]
    assert platform.reasons == {"ASSIGNMENT2": "Nothing was answered."}
    assert platform.submitted["ASSIGNMENT1"].status == "submitted"
    assert states() == ["done"]


def test_somebody_rejected_is_not_approved_by_default(worked, pay_rewards, platform):
    worked(1, status="rejected")
    assert pay_rewards() == []


def test_a_rejection_that_the_platform_refused_leaves_the_reward_owed_and_paid(
    worked, pay_rewards, platform, sessions, run, clock
):
    worked(1)
    platform.trouble("reject", REFUSES)
    item = PaymentItem("ref1", PaymentKind.REJECTION, 0, "Nothing was answered.")
    with reading(sessions) as session:
        person = session.scalars(select(Participant)).one()
    entry = Entry(item, "AWORKER1", "ASSIGNMENT1", person.id)
    [refused] = pay_entries(sessions, platform, run, [entry], CAPS, clock)
    assert refused.state == PaymentState.REFUSED
    with reading(sessions) as session:
        [account] = load_accounts(session, run)
    assert account.awaits_pay
    [paid] = pay_rewards()
    assert (paid.kind, paid.state) == (PaymentKind.REWARD, PaymentState.DONE)
    assert platform.approvals == ["ASSIGNMENT1"]


def rejection(number: int) -> Entry:
    item = PaymentItem(f"ref{number}", PaymentKind.REJECTION, 0, "Nothing was answered.")
    return Entry(item, f"AWORKER{number}", f"ASSIGNMENT{number}", None, "NO_DATA")


@pytest.fixture
def decide(sessions, platform, run, clock):
    """Return a function that carries a decision out."""

    def carry_out(*entries: Entry, **options: bool):
        return pay_entries(sessions, platform, run, entries, CAPS, clock, **options)

    return carry_out


@pytest.mark.one_database
@pytest.mark.parametrize("trouble", POINTS.values(), ids=POINTS)
def test_somebody_is_rejected_once_whatever_happens_to_the_first_attempt(
    worked, decide, platform, states, clock, trouble
):
    worked(1)
    platform.trouble("reject", trouble)
    attempt(lambda: decide(rejection(1)))
    clock.go_on(minutes=6)
    decide(rejection(1))
    assert decide(rejection(1)) == []
    assert (platform.rejections, states()) == (["ASSIGNMENT1"], ["done"])
    assert platform.categories == {"ASSIGNMENT1": "NO_DATA"}
    # Who asks first sees that it is done, and does not call again.
    done_before = trouble.after is not None
    assert platform.calls.count("reject") == (1 if done_before else 2)


def test_a_rejection_of_what_the_platform_approved_is_withdrawn_and_the_next_one_made(
    worked, decide, platform
):
    worked(1)
    worked(2)
    platform.approve("ASSIGNMENT1")
    too_late, made = decide(rejection(1), rejection(2))
    assert (too_late.state, made.state) == (PaymentState.WITHDRAWN, PaymentState.DONE)
    assert platform.rejections == ["ASSIGNMENT2"]


def test_what_is_done_keeps_nobody_behind_it_from_being_paid(worked, pay_rewards, bonus, platform):
    worked(1)
    bonus()
    worked(2)
    assert [payment.worker_id for payment in bonus()] == ["AWORKER2"]
    assert len(platform.paid) == 2


def test_a_rejection_is_undone_only_by_who_says_so(worked, decide, platform):
    worked(1)
    decide(rejection(1))
    reward = Entry(
        PaymentItem("ref1", PaymentKind.REWARD, 120, "A mistake."), "AWORKER1", "ASSIGNMENT1", None
    )
    [refused] = decide(reward)
    assert (refused.state, platform.approvals) == (PaymentState.REFUSED, [])
    [paid] = decide(reward, undo_rejections=True)
    assert (paid.state, platform.approvals) == (PaymentState.DONE, ["ASSIGNMENT1"])


def test_what_the_platform_answers_is_kept_without_the_work_s_id(worked, decide, platform):
    worked(1)
    platform.trouble("reject", Trouble(before=PlatformError("ASSIGNMENT1 is not yours")))
    assert [payment.answer for payment in decide(rejection(1))] == ["(the work) is not yours."]


class PaysAnybody(PlatformDouble):
    """A platform that pays bonuses in two steps, also on work that was never handed in."""

    pays_unsubmitted = True
    set_up_bonus = pay_bonus = bonuses_of = PlatformDouble.send_bonus


@pytest.mark.parametrize(
    ("kind", "here", "there"),
    [
        (PaymentKind.BONUS, True, True),
        (PaymentKind.COMPENSATION, False, True),
        (PaymentKind.REWARD, False, False),
        (PaymentKind.REJECTION, False, False),
    ],
)
def test_compensation_is_a_bonus_only_where_anybody_can_get_one(kind, here, there):
    payment = Payment(kind=kind)
    assert is_paid_as_bonus(PlatformDouble(), payment) == here
    assert is_paid_as_bonus(PaysAnybody(), payment) == there
