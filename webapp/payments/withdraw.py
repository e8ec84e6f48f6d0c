"""What a person decides about one payment: an offer is taken back, a doubt is settled by hand."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentError, PaymentKind, PaymentState
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Payment, Run
from webapp.payments.ledger import is_claimed, payments_of, settle
from webapp.payments.paid_elsewhere import TAKEN_AS_PAID, is_by_hand
from webapp.recruiters.platform import Platform
from webapp.recruitment.publish import move_expiry


def offers_to(session: Session, run: Run, worker_id: str) -> tuple[Payment | None, int]:
    """Return the offer to a worker that stands, and how many earlier ones were withdrawn."""
    lines = [
        line
        for line in payments_of(session, run)
        if line.kind == PaymentKind.COMPENSATION and line.worker_id == worker_id
    ]
    standing = (line for line in lines if line.state != PaymentState.WITHDRAWN)
    return next(standing, None), sum(line.state == PaymentState.WITHDRAWN for line in lines)


def withdraw(sessions: Sessions, platform: Platform, payment: Payment, now: Clock) -> None:
    """Take back an offer of compensation that nobody has taken up.

    Args:
        sessions: The installation's.
        platform: Where the offer is.
        payment: The offer's line in the ledger.
        now: The clock.

    Raises:
        PaymentError: It was taken up, or is being taken up, or nobody knows whether it is posted.
        PlatformError: The platform cannot be asked; withdrawing again goes on from there.
    """
    if payment.assignment is not None:
        raise _taken_up("it was accepted and submitted", "Pay more with: parallax bonus RUN --file")
    with reading(sessions) as session:
        hit = session.scalars(select(Hit).where(Hit.token == payment.token)).one()
    if hit.platform_id is None and hit.called_at is not None:
        raise _taken_up(
            "it is not known whether the offer was posted", "First: parallax reconcile RUN --fix"
        )
    if hit.platform_id is not None:
        # Ended first and counted then: whoever accepts it in between is seen in the count.
        move_expiry(sessions, platform, hit.platform_id, now())
        if platform.state(hit.platform_id).available == 0:
            raise _taken_up(
                "its worker has accepted it",
                "Wait until the worker submits or returns it; pay any further amount as a bonus",
            )
    settle(sessions, payment.id, PaymentState.WITHDRAWN, "", now())


def settle_by_hand(
    sessions: Sessions, run: Run, payment_id: int, now: Clock, *, is_paid: bool
) -> Payment:
    """Settle a payment that the platform does not show, on the word of a person who looked there.

    Args:
        sessions: The installation's.
        run: The run.
        payment_id: The payment's number.
        now: The clock.
        is_paid: Whether it was paid; else the next attempt pays it anew. One that was refused,
            because a bonus that was paid by hand may be the same, becomes that one.

    Raises:
        PaymentError: There is no such payment in doubt.
    """
    with sessions.begin() as session:
        if is_paid and (same := _take_as_paid(session, run, payment_id, now())) is not None:
            return same
        payment = session.scalar(
            select(Payment)
            .where(Payment.id == payment_id, Payment.run_id == run.id)
            .where(Payment.state.in_((PaymentState.UNKNOWN, PaymentState.ORDERED)))
            .with_for_update()
        )
        if payment is None or is_claimed(payment, now()):
            raise PaymentError(
                f"payment {payment_id} is not in doubt",
                where=f"run {run.ref}",
                expected="the number of a payment that parallax reconcile lists as in doubt",
            )
        payment.set_up_id = payment.ordered_at = None
        payment.settled_at = now()
        payment.state = PaymentState.DONE if is_paid else PaymentState.REFUSED
        payment.answer = "" if is_paid else "not paid, as someone who checked by hand recorded"
    return payment


def _take_as_paid(session: Session, run: Run, payment_id: int, now: datetime) -> Payment | None:
    """Let a bonus that was refused beside one of its amount, paid by hand, be that one.

    The line that had it until now gives way, so that the sum stays what was paid.
    """
    # Two who do so at once must not take one line twice.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    payment = session.scalar(
        select(Payment)
        .where(Payment.id == payment_id, Payment.run_id == run.id)
        .where(Payment.state == PaymentState.REFUSED, Payment.ordered_at.is_(None))
        .with_for_update()
    )
    if payment is None:
        return None
    beside = session.scalars(
        select(Payment)
        .where(Payment.run_id == run.id, Payment.assignment == payment.assignment)
        .where(Payment.id != payment.id, Payment.amount_minor == payment.amount_minor)
        .order_by(Payment.id)
    )
    free = (line for line in beside if is_by_hand(line) and line.answer != TAKEN_AS_PAID)
    same = next(free, None)
    if same is None:
        return None
    same.state, same.answer = PaymentState.WITHDRAWN, f"is payment {payment.id}"
    # Without a call of ours: what is done so was read from the platform.
    payment.state, payment.answer = PaymentState.DONE, TAKEN_AS_PAID
    payment.called_at, payment.settled_at = None, now
    return payment


def _taken_up(problem: str, remedy: str) -> PaymentError:
    return PaymentError(f"the compensation cannot be withdrawn: {problem}", remedy=remedy)
