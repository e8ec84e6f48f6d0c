"""Shared access to the database for servers, exclusive access for commands that replace it.

On PostgreSQL, an idle transaction holds the lock, for all machines and through a connection pooler;
on SQLite, a lock file next to the database does, for all processes of the machine. A lock ends with
its process, however the process ends.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from webapp.database.engine import DatabaseUnavailableError, make_engine
from webapp.database.locks import FileLock, long_lock
from webapp.errors import WebappError

# An arbitrary number that no other program uses as an advisory lock in the same database.
_LOCK_KEY = 0x7061_7261_6C6C_7573
_CHECK_INTERVAL_S = 10.0


class SharedLock(Protocol):
    """A server's shared lock."""

    def release(self) -> None:
        """Release the lock."""


def take_shared_lock(engine: Engine) -> SharedLock:
    """Return a server's shared lock, which any number of servers may hold.

    Raises:
        DatabaseUnavailableError: A command is upgrading or replacing the database at this moment.
        SQLAlchemyError: The database is unavailable.
    """
    if engine.dialect.name != "sqlite":
        return _DatabaseLock(engine)
    lock = FileLock(_lock_path(engine), shared=True)
    if not lock.acquire():
        raise _being_replaced_error()
    return lock


@contextmanager
def exclusive_access(engine: Engine) -> Iterator[None]:
    """Hold exclusive access to the database during the block: no server can start meanwhile.

    Raises:
        WebappError: A server is using the database, on this machine or another.
    """
    if engine.dialect.name == "sqlite":
        lock = FileLock(_lock_path(engine))
        if not lock.acquire():
            raise _in_use_error()
        try:
            yield
        finally:
            lock.release()
        return
    with engine.connect() as connection:
        if not long_lock(connection, _LOCK_KEY):
            raise _in_use_error()
        try:
            yield
        finally:
            # A lost connection has released the lock; what was done under it is done.
            with suppress(SQLAlchemyError):
                connection.rollback()


class _DatabaseLock:
    def __init__(self, engine: Engine) -> None:
        # A separate engine, so that the connection never returns to the pool.
        self._engine = make_engine(engine.url.render_as_string(hide_password=False))
        self._released = threading.Event()
        self._connection = self._take_lock()
        if self._connection is None:
            self._engine.dispose()
            raise _being_replaced_error()
        threading.Thread(target=self._keep_lock, name="use", daemon=True).start()

    def release(self) -> None:
        # Take the connection from the watching thread before it wakes: only one thread may use it.
        connection, self._connection = self._connection, None
        self._released.set()
        if connection is not None:
            # PostgreSQL releases the lock some time after a disconnect, so release it explicitly.
            with suppress(SQLAlchemyError):
                connection.rollback()
            _close_for_good(connection)
        self._engine.dispose()

    def _take_lock(self) -> Connection | None:
        with ExitStack() as closing:
            connection = closing.enter_context(self._engine.connect())
            if not long_lock(connection, _LOCK_KEY, shared=True):
                return None
            closing.pop_all()
            return connection

    def _keep_lock(self) -> None:
        """Take the lock again whenever a restart of the database has released it."""
        while not self._released.wait(_CHECK_INTERVAL_S):
            try:
                if self._connection is None:
                    self._connection = self._take_lock()
                else:
                    self._connection.execute(text("SELECT 1"))
            except SQLAlchemyError:
                self._drop_connection()
        # Release a lock that was taken while ``release`` was running.
        self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            _close_for_good(connection)


def _close_for_good(connection: Connection) -> None:
    connection.invalidate()
    connection.close()


def _lock_path(engine: Engine) -> Path:
    return Path(f"{engine.url.database}-use")


def _in_use_error() -> WebappError:
    return WebappError(
        "a server is using the database",
        where="database_url",
        remedy=(
            "First stop every server that uses it, on other machines too: parallax stop, or "
            "systemctl stop parallax"
        ),
    )


def _being_replaced_error() -> DatabaseUnavailableError:
    return DatabaseUnavailableError(
        "the database is being upgraded or restored",
        where="database_url",
        remedy="Wait until that has finished",
    )
