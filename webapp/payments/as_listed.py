"""What a platform lists of a payment: whether it was made, and what stands beside it."""

from dataclasses import replace

from sqlalchemy import select

from experiment.payment.payment import PaymentKind
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment
from webapp.payments.entry import mark_of
from webapp.payments.paid_elsewhere import OtherLines, refuse_paid_elsewhere
from webapp.recruiters.capabilities import BonusesForAnybody, TokenBonuses
from webapp.recruiters.platform import Bonus, Platform, PlatformError
from webapp.recruiters.statuses import PAID_STATUSES, AssignmentStatus


def is_bonus_of(platform: Platform, payment: Payment) -> bool:
    """Return whether the platform pays this as a bonus; some pay compensation so too."""
    by_bonus = isinstance(platform, BonusesForAnybody)
    return payment.kind == PaymentKind.BONUS or (
        payment.kind == PaymentKind.COMPENSATION and by_bonus
    )


def is_made(platform: Platform, payment: Payment) -> bool:
    """Return whether the platform lists the payment (or the rejection) as made.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    assert payment.assignment is not None
    submission = platform.submission(payment.assignment)
    if payment.kind == PaymentKind.REJECTION:
        return submission.status is AssignmentStatus.REJECTED
    if payment.kind != PaymentKind.BONUS:
        return submission.status in PAID_STATUSES
    listed = _bonuses_on(platform, payment, submission.offer_id)
    return any(mark(payment) in bonus.reason for bonus in listed)


def _bonuses_on(platform: Platform, payment: Payment, offer_id: str) -> list[Bonus]:
    listed = with_tokens(platform).bonuses(offer_id)
    return [bonus for bonus in listed if bonus.assignment_id == payment.assignment]


def refuse_beside_others(
    sessions: Sessions, platform: Platform, payment: Payment, *, additional: bool
) -> None:
    """Let a bonus pass only if everything that the platform lists beside it is accounted for.

    Raises:
        PlatformError: Something is not, or the platform cannot be asked.
    """
    assert payment.assignment is not None
    listed = _bonuses_on(platform, payment, platform.submission(payment.assignment).offer_id)
    with reading(sessions) as session:
        others = OtherLines.of(session, payment)
        lines = session.scalars(select(Payment).where(Payment.run_id == payment.run_id)).all()
    marks = {mark(line) for line in lines}
    # Those with a mark of ours are lines of their own, whether settled or not.
    shown = [b.amount_minor for b in listed if not any(each in b.reason for each in marks)]
    refuse_paid_elsewhere(payment, shown, replace(others, ours=()), additional=additional)


def with_tokens(platform: Platform) -> TokenBonuses:
    """Return the platform as one that pays bonuses with tokens.

    Raises:
        PlatformError: It pays none.
    """
    if not isinstance(platform, TokenBonuses):
        raise PlatformError("the platform pays no bonuses", where=platform.endpoint)
    return platform


def mark(payment: Payment) -> str:
    """Return what finds a bonus again in the platform's list, which knows no tokens."""
    return mark_of(payment.token)
