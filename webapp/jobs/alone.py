"""Doing something while nobody else does it, on this machine or on any other of the database."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Engine, text


@contextmanager
def alone(engine: Engine, folder: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Yield whether nobody else is doing what bears the name; nobody begins it meanwhile.

    A process that is killed, or a machine that fails, is not waited for: the system or the
    database lets go for it.

    Args:
        engine: The installation's database.
        folder: Its instance folder.
        name: What is done.
        wait: Wait for one's turn instead of yielding False.
    """
    if engine.dialect.name == "postgresql":
        with _lock_of_database(engine, name, wait) as held:
            yield held
    else:
        # A database in a file has its users on one machine, and a file can be locked there.
        with _lock_of_file(folder / f"{name}.lock", wait) as held:
            yield held


@contextmanager
def _lock_of_database(engine: Engine, name: str, wait: bool) -> Iterator[bool]:
    key = int.from_bytes(sha256(f"parallax {name}".encode()).digest()[:8], signed=True)
    # It ends with the transaction, so it also works where connections are shared by a pool.
    with engine.begin() as connection:
        if wait:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            yield True
        else:
            got = connection.execute(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": key})
            yield bool(got.scalar_one())


@contextmanager
def _lock_of_file(path: Path, wait: bool) -> Iterator[bool]:
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
