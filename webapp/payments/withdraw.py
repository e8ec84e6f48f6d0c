"""Withdrawing an offer of compensation before anybody accepts it."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentError, PaymentKind, PaymentState
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Payment, Run
from webapp.payments.ledger import payments_of, settle
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


def _taken_up(problem: str, remedy: str) -> PaymentError:
    return PaymentError(f"the compensation cannot be withdrawn: {problem}", remedy=remedy)
