"""Locks: between threads, between processes of a machine, and between machines of a database.

Every lock of Parallax is made of these. A caller gets the whole lock or no part of it: if a system
call or the wait fails, the part that was taken is released, so that the next caller can take the
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

_BETWEEN_LOOKS_S = 0.005


class FileLock:
    """A lock between processes of one machine; it ends with its process, however that ends.

    Args:
        path: The file that is locked. It is made where it is missing, and stays.
        shared: Any number of processes have it together, but never with one that has it alone.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._path = path
        self._shared = shared
        self._descriptor: int | None = None

    def acquire(self, timeout_s: float | None = 0.0, every_s: float = _BETWEEN_LOOKS_S) -> bool:
        """Take the lock, and return whether it came in time.

        Args:
            timeout_s: How long to wait; None for as long as it takes.
            every_s: How long to sleep between two looks. The system's own wait is not used: it
                would stop every thread of a server's process.

        Raises:
            OSError: The file cannot be opened or locked; then nothing is held.
        """
        until = None if timeout_s is None else monotonic() + timeout_s
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        try:
            while not self._try():
                if until is not None and monotonic() >= until:
                    self.close()
                    return False
                sleep(every_s)
        except BaseException:
            self.close()
            raise
        return True

    def release(self) -> None:
        """Give the lock back, for every process that it was handed on to as well."""
        if self._descriptor is not None:
            # Each of the two calls is enough, so the failure of one does not matter.
            with suppress(OSError):
                unlock_file(self._descriptor)
        self.close()

    def close(self) -> None:
        """Let go of the lock; a process that it was handed on to keeps it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # The system closes a descriptor even where it reports an error.
            with suppress(OSError):
                os.close(descriptor)

    def fileno(self) -> int:
        """Return the descriptor by which the lock is handed on to another process.

        Raises:
            ValueError: The lock is not held.
        """
        if self._descriptor is None:
            raise ValueError(f"the lock is not held: {self._path}")
        return self._descriptor

    def _try(self) -> bool:
        return lock_file(self.fileno(), shared=self._shared)


def advisory_lock(connection: Connection, key: int, *, wait: bool) -> bool:
    """Take one of PostgreSQL's advisory locks for a transaction, and return whether it was free.

    Args:
        connection: An open transaction. The lock ends with it, so it also works where connections
            are shared by a pool, and a machine that fails is not waited for.
        key: The lock, as a signed number of 64 bits.
        wait: Wait until it is free.
    """
    take = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    taken = connection.execute(text(f"SELECT {take}(:key)"), {"key": key}).scalar_one()
    return wait or bool(taken)


def connection_lock(connection: Connection, key: int, *, shared: bool) -> bool:
    """Take an advisory lock that lasts as long as the connection, and return whether it was free.

    Args:
        connection: One that commits by itself, so that no transaction stays open meanwhile.
        key: The lock, as a signed number of 64 bits.
        shared: Any number of connections have the lock together, but never with one that has it
            alone.
    """
    take = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
    return bool(connection.execute(text(f"SELECT {take}(:key)"), {"key": key}).scalar_one())


def connection_unlock(connection: Connection, key: int, *, shared: bool = False) -> None:
    """Give back a lock that a connection has alone, or together with others."""
    function = "pg_advisory_unlock_shared" if shared else "pg_advisory_unlock"
    connection.execute(text(f"SELECT {function}(:key)"), {"key": key})


@contextmanager
def exclusive(engine: Engine, folder: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Yield whether the named work is free to do; nobody else begins it meanwhile.

    That holds on this machine and on any other of the database. A process that is killed, or a
    machine that fails, is not waited for: the system or the database lets go for it.

    Args:
        engine: The installation's database.
        folder: Its instance folder.
        name: What is done.
        wait: Wait until it is free instead of yielding False.

    Raises:
        OSError: The lock's file cannot be opened or locked.
    """
    if engine.dialect.name == "postgresql":
        key = int.from_bytes(sha256(f"parallax {name}".encode()).digest()[:8], signed=True)
        with engine.begin() as connection:  # which does nothing while the work takes its time
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            yield advisory_lock(connection, key, wait=wait)
        return
    # A database in a file has its users on one machine, and a file can be locked there.
    lock = FileLock(folder / f"{name}.lock")
    held = lock.acquire(None if wait else 0.0)
    try:
        yield held
    finally:
        if held:
            lock.release()
