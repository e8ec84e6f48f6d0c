"""Money: approved, rejected and paid exactly once, whatever is lost on the way."""

import pytest
from sqlalchemy import update

from experiment.payment.payment import PaymentState
from tests.marketplace.prolific.stand_in import REASON
from webapp.database.models import Payment
from webapp.recruiters.platform import PlatformError, PlatformUnreachable

pytestmark = pytest.mark.one_database
# Which call goes wrong how, and whether its bonus is paid in the end without a person's help.
BONUS_FAULTS = [
    ("create-bonus-payments", "reply_lost", True),
    ("pay-bonus-payments", "server_error", False),
    ("pay-bonus-payments", "server_error_after", True),
    ("pay-bonus-payments", "cut_off", True),
]


@pytest.fixture
def submission(lab) -> str:
    """A submission that waits for review, of a published run."""
    return lab.hand_in(lab.publish())


def test_what_finished_is_approved_once(lab, stand_in, submission, shell, problems):
    for _ in range(2):
        assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []


@pytest.mark.parametrize("kind", ["server_error", "reply_lost"])
def test_an_approval_whose_answer_is_lost_is_looked_up(lab, stand_in, submission, shell, kind):
    stand_in.faults({"kind": kind, "operation": "transition-submission", "count": 1})
    shell("approve", lab.run.ref, "--yes")
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == [("reward", submission, 20)]
    assert lab.ledger() == [("reward", 20, "done")]


def test_a_rejection_needs_category_and_reason_and_can_be_undone(
    lab, stand_in, submission, shell, problems
):
    who = lab.ref_of(submission)
    reject = ("reject", lab.run.ref, who, "--yes", "--reason")
    assert "at least 100" in str(shell(*reject, "Bad", "--category", "LOW_EFFORT").exception)
    assert "category is missing" in str(shell(*reject, REASON).exception)
    assert shell(*reject, REASON, "--category", "LOW_EFFORT").exit_code == 0
    assert stand_in.submission(submission)["status"] == "REJECTED"
    assert problems() == []
    undone = shell("approve", lab.run.ref, "--only", who, "--undo-rejection", "--yes")
    assert undone.exit_code == 0, undone.output
    assert stand_in.submission(submission)["status"] == "APPROVED"
    assert stand_in.payments() == [("reward", submission, 20)]


def test_undoing_a_rejection_that_failed_half_way_is_asked_for_again_and_never_done_by_itself(
    lab, stand_in, submission, shell, problems
):
    who = lab.ref_of(submission)
    why = ("--reason", REASON, "--category", "LOW_EFFORT", "--yes")
    shell("reject", lab.run.ref, who, *why)
    stand_in.faults({"kind": "throttled", "operation": "transition-submission", "count": 1})
    undo = ("approve", lab.run.ref, "--only", who, "--undo-rejection", "--yes")
    assert shell(*undo).exit_code != 0
    assert [safe for _, safe in problems()] == [False]
    shell("reconcile", lab.run.ref, "--fix")
    assert stand_in.submission(submission)["status"] == "REJECTED"
    output = shell("reconcile", lab.run.ref).output
    assert f"parallax approve {lab.run.ref} --only {submission} --undo-rejection" in output
    assert shell(*undo).exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []


