"""A payment in doubt is settled on the word of a person, who looked after the last attempt."""

from datetime import timedelta

import pytest

from experiment.payment.payment import PaymentError, PaymentState
from tests.webapp.payments.by_hand import written
from webapp.database.engine import reading
from webapp.database.models import Payment, Run
from webapp.payments.non_idempotent_bonuses import settle_by_hand

pytestmark = pytest.mark.one_database
LOOKED = timedelta(minutes=30)


@pytest.mark.parametrize(
    ("fields", "looked_at", "problem"),
    [
        ({"state": "done"}, None, "not in doubt"),
        ({"state": "intended"}, None, "not in doubt"),
        ({"state": "ordered", "called_at": LOOKED}, None, "not in doubt"),
        ({"state": "ordered", "called_at": -LOOKED}, None, ""),
        ({"called_at": LOOKED}, None, ""),
        ({"called_at": LOOKED}, LOOKED, ""),
        ({"called_at": LOOKED}, LOOKED - timedelta(seconds=1), "was tried again"),
        ({"ordered_at": LOOKED}, LOOKED - timedelta(seconds=1), "was tried again"),
        ({"ordered_at": -LOOKED, "called_at": LOOKED}, LOOKED - timedelta(seconds=1), ""),
        ({}, LOOKED, ""),
    ],
)
def test_a_payment_in_doubt_is_settled_by_who_looked_after_the_last_attempt(
    run, sessions, clock, fields, looked_at, problem
):
    launched = clock()
    clock.go_on(minutes=30)  # what lies on LOOKED is now
    given = {
        name: launched + value if isinstance(value, timedelta) else value
        for name, value in fields.items()
    }
    beside = written(sessions, run)
    for is_paid in (False, True):
        row = written(sessions, run, set_up_id="S", **given)
        with reading(sessions) as session:
            there = session.get_one(Run, run.id)

        def settle(run=there, number=row.id, is_paid=is_paid):
            at = None if looked_at is None else launched + looked_at
            return settle_by_hand(sessions, run, number, clock, is_paid=is_paid, looked_at=at)

        with pytest.raises(PaymentError, match="not in doubt"):
            settle(number=999)
        if problem:
            with pytest.raises(PaymentError, match=problem):
                settle()
            continue
        found = settle()
        assert (found.id, found.ordered_at, found.set_up_id) == (row.id, None, None)
        assert found.state == (PaymentState.DONE if is_paid else PaymentState.REFUSED)
        assert (found.answer == "") == is_paid and found.settled_at == clock()
    with reading(sessions) as session:
        assert session.get_one(Payment, beside.id).state == "unknown"


def test_what_was_refused_becomes_what_was_paid_by_hand_only_where_it_is_said_to_be(
    run, sessions, clock
):
    by_hand = written(sessions, run, state="done")
    refused = written(sessions, run, state="refused")
    with pytest.raises(PaymentError, match="not in doubt"):
        settle_by_hand(sessions, run, refused.id, clock, is_paid=False)
    other = Run(id=99, ref="other")
    with pytest.raises(PaymentError, match="not in doubt"):
        settle_by_hand(sessions, other, refused.id, clock, is_paid=True)
    found = settle_by_hand(sessions, run, refused.id, clock, is_paid=True)
    assert (found.id, found.state, found.answer) == (refused.id, "done", "paid by hand")
    with reading(sessions) as session:
        assert session.get_one(Payment, by_hand.id).state == "withdrawn"
    doubtful = written(sessions, run)
    with pytest.raises(PaymentError, match="not in doubt"):
        settle_by_hand(sessions, other, doubtful.id, clock, is_paid=True)
