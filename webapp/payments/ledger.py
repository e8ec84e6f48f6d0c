"""The ledger: an entry, the line that holds it already, and the steps of a line.

A payment is recorded, taken in hand, and settled. The platform is called between the second and the
third, by ``webapp.payments.pay``; each move is committed before the next one begins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import (
    SETTLED_FOR_GOOD,
    Caps,
    PaymentError,
    PaymentItem,
    PaymentKind,
    PaymentState,
    is_same_reason,
    refuse_over_caps,
)
from webapp.database.engine import Sessions
from webapp.database.models import Payment, Run
from webapp.gate.gate import refuse
from webapp.gate.installation import Operation

# Longer than any call takes with its retries: a payment in hand for longer was left by a process
# that is gone.
CLAIM_TIMEOUT = timedelta(minutes=5)
# How the serial of a bonus begins that was paid by hand on the platform.
BY_HAND = "elsewhere\x1f"
_MARK_LENGTH = 12
_PAY_THE_REST = "Pay the difference as a separate bonus, with a file and another reason"
_REMEDIES: dict[tuple[str, bool], str] = {
    (
        PaymentKind.COMPENSATION,
        False,
    ): "Replace the offer with --amend, or take it back with --withdraw",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written down.

    Attributes:
        item: What to pay, and why.
        worker_id: What the platform calls the payee.
        assignment: The platform's id of the assignment it is paid on; None while there is none.
        participant_id: The participant's key; None for somebody who never became one.
        category: Of a rejection, where the platform asks for one.
    """

    item: PaymentItem
    worker_id: str
    assignment: str | None
    participant_id: int | None
    category: str = ""


def line_of(entry: Entry, run_ref: str, lines: Iterable[Payment]) -> Payment | None:
    """Return the line of the ledger that is this entry's already; None where there is none.

    It is the line with the entry's token. It is also a line that only says the same in another
    way: the reward or the rejection of the same submission, or a bonus of the same worker for the
    same reason, be it spelled with other spaces or paid by hand on the platform. Or it is a bonus
    that carries this entry's mark, and was read from the platform after an older backup was
    restored: our own.
    """
    lines = list(lines)
    token = entry.item.token(run_ref)
    same = next((line for line in lines if line.token == token), None)
    same = same or next((line for line in lines if is_marked(line, token)), None)
    return same or next((line for line in lines if _says_the_same(line, entry)), None)


def mark_of(token: str) -> str:
    """Return what finds a bonus again in the platform's list, which knows no tokens."""
    return f"[{token[:_MARK_LENGTH]}]"


def is_marked(line: Payment, token: str) -> bool:
    """Return whether a bonus that was read from the platform carries the mark of a token."""
    found = line.kind == PaymentKind.BONUS and line.state == PaymentState.DONE
    return found and line.token != token and line.reason.endswith(mark_of(token))


def _says_the_same(line: Payment, entry: Entry) -> bool:
    if line.kind != entry.item.kind or line.state == PaymentState.WITHDRAWN:
        return False
    if line.kind == PaymentKind.BONUS:
        return (
            not entry.item.serial.startswith(BY_HAND)
            and line.worker_id == entry.worker_id
            and is_same_reason(line.reason, entry.item.reason)
        )
    return line.assignment is not None and line.assignment == entry.assignment


def refuse_other_amounts(run: Run, entries: Sequence[Entry], lines: Iterable[Payment]) -> None:
    """Let pass only entries that stand in the ledger with the same amount, or not at all.

    Raises:
        PaymentError: One was decided, or paid, with another amount.
    """
    lines = list(lines)
    for entry in entries:
        line = line_of(entry, run.ref, lines)
        if line is None or line.amount_minor == entry.item.amount_minor:
            continue
        done = line.state == PaymentState.DONE
        raise PaymentError(
            f"the {line.kind} of {entry.item.payee} for the reason"
            f' "{line.reason}" {"was paid" if done else "was decided"} as'
            f" {in_words(line.amount_minor, line.currency)}, and cannot become"
            f" {in_words(entry.item.amount_minor, run.currency)}",
            where=f"run {run.ref}",
            remedy=_REMEDIES.get((line.kind, done), _PAY_THE_REST),
        )