def test_a_bonus_is_minor_units_here_and_major_ones_on_the_way(
    lab, stand_in, submission, shell, bonus_file, problems
):
    shell("approve", lab.run.ref, "--yes")
    paid = shell("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    assert paid.exit_code == 0, paid.output
    assert stand_in.payments() == [("reward", submission, 20), ("bonus", submission, 25)]
    assert problems() == []


@pytest.mark.parametrize(("operation", "kind", "certain"), BONUS_FAULTS)
def test_a_bonus_is_told_to_be_paid_at_most_once(
    lab, stand_in, clock, submission, shell, bonus_file, operation, kind, certain
):
    shell("approve", lab.run.ref, "--yes")
    stand_in.faults({"kind": kind, "operation": operation, "count": 1})
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    for _ in range(3):
        shell(*bonus)
        clock.go_on(hours=1)
    bonuses = [each for each in stand_in.payments() if each[0] == "bonus"]
    assert bonuses == [("bonus", submission, 25)] * certain
    assert lab.ledger()[1] == ("bonus", 25, "done" if certain else "unknown")


def test_accepted_and_silence_is_for_a_person_to_decide(
    lab, stand_in, clock, submission, shell, bonus_file, problems
):
    shell("approve", lab.run.ref, "--yes")
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    for _ in range(3):
        shell(*bonus)
        clock.go_on(hours=6)
    assert lab.ledger()[1] == ("bonus", 25, "unknown")
    assert problems() != []
    settled = shell("settle", lab.run.ref, "2", "--not-paid")
    assert settled.exit_code == 0, settled.output
    shell(*bonus)
    assert [each[0] for each in stand_in.payments()] == ["reward", "bonus"]
    assert problems() == []


def test_a_bonus_that_is_paid_later_is_settled_when_it_shows(
    lab, stand_in, clock, submission, shell, bonus_file
):
    shell("approve", lab.run.ref, "--yes")
    stand_in.control("workspace", bulk_s=300)
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    shell(*bonus)
    assert lab.ledger()[1] == ("bonus", 25, "unknown")
    clock.go_on(minutes=20)
    shell(*bonus)
    assert lab.ledger()[1] == ("bonus", 25, "done")
    assert len(stand_in.payments()) == 2


def test_a_busy_wallet_pays_nothing_and_is_asked_again_later(
    lab, stand_in, clock, submission, shell, bonus_file
):
    shell("approve", lab.run.ref, "--yes")
    stand_in.faults({"kind": "throttled", "operation": "pay-bonus-payments", "count": 1})
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    shell(*bonus)
    assert lab.ledger()[1] == ("bonus", 25, "refused")
    clock.go_on(minutes=10)
    shell(*bonus)
    assert lab.ledger()[1] == ("bonus", 25, "done")
    assert [each[0] for each in stand_in.payments()] == ["reward", "bonus"]


def test_a_process_that_dies_after_the_order_never_orders_again(
    lab, stand_in, clock, submission, shell, bonus_file, sessions
):
    shell("approve", lab.run.ref, "--yes")
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    shell(*bonus)
    with sessions.begin() as session:
        died = {"state": PaymentState.ORDERED, "answer": ""}
        session.execute(update(Payment).where(Payment.kind == "bonus").values(died))
    clock.go_on(hours=1)
    for _ in range(2):
        shell(*bonus)
    assert [each[0] for each in stand_in.payments()] == ["reward"]


def test_what_others_decide_on_the_platform_is_taken_over(
    lab, stand_in, submission, shell, problems
):
    stand_in.decide(submission, "APPROVE")
    assert problems() == [("reviewed_elsewhere", True)]
    shell("reconcile", lab.run.ref, "--fix")
    assert problems() == []
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == [("reward", submission, 20)]


def test_what_the_platform_rejects_by_itself_is_seen_and_can_be_undone(
    lab, stand_in, submission, shell, problems
):
    stand_in.decide(submission, "REJECT", message=REASON, rejection_category="TOO_QUICKLY")
    assert [name for name, _ in problems()] == ["reviewed_elsewhere"]
    shell("reconcile", lab.run.ref, "--fix")
    who = lab.ref_of(submission)
    shell("approve", lab.run.ref, "--only", who, "--undo-rejection", "--yes")
    assert stand_in.payments() == [("reward", submission, 20)]


def test_whoever_could_not_hand_in_is_paid_by_a_bonus(lab, stand_in, clock, shell, problems):
    submission, _ = lab.work(lab.publish())
    clock.go_on(hours=2)
    lab.report()
    lab.poll()
    assert ("finished_not_submitted", False) in problems()
    why = ("--reason", "You finished, and your time on the platform was over.", "--yes")
    paid = shell("compensate", lab.run.ref, lab.ref_of(submission), "--amount", "0.20", *why)
    assert paid.exit_code == 0, paid.output + str(paid.exception)
    assert stand_in.payments() == [("bonus", submission, 20)]
    assert problems() == []


def test_a_set_up_that_the_platform_understood_otherwise_is_never_paid(
    lab, submission, monkeypatch
):
    monkeypatch.setattr(
        "webapp.recruiters.prolific.client.format_bonus", lambda ref, minor, _: f"{ref},{minor}"
    )
    study = lab.platform.submission(submission).offer_id
    with pytest.raises(PlatformError, match="understood 2500 in place of 25"):
        lab.platform.set_up_bonus(study, submission, 25)


def test_the_client_never_repeats_what_would_pay_again(stand_in, settings, clock, lab, submission):
    from webapp.recruiters.prolific.opening import open_prolific

    eager = open_prolific(settings, live=False, attempts=4, now=clock)
    study = lab.platform.submission(submission).offer_id
    set_up = eager.set_up_bonus(study, submission, 25)
    stand_in.faults({"kind": "server_error_after", "operation": "pay-bonus-payments"})
    with pytest.raises(PlatformUnreachable):
        eager.pay_bonus(set_up)
    assert eager.bonuses_of(submission) == [25]
