"""The ledger's moves, each by itself: recorded once, one caller at a time, settled for good."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from experiment.payment.payment import Caps, PaymentError, PaymentItem, PaymentKind, PaymentState
from webapp.database.engine import reading
from webapp.database.models import Participant, Payment, Run
from webapp.payments import ledger
from webapp.payments.ledger import Entry

CAPS = Caps(per_participant_minor=500, per_run_minor=1_000, currency="USD")
LATER = ledger.CLAIM_TIMEOUT + timedelta(seconds=1)


def bonus(payee: str = "ref1", cents: int = 50, assignment: str | None = "ASSIGNMENT1"):
    item = PaymentItem(payee, PaymentKind.BONUS, cents, "Well done.", "Well done.")
    return Entry(item, f"AWORKER-{payee}", assignment, None)


@pytest.fixture
def write(sessions, run: Run, clock):
    """Return a function that records entries and gives their payments."""

    def written(*entries: Entry, caps: Caps | None = CAPS) -> list[Payment]:
        with sessions.begin() as session:
            return ledger.record_payments(session, run, entries, caps, clock())

    return written


@pytest.fixture
def stored(sessions):
    """Return a function that reads a payment as the ledger holds it now."""

    def read(payment: Payment) -> Payment:
        with reading(sessions) as session:
            return session.get_one(Payment, payment.id)

    return read


def test_a_payment_is_recorded_once_and_called_for_by_nobody_yet(write, clock):
    (first,), (again,) = write(bonus()), write(bonus())
    assert again.id == first.id
    assert (first.state, first.called_at, first.settled_at) == (PaymentState.INTENDED, None, None)
    assert (first.amount_minor, first.made_at, first.answer) == (50, clock(), "")


def test_one_caller_has_a_payment_until_it_must_be_gone(write, sessions, clock):
    (payment,) = write(bonus())
    claimed = ledger.claim_payment(sessions, payment.id, clock())
    assert claimed is not None
    assert not claimed.tried
    assert timedelta(minutes=5) == ledger.CLAIM_TIMEOUT, "reconcile says: again in five minutes"
    assert (claimed.payment.state, claimed.payment.called_at) == (PaymentState.CALLING, clock())
    almost = clock() + ledger.CLAIM_TIMEOUT - timedelta(seconds=1)
    assert ledger.is_claimed(claimed.payment, almost)
    assert ledger.claim_payment(sessions, payment.id, almost) is None
    assert not ledger.is_claimed(claimed.payment, clock() + ledger.CLAIM_TIMEOUT)
    second = ledger.claim_payment(sessions, payment.id, clock() + ledger.CLAIM_TIMEOUT)
    assert second is not None
    assert second.tried


@pytest.mark.parametrize("state", [PaymentState.REFUSED, PaymentState.UNKNOWN])
def test_what_was_not_paid_is_claimed_again_at_once(write, sessions, clock, state):
    (payment,) = write(bonus())
    ledger.claim_payment(sessions, payment.id, clock())
    ledger.settle_payment(sessions, payment.id, state, "no", clock())
    again = ledger.claim_payment(sessions, payment.id, clock())
    assert again is not None
    assert again.tried


def test_what_has_no_assignment_to_be_paid_on_is_not_claimed(write, sessions, stored, clock):
    (payment,) = write(bonus(assignment=None))
    assert ledger.claim_payment(sessions, payment.id, clock()) is None
    assert stored(payment).state == PaymentState.INTENDED


@pytest.mark.parametrize(
    "late", [PaymentState.UNKNOWN, PaymentState.REFUSED, PaymentState.INTENDED]
)
def test_a_late_outcome_never_overwrites_a_paid_payment(write, sessions, stored, clock, late):
    (payment,) = write(bonus())
    ledger.claim_payment(sessions, payment.id, clock())
    # The first caller is slow; a second one claims the payment and makes it.
    paid_at = clock() + LATER
    assert ledger.claim_payment(sessions, payment.id, paid_at) is not None
    ledger.settle_payment(sessions, payment.id, PaymentState.DONE, "", paid_at)
    settled = ledger.settle_payment(sessions, payment.id, late, "timed out", paid_at + LATER)
    for seen in (settled, stored(payment)):
        assert (seen.state, seen.answer, seen.settled_at) == (PaymentState.DONE, "", paid_at)
    assert ledger.claim_payment(sessions, payment.id, paid_at + LATER) is None


@pytest.mark.parametrize(
    ("state", "settled"),
    [(PaymentState.DONE, True), (PaymentState.REFUSED, True), (PaymentState.UNKNOWN, False)],
)
def test_only_what_the_platform_decided_is_settled(write, sessions, stored, clock, state, settled):
    (payment, other) = write(bonus("ref1"), bonus("ref2"))
    ledger.claim_payment(sessions, payment.id, clock())
    ledger.settle_payment(sessions, payment.id, state, "words", clock())
    seen = stored(payment)
    assert (seen.state, seen.answer) == (state, "words")
    assert seen.settled_at == (clock() if settled else None)
    assert stored(other).state == PaymentState.INTENDED


def test_caps_count_what_stands_in_the_ledger_and_may_be_reached_exactly(write):
    write(bonus("ref1", 500), bonus("ref2", 500))
    with pytest.raises(PaymentError):
        write(bonus("ref3", 1))
    # What was recorded before is no new promise.
    assert len(write(bonus("ref1", 500), bonus("ref2", 500))) == 2
    # What was paid already is recorded whatever the caps say.
    assert len(write(bonus("ref3", 1), caps=None)) == 1


def test_caps_count_all_that_one_person_was_promised_before(write):
    for reason in ("The first.", "The second."):
        item = PaymentItem("ref1", PaymentKind.BONUS, 200, reason, reason)
        write(Entry(item, "AWORKER-ref1", "ASSIGNMENT1", None))
    with pytest.raises(PaymentError):
        write(bonus("ref1", 101))
    write(bonus("ref1", 100))


@pytest.mark.usefixtures("visitor")
def test_a_line_says_whose_it_is_and_in_which_category(write, sessions):
    with reading(sessions) as session:
        [person] = session.scalars(select(Participant.id)).all()
    item = PaymentItem("ref1", PaymentKind.REJECTION, 0, "Nothing was answered.")
    [line] = write(Entry(item, "AWORKER1", "ASSIGNMENT1", person, "NO_DATA"))
    assert (line.participant_id, line.category, line.currency) == (person, "NO_DATA", "USD")
    assert (line.worker_id, line.assignment) == ("AWORKER1", "ASSIGNMENT1")


def test_what_was_ordered_is_claimed_as_ordered_and_not_set_up_again(write, sessions, clock):
    (payment,) = write(bonus())
    with sessions.begin() as session:
        session.get_one(Payment, payment.id).ordered_at = clock()
    claimed = ledger.claim_payment(sessions, payment.id, clock())
    assert claimed is not None
    assert claimed.payment.state == PaymentState.ORDERED


def test_another_amount_for_what_was_recorded_is_refused_and_nothing_is_written(
    write, sessions, run
):
    write(bonus("ref1", 50))
    with pytest.raises(PaymentError, match=r"\$0\.50, and cannot become \$0\.60"):
        write(bonus("ref2", 10), bonus("ref1", 60))
    with reading(sessions) as session:
        assert [payment.amount_minor for payment in ledger.load_payments(session, run)] == [50]


def test_a_decision_on_one_submission_stands_once_whoever_writes_it_down(write):
    """Reconciling names the payee by the assignment where a command names the participant."""
    entries = [
        Entry(PaymentItem(payee, PaymentKind.REWARD, 20, reason), "AW", "ASSIGNMENT1", None)
        for payee, reason in (("ref1", "Thank you."), ("ASSIGNMENT1", "decided elsewhere"))
    ]
    (first,), (second,) = write(entries[0]), write(entries[1])
    assert first.id == second.id


@pytest.mark.one_database
@pytest.mark.parametrize("reason", ["well done.", " Well  done. ", "WELL DONE."])
def test_a_bonus_for_the_same_reason_in_other_letters_is_the_same_bonus(write, reason):
    item = PaymentItem("ref1", PaymentKind.BONUS, 50, reason, f"file\x1f{reason}")
    (first,) = write(bonus())
    (same,) = write(Entry(item, "AWORKER-ref1", "ASSIGNMENT1", None))
    assert first.id == same.id


@pytest.mark.one_database
@pytest.mark.parametrize("state", list(PaymentState))
def test_a_paid_amount_is_never_replaced_by_another(write, sessions, clock, state):
    (payment,) = write(bonus())
    ledger.settle_payment(sessions, payment.id, state, "", clock())
    was = "was paid" if state == PaymentState.DONE else "was decided"
    with pytest.raises(PaymentError, match=f"{was} as .* cannot become"):
        write(bonus(cents=70))
