"""The ledger: how payments are recorded, claimed and settled, each once.

A payment is recorded, claimed, and settled. ``webapp.payments.pay`` calls the platform between the
claim and the settlement; each step is committed before the next one begins.
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
from webapp.database.retry import run_in_transaction
from webapp.gate.gate import refuse_if_blocked
from webapp.gate.installation import Operation

# Longer than any call takes with its retries: the process of an older claim is gone.
CLAIM_TIMEOUT = timedelta(minutes=5)
# The prefix of the serial of a bonus that was paid by hand on the platform.
BY_HAND_PREFIX = "elsewhere\x1f"
_MARK_LENGTH = 12
_PAY_REST_REMEDY = "Pay the difference as a separate bonus, with a file and another reason"
_REMEDIES: dict[tuple[str, bool], str] = {
    (
        PaymentKind.COMPENSATION,
        False,
    ): "Replace the offer with --amend, or take it back with --withdraw",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A payment to record.

    Attributes:
        item: The payment and its reason.
        worker_id: The platform's id of the payee.
        assignment: The platform's id of the assignment on which it is paid; None while there is
            none.
        participant_id: The participant's key; None for a worker who never became a participant.
        category: The category of a rejection, if the platform requires one.
    """

    item: PaymentItem
    worker_id: str
    assignment: str | None
    participant_id: int | None
    category: str = ""


def find_line(entry: Entry, run_ref: str, lines: Iterable[Payment]) -> Payment | None:
    """Return the line of the ledger that already holds an entry; None if there is none.

    It is the line with the entry's token, or an equivalent line: the reward or the rejection of the
    same submission, or a bonus of the same worker for the same reason, even with other spacing or
    paid by hand on the platform. It may also be a bonus that carries this entry's mark, and was
    read from the platform after an older backup was restored: one of our own.
    """
    lines = list(lines)
    token = entry.item.token(run_ref)
    matching_line = next((line for line in lines if line.token == token), None)
    matching_line = matching_line or next(
        (line for line in lines if carries_mark(line, token)), None
    )
    return matching_line or next((line for line in lines if _is_equivalent(line, entry)), None)


def compute_bonus_mark(token: str) -> str:
    """Return the mark that identifies a bonus in the platform's list, which shows no tokens."""
    return f"[{token[:_MARK_LENGTH]}]"


def carries_mark(line: Payment, token: str) -> bool:
    """Return whether a bonus that was read from the platform carries the mark of a token."""
    is_paid_bonus = line.kind == PaymentKind.BONUS and line.state == PaymentState.DONE
    return is_paid_bonus and line.token != token and line.reason.endswith(compute_bonus_mark(token))


def _is_equivalent(line: Payment, entry: Entry) -> bool:
    if line.kind != entry.item.kind or line.state == PaymentState.WITHDRAWN:
        return False
    if line.kind == PaymentKind.BONUS:
        return (
            not entry.item.serial.startswith(BY_HAND_PREFIX)
            and line.worker_id == entry.worker_id
            and is_same_reason(line.reason, entry.item.reason)
        )
    return line.assignment is not None and line.assignment == entry.assignment


def refuse_other_amounts(run: Run, entries: Sequence[Entry], lines: Iterable[Payment]) -> None:
    """Check that no entry is in the ledger with another amount.

    Raises:
        PaymentError: An entry was decided, or paid, with another amount.
    """
    lines = list(lines)
    for entry in entries:
        line = find_line(entry, run.ref, lines)
        if line is None or line.amount_minor == entry.item.amount_minor:
            continue
        is_paid = line.state == PaymentState.DONE
        raise PaymentError(
            f"the {line.kind} of {entry.item.payee} for the reason"
            f' "{line.reason}" {"was paid" if is_paid else "was decided"} as'
            f" {in_words(line.amount_minor, line.currency)}, and cannot become"
            f" {in_words(entry.item.amount_minor, run.currency)}",
            where=f"run {run.ref}",
            remedy=_REMEDIES.get((line.kind, is_paid), _PAY_REST_REMEDY),
        )


@dataclass(frozen=True, slots=True)
class ClaimedPayment:
    """A payment that this process claimed.

    Attributes:
        payment: The payment; no other process makes it meanwhile.
        tried: Whether the platform was called for it before.
    """

    payment: Payment
    tried: bool


