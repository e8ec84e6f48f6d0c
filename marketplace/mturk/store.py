"""The marketplace's database, which also stores the offset of its clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from marketplace.mturk.expiry import apply_expiry
from marketplace.mturk.tables import Account, Base
from marketplace.storage import Clock, sqlite_engine

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
        ahead = session.scalars(select(Account.clock_ahead_s)).one()
        return self._now() + timedelta(seconds=ahead)
