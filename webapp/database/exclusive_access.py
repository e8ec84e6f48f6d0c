"""Access to the database: servers share it; a command that replaces it needs it exclusively.

On PostgreSQL the database itself keeps the lock, for every machine; on SQLite a file beside the
database's does, for every process of the one machine. A lock ends with its process, however that
ends.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from webapp.database.engine import DatabaseAwayError, make_engine
from webapp.database.locks import FileLock, connection_lock, connection_unlock
from webapp.errors import WebappError

# Any number that no other program takes for a lock of the same PostgreSQL database.
_LOCK = 0x7061_7261_6C6C_7573
_BETWEEN_LOOKS_S = 10.0


class Hold(Protocol):
    """A server's share of the lock."""

    def release(self) -> None:
        """Release it."""


def hold(engine: Engine) -> Hold:
    """Return a server's share of the lock, which any number of servers hold at a time.

    Raises:
        DatabaseAwayError: Somebody is upgrading or replacing the database at this moment.
        SQLAlchemyError: The database does not answer.
    """
    if engine.dialect.name != "sqlite":
        return _InDatabase(engine)
    lock = FileLock(_file(engine), shared=True)
    if not lock.acquire():
        raise _being_replaced()
    return lock


@contextmanager
def exclusive_access(engine: Engine) -> Iterator[None]:
    """Hold exclusive access to the database for the time of the block: no server starts meanwhile.

    Raises:
        WebappError: A server uses it, on this machine or another.
    """
    if engine.dialect.name == "sqlite":
        lock = FileLock(_file(engine))
        if not lock.acquire():
            raise _in_use()
        try:
            yield
        finally:
            lock.release()
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection_lock(connection, _LOCK, shared=False):
            raise _in_use()
        try:
            yield
        finally:
            with suppress(SQLAlchemyError):
                connection_unlock(connection, _LOCK)


class _InDatabase:
    def __init__(self, engine: Engine) -> None:
        # A connection of its own, which nobody gets from the pool.
        self._engine = make_engine(engine.url.render_as_string(hide_password=False))
        self._released = threading.Event()
        self._connection = self._taken()
        if self._connection is None:
            self._engine.dispose()
            raise _being_replaced()
        threading.Thread(target=self._keep, name="use", daemon=True).start()

    def release(self) -> None:
        # Taken from the thread that watches it before that one wakes: only one of them may use it.
        connection, self._connection = self._connection, None
        self._released.set()
        if connection is not None:
            # The database lets go some time after a connection has ended, so it is told before.
            with suppress(SQLAlchemyError):
                connection_unlock(connection, _LOCK, shared=True)
            _end(connection)
        self._engine.dispose()

    def _taken(self) -> Connection | None:
        with ExitStack() as closing:
            connection = closing.enter_context(self._engine.connect())
            connection.execution_options(isolation_level="AUTOCOMMIT")
            if not connection_lock(connection, _LOCK, shared=True):
                return None
            closing.pop_all()
            return connection

    def _keep(self) -> None:
        """Take the lock again whenever the database, restarted, has forgotten it."""
        while not self._released.wait(_BETWEEN_LOOKS_S):
            try:
                if self._connection is None:
                    self._connection = self._taken()
                else:
                    self._connection.execute(text("SELECT 1"))
            except SQLAlchemyError:
                self._let_go()
        # What was taken while the hold was given back, nobody else lets go.
        self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            _end(connection)


def _end(connection: Connection) -> None:
    connection.invalidate()
    connection.close()


def _file(engine: Engine) -> Path:
    return Path(f"{engine.url.database}-use")


def _in_use() -> WebappError:
    return WebappError(
        "a server is using the database",
        where="database_url",
        remedy=(
            "First stop every server that uses it, on other machines too: parallax stop, or "
            "systemctl stop parallax"
        ),
    )


def _being_replaced() -> DatabaseAwayError:
    return DatabaseAwayError(
        "the database is being upgraded or restored",
        where="database_url",
        remedy="Wait until that has finished",
    )
