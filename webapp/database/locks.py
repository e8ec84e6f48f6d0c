"""Locks between threads, between processes of a machine, and between machines of a database.

All locks of Parallax are built from these. A caller gets the whole lock or nothing: if a system
call or the wait fails, the parts already taken are released, so that the next caller can take the
lock.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Connection, Engine, text

from experiment.machine import lock_file, unlock_file

_RETRY_INTERVAL_S = 0.005


class FileLock:
    """A lock between processes of one machine; it ends with its process, however the process ends.

    Args:
        path: The lock file. It is created if missing, and is not deleted.
        shared: Whether any number of processes may hold the lock together, but never together with
            an exclusive holder.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._path = path
        self._shared = shared
        self._descriptor: int | None = None

    def acquire(self, timeout_s: float | None = 0.0, every_s: float = _RETRY_INTERVAL_S) -> bool:
        """Take the lock, and return whether it was taken in time.

        Args:
            timeout_s: How long to wait; None to wait for ever.
            every_s: The pause between two attempts. The system's own wait is not used, because it
                would block every thread of a server process.

        Raises:
            OSError: The file cannot be opened or locked; then the lock is not held.
        """
        deadline = None if timeout_s is None else monotonic() + timeout_s
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        try:
            while not self._try_lock():
                if deadline is not None and monotonic() >= deadline:
                    self.close()
                    return False
                sleep(every_s)
        except BaseException:
            self.close()
            raise
        return True

    def release(self) -> None:
        """Release the lock, also for every process that inherited it."""
        if self._descriptor is not None:
            # Either call is enough, so the failure of one does not matter.
            with suppress(OSError):
                unlock_file(self._descriptor)
        self.close()

    def close(self) -> None:
        """Give up the lock; a process that inherited it keeps it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # The system closes a descriptor even if it reports an error.
            with suppress(OSError):
                os.close(descriptor)

    def fileno(self) -> int:
        """Return the descriptor with which another process can inherit the lock.

        Raises:
            ValueError: The lock is not held.
        """
        if self._descriptor is None:
            raise ValueError(f"the lock is not held: {self._path}")
        return self._descriptor

    def _try_lock(self) -> bool:
        return lock_file(self.fileno(), shared=self._shared)


def advisory_lock(connection: Connection, key: int, *, wait: bool, shared: bool = False) -> bool:
    """Take a PostgreSQL advisory lock for a transaction, and return whether it was free.

    Args:
        connection: An open transaction. The lock ends with it, so it works with connection pooling,
            and a failed machine does not keep it.
        key: The lock, as a signed 64-bit number.
        wait: Whether to wait until it is free.
        shared: Whether any number of transactions may hold the lock together, but never together
            with an exclusive holder.
    """
    take = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    take += "_shared" if shared else ""
    was_taken = connection.execute(text(f"SELECT {take}(:key)"), {"key": key}).scalar_one()
    return wait or bool(was_taken)


def long_lock(
    connection: Connection, key: int, *, wait: bool = False, shared: bool = False
) -> bool:
    """Take an advisory lock for a transaction that stays idle for as long as the lock is needed.

    An idle transaction at READ COMMITTED has no snapshot, so it does not delay vacuuming.
    """
    connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    return advisory_lock(connection, key, wait=wait, shared=shared)


@contextmanager
def exclusive(engine: Engine, folder: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock for a named task; yield whether it was free.

    The lock holds on this machine and on all others of the database. If a process is killed or a
    machine fails, the system or the database releases the lock.

    Args:
        engine: The installation's database.
        folder: The instance folder.
        name: The name of the task.
        wait: Whether to wait until the lock is free instead of yielding False.

    Raises:
        OSError: The lock file cannot be opened or locked.
    """
    if engine.dialect.name == "postgresql":
        key = int.from_bytes(sha256(f"parallax {name}".encode()).digest()[:8], signed=True)
        with engine.begin() as connection:
            yield long_lock(connection, key, wait=wait)
        return
    # An SQLite database is used on one machine only, so a file lock is enough.
    lock = FileLock(folder / f"{name}.lock")
    was_taken = lock.acquire(None if wait else 0.0)
    try:
        yield was_taken
    finally:
        if was_taken:
            lock.release()
