"""The ledger's moves: a payment is written down, taken in hand, and settled.

The platform is called between the second and the third, by ``webapp.flow.pay``; each move is
committed before the next one begins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from experiment.payment import (
    Caps,
    Due,
    PaymentError,
    PaymentState,
    dollars,
    refuse_over_caps,
)
from webapp.db import Sessions
from webapp.models import Payment, Run

# Longer than any call takes with its retries: a payment in hand for longer was left by a process
# that is gone.
IN_HAND = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written down.

    Attributes:
        due: What to pay, and why.
        worker_id: What the platform calls the payee.
        assignment: The platform's id of the assignment it is paid on; None while there is none.
        participant_id: The participant's key; None for somebody who never became one.
    """

    due: Due
    worker_id: str
    assignment: str | None
    participant_id: int | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A payment in hand.

    Attributes:
        payment: The payment; nobody else makes it meanwhile.
        tried: Whether the platform was called for it before.
    """

    payment: Payment
    tried: bool


def write_down(
    session: Session, run: Run, entries: Sequence[Entry], caps: Caps | None, now: datetime
) -> list[Payment]:
    """Return the payments of those entries, each written now unless it was before.

    Args:
        session: An open session that writes.
        run: The run.
        entries: What is to stand in the ledger.
        caps: The most that may stand there; None for what was paid already.
        now: The time.

    Raises:
        PaymentError: They would be too much, or one was written down with another amount.
    """
    # Two processes that intend the same payments at the same time do so one after the other.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    before = {payment.token: payment for payment in payments_of(session, run)}
    _refuse_other_amounts(run, entries, before)
    fresh = [entry for entry in entries if entry.due.token(run.ref) not in before]
    if caps is not None:
        new = [(entry.worker_id, entry.due.amount_cents) for entry in fresh]
        refuse_over_caps(_promised_cents(before.values()), new, caps)
    payments = [_payment(run, entry, now) for entry in fresh]
    session.add_all(payments)
    session.flush()
    written = before | {payment.token: payment for payment in payments}
    return [written[entry.due.token(run.ref)] for entry in entries]


def payments_of(session: Session, run: Run) -> Sequence[Payment]:
    """Return the run's whole ledger, in the order it was written."""
    return session.scalars(
        select(Payment).where(Payment.run_id == run.id).order_by(Payment.id)
    ).all()


def _refuse_other_amounts(run: Run, entries: Sequence[Entry], before: dict[str, Payment]) -> None:
    for entry in entries:
        old = before.get(entry.due.token(run.ref))
        if old is not None and old.amount_cents != entry.due.amount_cents:
            raise PaymentError(
                f"the {old.kind} of {entry.due.payee} was written down as"
                f" {dollars(old.amount_cents)}, and cannot become"
                f" {dollars(entry.due.amount_cents)}",
                remedy="Pay the rest as a bonus of its own, with a file and another reason",
            )


def _promised_cents(payments: Iterable[Payment]) -> dict[str, int]:
    totals = dict[str, int]()
    for payment in payments:
        totals[payment.worker_id] = totals.get(payment.worker_id, 0) + payment.amount_cents
    return totals


def _payment(run: Run, entry: Entry, now: datetime) -> Payment:
    return Payment(
        run_id=run.id,
        participant_id=entry.participant_id,
        worker_id=entry.worker_id,
        assignment=entry.assignment,
        kind=entry.due.kind,
        amount_cents=entry.due.amount_cents,
        reason=entry.due.reason,
        token=entry.due.token(run.ref),
        state=PaymentState.INTENDED,
        made_at=now,
        answer="",
    )


def take(sessions: Sessions, payment_id: int, now: datetime) -> Taken | None:
    """Return the payment, in this process's hand from now on, or None where it must not be made.

    None stands for: it is done, another process has it in hand, or there is no assignment yet to
    pay it on.
    """
    with sessions.begin() as session:
        payment = session.scalars(
            select(Payment).where(Payment.id == payment_id).with_for_update()
        ).one()
        if payment.state == PaymentState.DONE or payment.assignment is None:
            return None
        if is_in_hand(payment, now):
            return None
        tried = payment.called_at is not None
        payment.state, payment.called_at = PaymentState.CALLING, now
    return Taken(payment, tried)


def is_in_hand(payment: Payment, now: datetime) -> bool:
    """Return whether a process may be calling the platform for the payment at this moment."""
    return (
        payment.state == PaymentState.CALLING
        and payment.called_at is not None
        and now - payment.called_at < IN_HAND
    )


def settle(
    sessions: Sessions, payment_id: int, state: PaymentState, answer: str, now: datetime
) -> Payment:
    """Store how the call ended, and return the payment; what is done stays done."""
    with sessions.begin() as session:
        session.execute(
            update(Payment)
            .where(Payment.id == payment_id, Payment.state != PaymentState.DONE)
            .values(
                state=state,
                answer=answer,
                settled_at=now if state in (PaymentState.DONE, PaymentState.REFUSED) else None,
            )
        )
        return session.scalars(select(Payment).where(Payment.id == payment_id)).one()
