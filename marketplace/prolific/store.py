"""The stand-in's database, and the clock that is kept in it."""

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
    """One transaction at one time.

    Attributes:
        session: The database; committed at the end.
        now: The time.
        account: The workspace.
    """

    session: Session
    now: datetime
    account: Account


class Store:
    """The stand-in's state: one SQLite file, so that a restart forgets nothing.

    Args:
        folder: Where the file lies.
        account: The workspace of a new stand-in; an old one keeps what it has.
        now: The clock that the stand-in's own runs ahead of.
        apply_expiry: Does whatever was due by the moment's time.
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
        """Yield a moment; whatever was due by then has happened."""
        with self._sessions.begin() as session:
            account = session.scalars(select(Account)).one()
            now = self._now() + timedelta(seconds=account.clock_ahead_s)
            moment = Moment(session, now, account)
            self._let_time_pass(moment)
            yield moment

    def advance(self, seconds: float) -> datetime:
        """Put the clock forward, or back, and return the new time."""
        with self._sessions.begin() as session:
            session.scalars(select(Account)).one().clock_ahead_s += seconds
        with self.moment() as moment:
            return moment.now