def record_payments(
    session: Session, run: Run, entries: Sequence[Entry], caps: Caps | None, now: datetime
) -> list[Payment]:
    """Return the payments of the entries, recording those that are not in the ledger.

    Args:
        session: An open session that writes.
        run: The run.
        entries: The entries.
        caps: The limits of pay; None for payments that were already made.
        now: The time.

    Raises:
        PaymentError: The payments exceed a limit, or one was recorded with another amount.
    """
    # Serialises two processes that record the same payments at the same time.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    lines = load_payments(session, run)
    refuse_other_amounts(run, entries, lines)
    existing_lines = [find_line(entry, run.ref, lines) for entry in entries]
    if caps is not None:
        new_amounts = [
            (entry.worker_id, entry.item.amount_minor)
            for entry, line in zip(entries, existing_lines, strict=True)
            if line is None
        ]
        refuse_over_caps(_sum_promised_by_worker(lines), new_amounts, caps)
    payments = [
        line or _build_payment(run, entry, now)
        for entry, line in zip(entries, existing_lines, strict=True)
    ]
    for entry, line in zip(entries, payments, strict=True):
        if carries_mark(line, token := entry.item.token(run.ref)):
            # The line was ours before an older backup was restored, and becomes so again.
            line.token, line.reason, line.called_at = token, entry.item.reason, line.made_at
    session.add_all(payments)
    session.flush()
    return payments


def load_payments(
    session: Session, run: Run, only: Sequence[int] | None = None
) -> Sequence[Payment]:
    """Return the run's ledger in order of writing, complete or of some participants only."""
    lines = select(Payment).where(Payment.run_id == run.id).order_by(Payment.id)
    if only is not None:
        lines = lines.where(Payment.participant_id.in_(only))
    return session.scalars(lines).all()


def _sum_promised_by_worker(payments: Iterable[Payment]) -> dict[str, int]:
    totals = dict[str, int]()
    for payment in payments:
        if payment.state != PaymentState.WITHDRAWN:
            totals[payment.worker_id] = totals.get(payment.worker_id, 0) + payment.amount_minor
    return totals


def _build_payment(run: Run, entry: Entry, now: datetime) -> Payment:
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


def claim_payment(sessions: Sessions, payment_id: int, now: datetime) -> ClaimedPayment | None:
    """Claim a payment for this process and return it; None if it must not be made.

    Reasons for None: it is done or withdrawn, another process has claimed it, its assignment is not
    known yet, or it is missing in the database, which was restored since.

    Raises:
        GateError: A fault blocks payments until it is repaired.
    """
    with sessions.begin() as session:
        # Checked for each payment: another copy may have taken over the right to pay.
        refuse_if_blocked(Operation.PAY, session.connection())
        payment = session.scalars(
            select(Payment).where(Payment.id == payment_id).with_for_update()
        ).one_or_none()
        if payment is None or is_settled(payment) or payment.assignment is None:
            return None
        if is_claimed(payment, now):
            return None
        was_tried = payment.called_at is not None
        payment.called_at = now
        is_ordered = payment.ordered_at is not None
        payment.state = PaymentState.ORDERED if is_ordered else PaymentState.CALLING
    return ClaimedPayment(payment, was_tried)


def is_settled(payment: Payment) -> bool:
    """Return whether a payment is done or withdrawn, which is final: no more calls are made."""
    return payment.state in SETTLED_FOR_GOOD


def is_claimed(payment: Payment, now: datetime) -> bool:
    """Return whether a process may be calling the platform for the payment at this moment."""
    return (
        payment.state in (PaymentState.CALLING, PaymentState.ORDERED)
        and payment.called_at is not None
        and now - payment.called_at < CLAIM_TIMEOUT
    )


def settle_payment(
    sessions: Sessions, payment_id: int, state: PaymentState, answer: str, now: datetime
) -> Payment:
    """Store a call's outcome and return the payment; a done payment stays done.

    The call cannot be made again, so this is repeated if the connection is lost.
    """
    settled_at = now if state in (PaymentState.DONE, PaymentState.REFUSED) else None

    def settle(session: Session) -> Payment:
        session.execute(
            update(Payment)
            .where(Payment.id == payment_id, Payment.state.not_in(SETTLED_FOR_GOOD))
            .values(state=state, answer=answer, settled_at=settled_at)
        )
        return session.scalars(select(Payment).where(Payment.id == payment_id)).one()

    return run_in_transaction(sessions, settle)
