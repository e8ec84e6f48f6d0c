"""Turns for those who write to SQLite, which has one writer at a time.

SQLite itself waits by sleeping, up to a tenth of a second between two attempts. A writer that comes
back quickly, as answers do, would let the others wait for seconds. Therefore the threads of a
process queue here and are woken when it is their turn. The processes of a machine lock a file next
to the database and try every half millisecond. The next process in line holds a second file, so a
process that has just written cannot take another turn while the next one sleeps. For other writers,
such as SQLite's own shell, the thread also waits in short pauses: SQLite's own wait would block the
whole process.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from webapp.database.locks import FileLock


class FairLock:
    """A lock between threads that goes to the thread that has waited longest.

    Who says that they are quick go before the others, but never twice in a row: after each of them,
    one of the others has a turn.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting, self._quick = deque[Lock](), deque[Lock]()
        self._taken = self._by_quick = False

    def acquire(self, timeout_s: float, *, quick: bool = False) -> bool:
        """Wait for the lock, and return whether it came in time.

        Args:
            timeout_s: How long to wait.
            quick: Whether it will be given back at once.
        """
        gate = Lock()
        gate.acquire()
        with self._lock:
            if not self._taken:
                self._taken, self._by_quick = True, quick
                return True
            (self._quick if quick else self._waiting).append(gate)
        try:
            came = gate.acquire(timeout=timeout_s)
        except BaseException:
            # Interrupted: nobody would take the lock that is handed to this gate.
            if not self._leave(gate):
                self.release()
            raise
        # It may have been handed over in the very moment that the time was over.
        return came or not self._leave(gate)

    def release(self) -> None:
        """Hand the lock over."""
        with self._lock:
            self._by_quick = bool(self._quick) and not (self._by_quick and self._waiting)
            if self._by_quick:
                self._quick.popleft().release()
            elif self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def _leave(self, gate: Lock) -> bool:
        """Wait no longer, and return whether the lock had not come yet."""
        with self._lock:
            for waiting in (self._waiting, self._quick):
                if gate in waiting:
                    waiting.remove(gate)
                    return True
            return False


_PATIENCE_S = 30.0
_BETWEEN_LOOKS_S = 0.0005
_PAUSE_S = 0.05
_MINE, _BEGIN = "turn", "BEGIN IMMEDIATE"


class WriteLock:
    """The right to write, held by one thread of one process at a time.

    Args:
        path: The file that processes lock; the file of the next in line has a longer name.
    """

    def __init__(self, path: Path) -> None:
        self._threads, self._processes = FairLock(), FileLock(path)
        self._next = FileLock(path.with_name(f"{path.name}-next"))

    def acquire(self, *, quick: bool = False) -> bool:
        """Wait for the right, and return whether it came in time.

        Args:
            quick: Whether it will be given back at once: then this process's others let it pass.

        Raises:
            OSError: The file cannot be opened or locked; the next one may fare better, and need
                not wait for this.
        """
        until = monotonic() + _PATIENCE_S
        if not self._threads.acquire(_PATIENCE_S, quick=quick):
            return False
        held = False
        try:
            held = self._acquire_among_processes(until)
        finally:
            if not held:
                self._processes.release()
                self._threads.release()
        return held

    def _acquire_among_processes(self, until: float) -> bool:
        if not self._next.acquire(until - monotonic(), _BETWEEN_LOOKS_S):
            return False
        try:
            return self._processes.acquire(until - monotonic(), _BETWEEN_LOOKS_S)
        finally:
            self._next.release()

    def release(self) -> None:
        """Let the next one write."""
        try:
            self._processes.release()
        finally:
            self._threads.release()


_LOCKS = WeakKeyDictionary[Engine, WriteLock]()


def serialize_writers(engine: Engine) -> None:
    """Let each writing transaction of the engine begin when those before it are over."""
    lock = WriteLock(Path(f"{engine.url.database}-turn"))

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("reading", False):
            connection.exec_driver_sql("BEGIN")
            return
        try:
            _begin_in_turn(connection.info, lock, connection.exec_driver_sql, quick=False)
        except OSError as error:
            # Like SQLite's own failures, which are answered kindly.
            raise OperationalError(_BEGIN, None, error) from error

    def give_back(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        if entry.info.pop(_MINE, False):
            lock.release()

    event.listen(engine, "begin", begin)
    _LOCKS[engine] = lock
    # A connection comes back to the pool however its transaction ended.
    event.listen(engine, "checkin", give_back)


@contextmanager
def driver_transaction(engine: Engine) -> Iterator[PoolProxiedConnection]:
    """Yield a connection in a writing transaction, without what SQLAlchemy does around each.

    It is for what takes little time, such as answers: who arrives, or ends, lets it pass. It is
    committed at the end, and is rolled back where the block fails.

    Raises:
        Exception: What the driver raises, as it is.
    """
    connection = engine.raw_connection()
    try:
        if engine.dialect.name == "sqlite":
            begin = connection.cursor().execute
            _begin_in_turn(connection.info, _LOCKS[engine], begin, quick=True)
        yield connection
        connection.commit()
    except BaseException as error:
        try:
            connection.rollback()
        except engine.dialect.loaded_dbapi.Error:
            connection.invalidate(error)
        raise
    finally:
        connection.close()


def _begin_in_turn(
    info: dict[Any, Any], lock: WriteLock, execute: Callable[[str], object], *, quick: bool
) -> None:
    until = monotonic() + _PATIENCE_S
    if not info.get(_MINE):
        info[_MINE] = lock.acquire(quick=quick)
    # A plain BEGIN that reads and then writes fails at once when another writer came between;
    # taking the write lock first makes it wait for its turn instead.
    while True:
        try:
            execute(_BEGIN)
        except (OperationalError, sqlite3.OperationalError) as error:
            cause = error.orig if isinstance(error, OperationalError) else error
            busy = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            if not busy or monotonic() > until:
                raise
            sleep(_PAUSE_S)
        else:
            return
