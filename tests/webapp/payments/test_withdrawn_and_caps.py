"""A payment that was withdrawn is promised to nobody: no cap counts it."""

import pytest

from experiment.payment.payment import Caps, PaymentError, PaymentItem, PaymentKind, PaymentState
from webapp.payments import ledger
from webapp.payments.ledger import Entry

CAPS = Caps(per_participant_minor=500, per_run_minor=800, currency="USD")


def offer(payee: str, cents: int, reason: str) -> Entry:
    item = PaymentItem(payee, PaymentKind.COMPENSATION, cents, reason, reason)
    return Entry(item, f"AWORKER-{payee}", "ASSIGNMENT1", None)


@pytest.mark.parametrize("other", ["ref1", "ref2"])
@pytest.mark.parametrize("state", [PaymentState.WITHDRAWN, PaymentState.REFUSED])
def test_room_below_the_caps_comes_back_with_what_was_withdrawn(run, sessions, clock, other, state):
    def write(entry: Entry):
        with sessions.begin() as session:
            return ledger.record_payments(session, run, [entry], CAPS, clock())

    # Too much for the person where it is the same one, and for the run where it is another.
    second = offer(other, 400, "The second.")
    [first] = write(offer("ref1", 500, "The first."))
    with pytest.raises(PaymentError):
        write(second)
    ledger.claim_payment(sessions, first.id, clock())
    ledger.settle_payment(sessions, first.id, state, "words", clock())
    if state == PaymentState.WITHDRAWN:
        assert len(write(second)) == 1
    else:
        # What a platform refused is tried again, so it stays promised.
        with pytest.raises(PaymentError):
            write(second)
