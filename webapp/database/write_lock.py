"""Fair turns for writers to SQLite, which allows one writer at a time.

SQLite itself waits by sleeping, for up to a tenth of a second between two attempts. A writer that
returns quickly, as for answers, would let others wait for seconds. Therefore, the threads of a
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

    Threads that ask as quick ones go first, but never twice in a row: after each of them, one of
    the others has a turn.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting, self._quick = deque[Lock](), deque[Lock]()
        self._taken = self._by_quick = False

    def acquire(self, timeout_s: float, *, quick: bool = False) -> bool:
        """Wait for the lock, and return whether it was taken in time.

        Args:
            timeout_s: How long to wait.
            quick: Whether the lock will be released at once.
        """
        gate = Lock()
        gate.acquire()
        with self._lock:
            if not self._taken:
                self._taken, self._by_quick = True, quick
                return True
            (self._quick if quick else self._waiting).append(gate)
        try:
            was_acquired = gate.acquire(timeout=timeout_s)
        except BaseException:
            # Interrupted: no thread would take a lock handed to this gate.
            if not self._leave_queue(gate):
                self.release()
            raise
        # The lock may have been handed over just when the time was over.
        return was_acquired or not self._leave_queue(gate)

    def release(self) -> None:
        """Hand the lock to the next thread."""
        with self._lock:
            self._by_quick = bool(self._quick) and not (self._by_quick and self._waiting)
            if self._by_quick:
                self._quick.popleft().release()
            elif self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def _leave_queue(self, gate: Lock) -> bool:
        """Leave the queue, and return False if the lock had been handed over already."""
        with self._lock:
            for waiting in (self._waiting, self._quick):
                if gate in waiting:
                    waiting.remove(gate)
                    return True
            return False


_TIMEOUT_S = 30.0
_RETRY_INTERVAL_S = 0.0005
_PAUSE_S = 0.05
_HAS_TURN, _BEGIN = "turn", "BEGIN IMMEDIATE"


class WriteLock:
    """The right to write, held by one thread of one process at a time.

    Args:
        path: The file that processes lock; the file of the next in line has a longer name.
    """

    def __init__(self, path: Path) -> None:
        self._threads, self._processes = FairLock(), FileLock(path)
        self._next = FileLock(path.with_name(f"{path.name}-next"))

    def acquire(self, *, quick: bool = False) -> bool:
        """Wait for the right to write, and return whether it was taken in time.

        Args:
            quick: Whether it will be released at once: then it goes before others of this process.

        Raises:
            OSError: The file cannot be opened or locked; later callers may succeed, and need not
                wait for this one.
        """
        deadline = monotonic() + _TIMEOUT_S
        if not self._threads.acquire(_TIMEOUT_S, quick=quick):
            return False
        was_taken = False
        try:
            was_taken = self._acquire_among_processes(deadline)
        finally:
            if not was_taken:
                self._processes.release()
                self._threads.release()
        return was_taken

    def _acquire_among_processes(self, until: float) -> bool:
        if not self._next.acquire(until - monotonic(), _RETRY_INTERVAL_S):
            return False
        try:
            return self._processes.acquire(until - monotonic(), _RETRY_INTERVAL_S)
        finally:
            self._next.release()

    def release(self) -> None:
        """Let the next thread write."""
        try:
            self._processes.release()
        finally:
            self._threads.release()


_LOCKS = WeakKeyDictionary[Engine, WriteLock]()


def serialize_writers(engine: Engine) -> None:
    """Make each writing transaction of the engine wait for those before it."""
    lock = WriteLock(Path(f"{engine.url.database}-turn"))

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("reading", False):
            connection.exec_driver_sql("BEGIN")
            return
        try:
            _begin_in_turn(connection.info, lock, connection.exec_driver_sql, quick=False)
        except OSError as error:
            # Raised like SQLite's own errors, which have a friendly error page.
            raise OperationalError(_BEGIN, None, error) from error

    def release_turn(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        if entry.info.pop(_HAS_TURN, False):
            lock.release()

    event.listen(engine, "begin", begin)
    _LOCKS[engine] = lock
    # A connection returns to the pool however its transaction ended.
    event.listen(engine, "checkin", release_turn)


@contextmanager
def driver_transaction(engine: Engine) -> Iterator[PoolProxiedConnection]:
    """Yield a connection in a writing transaction, without SQLAlchemy's overhead.

    It is for short work such as answers, which goes before arrivals and endings. The transaction is
    committed at the end, or rolled back if the block fails.

    Raises:
        Exception: The driver's own errors.
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
    deadline = monotonic() + _TIMEOUT_S
    if not info.get(_HAS_TURN):
        info[_HAS_TURN] = lock.acquire(quick=quick)
    # A plain BEGIN that reads and then writes fails at once if another writer came in between;
    # taking the write lock first makes it wait instead.
    while True:
        try:
            execute(_BEGIN)
        except (OperationalError, sqlite3.OperationalError) as error:
            cause = error.orig if isinstance(error, OperationalError) else error
            busy = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            if not busy or monotonic() > deadline:
                raise
            sleep(_PAUSE_S)
        else:
            return
