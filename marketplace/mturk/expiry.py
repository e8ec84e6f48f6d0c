"""Changes that happen as time passes: abandonment, automatic approval, expiry, disposal."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists, or_, select
from sqlalchemy.orm import Session

from marketplace.mturk.events import tell
from marketplace.mturk.hits import place_counts, status
from marketplace.mturk.money import pay_reward
from marketplace.mturk.tables import Assignment, Hit
from marketplace.storage import UtcDateTime

_DISPOSED_AFTER = timedelta(days=120)
_NOW, _EXPIRED_BY = (bindparam(name, type_=UtcDateTime) for name in ("now", "expired_by"))
_OVERDUE = (Assignment.status == "accepted", Assignment.deadline <= _NOW)
_UNDECIDED = (Assignment.status == "submitted", Assignment.auto_approval_at <= _NOW)
_EXPIRED = (Hit.expiry_told.is_(False), Hit.expires_at <= _NOW, Hit.disposed_at.is_(None))
_OLD = (Hit.disposed_at.is_(None), Hit.expires_at <= _EXPIRED_BY)
# Every call checks, and usually nothing is due: so one prepared query checks all of it.
_IS_DUE = select(or_(*(exists().where(*due) for due in (_OVERDUE, _UNDECIDED, _EXPIRED, _OLD))))


def apply_expiry(session: Session, now: datetime) -> None:
    """Apply all changes that are due by now."""
    if not session.scalar(_IS_DUE, {"now": now, "expired_by": now - _DISPOSED_AFTER}):
        return
    _abandon(session, now)
    _approve(session, now)
    _expire(session, now)
    _dispose(session, now)


def tell_if_reviewable(session: Session, hit: Hit, now: datetime) -> None:
    """Send the HITReviewable event, once, when all work on a HIT can be reviewed."""
    session.flush()
    if not hit.reviewable_told and status(hit, place_counts(session, hit), now) == "Reviewable":
        hit.reviewable_told = True
        tell(session, "HITReviewable", hit, now)


def _abandon(session: Session, now: datetime) -> None:
    for assignment in session.scalars(select(Assignment).where(*_OVERDUE), {"now": now}).all():
        assignment.status = "abandoned"
        tell(session, "AssignmentAbandoned", assignment.hit, now, assignment)
        tell_if_reviewable(session, assignment.hit, now)


def _approve(session: Session, now: datetime) -> None:
    for assignment in session.scalars(select(Assignment).where(*_UNDECIDED), {"now": now}).all():
        pay_reward(session, assignment, now)


def _expire(session: Session, now: datetime) -> None:
    for hit in session.scalars(select(Hit).where(*_EXPIRED), {"now": now}).all():
        hit.expiry_told = True
        tell(session, "HITExpired", hit, now)
        tell_if_reviewable(session, hit, now)


def _dispose(session: Session, now: datetime) -> None:
    expired_by = {"expired_by": now - _DISPOSED_AFTER}
    for hit in session.scalars(select(Hit).where(*_OLD), expired_by).all():
        hit.disposed_at = now
        tell(session, "HITDisposed", hit, now)
