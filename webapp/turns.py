"""Turns for those who write to SQLite, which has one writer at a time.

SQLite's own wait is a sleep that grows to a tenth of a second before it looks again: who is always
quick to come back, as answers are, would leave the others waiting for seconds. Threads of one
process therefore wait for each other here, and are woken the moment it is their turn; processes of
one machine lock a file beside the database, for which they look every half millisecond. Whoever
writes to the file by other means, such as SQLite's own shell, is waited for in pauses: SQLite's
wait would let nobody else of the process do anything.
"""

import fcntl
from collections import deque
from pathlib import Path
from sqlite3 import SQLITE_BUSY
from threading import Lock
from time import monotonic, sleep

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

_PATIENCE_S = 30.0
_BETWEEN_LOOKS_S = 0.0005
_PAUSE_S = 0.05
_MINE = "turn"


class _Line:
    """A lock that is handed to whoever waits longest: who comes back at once goes to the end."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting = deque[Lock]()
        self._taken = False

    def acquire(self, timeout_s: float) -> bool:
        """Wait for the lock, and return whether it came in time."""
        gate = Lock()
        gate.acquire()
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            self._waiting.append(gate)
        if gate.acquire(timeout=timeout_s):
            return True
        with self._lock:
            # It may have been handed over in the very moment that patience ended.
            if gate not in self._waiting:
                return True
            self._waiting.remove(gate)
        return False

    def release(self) -> None:
        """Hand the lock over."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class _Turn:
    """The right to write, held by one thread of one process at a time.

    Args:
        path: The file that processes lock; whichever way a process ends, its lock ends with it.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._line = path, _Line()

    def acquire(self) -> bool:
        """Wait for the turn, and return whether it came in time."""
        until = monotonic() + _PATIENCE_S
        if not self._line.acquire(_PATIENCE_S):
            return False
        try:
            self._file = self._path.open("ab")
        except OSError:
            # Without room for it, say; the next one may fare better, and must not wait for this.
            self._line.release()
            raise
        while not self._locked():
            if monotonic() > until:
                self.release()
                return False
            sleep(_BETWEEN_LOOKS_S)
        return True

    def release(self) -> None:
        """Let the next one write."""
        self._file.close()
        self._line.release()

    def _locked(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def let_writers_take_turns(engine: Engine) -> None:
    """Let each writing transaction of the engine begin when those before it are over."""
    turn = _Turn(Path(f"{engine.url.database}-turn"))

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("reading", False):
            connection.exec_driver_sql("BEGIN")
            return
        until = monotonic() + _PATIENCE_S
        if not connection.info.get(_MINE):
            connection.info[_MINE] = turn.acquire()
        _begin_to_write(connection, until)

    def give_back(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        if entry.info.pop(_MINE, False):
            turn.release()

    event.listen(engine, "begin", begin)
    # A connection comes back to the pool however its transaction ended.
    event.listen(engine, "checkin", give_back)


def _begin_to_write(connection: Connection, until: float) -> None:
    # A plain BEGIN that reads and then writes fails at once when another writer came between;
    # taking the write lock first makes it wait for its turn instead.
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except OperationalError as error:
            busy = getattr(error.orig, "sqlite_errorcode", None) == SQLITE_BUSY
            if not busy or monotonic() > until:
                raise
            sleep(_PAUSE_S)
        else:
            return
