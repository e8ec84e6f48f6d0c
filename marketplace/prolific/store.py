"""The stand-in's database, which also stores the offset of its clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from marketplace.prolific.tables import Account, Base, Project
from marketplace.storage import Clock, sqlite_engine

EXTENSION = "prolific"
_FILE = "prolific.sqlite3"


@dataclass(frozen=True, slots=True)
class Moment:
    """One transaction at a fixed time.

    Attributes:
        session: The database session; committed at the end.
        now: The time.
        account: The workspace.
    """

    session: Session
    now: datetime
    account: Account


class Store:
    """The stand-in's state in one SQLite file, so that a restart loses nothing.

    Args:
        folder: The file's folder.
        account: The workspace of a new stand-in; an existing one keeps its own.
        now: The real clock; the stand-in's clock runs ahead of it by an adjustable time.
        apply_expiry: Applies all changes that are due by the moment's time.
    """

    def __init__(
        self,
        folder: Path,
        account: Callable[[], dict[str, Any]],
        now: Clock,
        apply_expiry: Callable[[Moment], None],
    ) -> None:
        self._now, self._let_time_pass = now, apply_expiry
        self.engine = sqlite_engine(folder.resolve() / _FILE)
        Base.metadata.create_all(self.engine)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        with self._sessions.begin() as session:
            if session.scalar(select(Account)) is None:
                session.add_all([Account(**account()), Project(title="Project")])

    @contextmanager
    def moment(self) -> Iterator[Moment]:
        """Yield a moment, after all changes due by then were applied."""
        with self._sessions.begin() as session:
            account = session.scalars(select(Account)).one()
            now = self._now() + timedelta(seconds=account.clock_ahead_s)
            moment = Moment(session, now, account)
            self._let_time_pass(moment)
            yield moment

    def advance(self, seconds: float) -> datetime:
        """Move the clock forward or back, and return the new time."""
        with self._sessions.begin() as session:
            session.scalars(select(Account)).one().clock_ahead_s += seconds
        with self.moment() as moment:
            return moment.now