@dataclass(frozen=True, slots=True)
class ClaimedPayment:
    """A payment in hand.

    Attributes:
        payment: The payment; nobody else makes it meanwhile.
        tried: Whether the platform was called for it before.
    """

    payment: Payment
    tried: bool


def record_payments(
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
    lines = payments_of(session, run)
    refuse_other_amounts(run, entries, lines)
    found = [line_of(entry, run.ref, lines) for entry in entries]
    if caps is not None:
        new = [
            (entry.worker_id, entry.item.amount_minor)
            for entry, line in zip(entries, found, strict=True)
            if line is None
        ]
        refuse_over_caps(_promised_minor(lines), new, caps)
    payments = [
        line or _payment(run, entry, now) for entry, line in zip(entries, found, strict=True)
    ]
    for entry, line in zip(entries, payments, strict=True):
        if is_marked(line, token := entry.item.token(run.ref)):
            # It was ours before an older backup was restored, and is so again.
            line.token, line.reason, line.called_at = token, entry.item.reason, line.made_at
    session.add_all(payments)
    session.flush()
    return payments


def payments_of(session: Session, run: Run, only: Sequence[int] | None = None) -> Sequence[Payment]:
    """Return the run's ledger in the order it was written, whole or of some participants alone."""
    lines = select(Payment).where(Payment.run_id == run.id).order_by(Payment.id)
    if only is not None:
        lines = lines.where(Payment.participant_id.in_(only))
    return session.scalars(lines).all()


def _promised_minor(payments: Iterable[Payment]) -> dict[str, int]:
    totals = dict[str, int]()
    for payment in payments:
        if payment.state != PaymentState.WITHDRAWN:
            totals[payment.worker_id] = totals.get(payment.worker_id, 0) + payment.amount_minor
    return totals


def _payment(run: Run, entry: Entry, now: datetime) -> Payment:
    return Payment(
        run_id=run.id,
        participant_id=entry.participant_id,
        worker_id=entry.worker_id,
        assignment=entry.assignment,
        kind=entry.item.kind,
        amount_minor=entry.item.amount_minor,
        currency=run.currency,
        category=entry.category,
        reason=entry.item.reason,
        token=entry.item.token(run.ref),
        state=PaymentState.INTENDED,
        made_at=now,
        answer="",
    )


def claim(sessions: Sessions, payment_id: int, now: datetime) -> ClaimedPayment | None:
    """Return the payment, in this process's hand from now on, or None where it must not be made.

    None stands for: it is done or withdrawn, another process has it in hand, there is no
    assignment yet to pay it on, or it is not in the database, which was put back since.

    Raises:
        GateError: Nothing is paid until something is mended.
    """
    with sessions.begin() as session:
        # Once more for each payment: another copy may have taken over the right to pay.
        refuse(Operation.PAY, session.connection())
        payment = session.scalars(
            select(Payment).where(Payment.id == payment_id).with_for_update()
        ).one_or_none()
        if payment is None or is_settled(payment) or payment.assignment is None:
            return None
        if is_claimed(payment, now):
            return None
        tried = payment.called_at is not None
        payment.called_at = now
        is_ordered = payment.ordered_at is not None
        payment.state = PaymentState.ORDERED if is_ordered else PaymentState.CALLING
    return ClaimedPayment(payment, tried)


def is_settled(payment: Payment) -> bool:
    """Return whether it is done or withdrawn, and stays so: nothing is called for it any more."""
    return payment.state in SETTLED_FOR_GOOD


def is_claimed(payment: Payment, now: datetime) -> bool:
    """Return whether a process may be calling the platform for the payment at this moment."""
    return (
        payment.state in (PaymentState.CALLING, PaymentState.ORDERED)
        and payment.called_at is not None
        and now - payment.called_at < CLAIM_TIMEOUT
    )


def settle(
    sessions: Sessions, payment_id: int, state: PaymentState, answer: str, now: datetime
) -> Payment:
    """Store how the call ended, and return the payment; what is done stays done."""
    with sessions.begin() as session:
        session.execute(
            update(Payment)
            .where(Payment.id == payment_id, Payment.state.not_in(SETTLED_FOR_GOOD))
            .values(
                state=state,
                answer=answer,
                settled_at=now if state in (PaymentState.DONE, PaymentState.REFUSED) else None,
            )
        )
        return session.scalars(select(Payment).where(Payment.id == payment_id)).one()
