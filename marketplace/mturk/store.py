"""The marketplace's database, whose transactions first apply the changes that are due."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import bindparam, exists, or_, select
from sqlalchemy.orm import Session, sessionmaker

from marketplace.mturk.events import notify_subscribers
from marketplace.mturk.hits import hit_status, place_counts
from marketplace.mturk.money import pay_reward
from marketplace.mturk.tables import Account, Assignment, Base, Hit
from marketplace.storage import Clock, UtcDateTime, sqlite_engine

_DISPOSED_AFTER = timedelta(days=120)
_NOW, _EXPIRED_BY = (bindparam(name, type_=UtcDateTime) for name in ("now", "expired_by"))
_OVERDUE = (Assignment.status == "accepted", Assignment.deadline <= _NOW)
_UNDECIDED = (Assignment.status == "submitted", Assignment.auto_approval_at <= _NOW)
_EXPIRED = (Hit.expiry_notified.is_(False), Hit.expires_at <= _NOW, Hit.disposed_at.is_(None))
_OLD = (Hit.disposed_at.is_(None), Hit.expires_at <= _EXPIRED_BY)
# Every call checks, and usually nothing is due: so one prepared query checks all of it.
_IS_DUE = select(or_(*(exists().where(*due) for due in (_OVERDUE, _UNDECIDED, _EXPIRED, _OLD))))


def apply_expiry(session: Session, now: datetime) -> None:
    """Apply all changes that are due by now."""
    if not session.scalar(_IS_DUE, {"now": now, "expired_by": now - _DISPOSED_AFTER}):
        return
    _abandon_overdue(session, now)
    _approve_undecided(session, now)
    _expire_hits(session, now)
    _dispose_old_hits(session, now)


def notify_if_reviewable(session: Session, hit: Hit, now: datetime) -> None:
    """Send the HITReviewable event, once, when all work on a HIT can be reviewed."""
    session.flush()
    if (
        not hit.reviewable_notified
        and hit_status(hit, place_counts(session, hit), now) == "Reviewable"
    ):
        hit.reviewable_notified = True
        notify_subscribers(session, "HITReviewable", hit, now)


def _abandon_overdue(session: Session, now: datetime) -> None:
    for assignment in session.scalars(select(Assignment).where(*_OVERDUE), {"now": now}).all():
        assignment.status = "abandoned"
        notify_subscribers(session, "AssignmentAbandoned", assignment.hit, now, assignment)
        notify_if_reviewable(session, assignment.hit, now)


def _approve_undecided(session: Session, now: datetime) -> None:
    for assignment in session.scalars(select(Assignment).where(*_UNDECIDED), {"now": now}).all():
        pay_reward(session, assignment, now)


def _expire_hits(session: Session, now: datetime) -> None:
    for hit in session.scalars(select(Hit).where(*_EXPIRED), {"now": now}).all():
        hit.expiry_notified = True
        notify_subscribers(session, "HITExpired", hit, now)
        notify_if_reviewable(session, hit, now)


def _dispose_old_hits(session: Session, now: datetime) -> None:
    expired_by = {"expired_by": now - _DISPOSED_AFTER}
    for hit in session.scalars(select(Hit).where(*_OLD), expired_by).all():
        hit.disposed_at = now
        notify_subscribers(session, "HITDisposed", hit, now)


EXTENSION = "marketplace"
_FILE = "marketplace.sqlite3"


class Store:
    """The marketplace's state in one SQLite file, so that a restart loses nothing.

    Args:
        folder: The file's folder.
        deposit_cents: The play money of a new marketplace; an existing one keeps its own.
        now: The real clock; the marketplace's clock runs ahead of it by an adjustable time.
    """

    def __init__(self, folder: Path, deposit_cents: int, now: Clock) -> None:
        self._now = now
        self.engine = sqlite_engine(folder.resolve() / _FILE)
        Base.metadata.create_all(self.engine)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        with self._sessions.begin() as session:
            if session.scalar(select(Account)) is None:
                session.add(Account(deposited_cents=deposit_cents, clock_ahead_s=0.0))

    @contextmanager
    def moment(self) -> Iterator[tuple[Session, datetime]]:
        """Yield a database session that commits at the end, and the time.

        All changes due by then are applied first: assignments abandoned or auto-approved, HITs
        expired.
        """
        with self._sessions.begin() as session:
            now = self._time(session)
            apply_expiry(session, now)
            yield session, now

    def advance(self, seconds: float) -> datetime:
        """Move the clock forward or back, and return the new time."""
        with self._sessions.begin() as session:
            session.scalars(select(Account)).one().clock_ahead_s += seconds
        with self.moment() as (_, now):
            return now

    def deposit(self, cents: int) -> None:
        """Add play money to the requester's balance, or remove some."""
        with self._sessions.begin() as session:
            session.scalars(select(Account)).one().deposited_cents += cents

    def _time(self, session: Session) -> datetime:
        ahead_s = session.scalars(select(Account.clock_ahead_s)).one()
        return self._now() + timedelta(seconds=ahead_s)
