"""Test whether data can be stored at this moment, by trial writes that are undone.

Checking permissions and free space finds fewer problems than one write does: a lock file of another
user, a read-only database, a quota, a file system without free inodes.
"""

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from sqlalchemy import Engine, insert
from sqlalchemy.exc import SQLAlchemyError

from experiment.machine import user_number
from webapp.database.models import Stamp

# The size of an answer with its log line; an empty file fits even on a full disk.
_TRIAL_BYTES = b"\0" * 16_384
# An id that no sequence generates, so that none is used up; the row is never committed.
_TRIAL_ROW = {"id": 0, "name": "write trial", "value": ""}
# More frequent calls get the cached result, because the public must not trigger writes at will.
_CACHED_FOR_S = 5.0


def explain_write_failure(engine: Engine, instance: Path) -> str:
    """Return the reason why no data can be stored at this moment; empty if they can."""
    folders = {instance}
    if engine.dialect.name == "sqlite" and engine.url.database:
        folders.add(Path(engine.url.database).resolve().parent)
    for folder in sorted(folders):
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_TRIAL_BYTES)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return f"nothing can be written to {folder} ({error.strerror})"
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            connection.execute(insert(Stamp), _TRIAL_ROW)
            transaction.rollback()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        return f"nothing can be written to the database ({reason})"
    return ""


def list_foreign_files(instance: Path, database: Path | None = None) -> Iterator[Path]:
    """Yield the files that belong to another user, to which a server cannot write.

    Args:
        instance: The instance folder; only files directly in it are checked.
        database: An SQLite file; it is checked with the files next to it.
    """
    if not instance.is_dir():
        return
    paths = {instance, *instance.iterdir()}
    if database is not None:
        paths |= set(database.parent.glob(f"{database.name}*"))
    for path in sorted(paths):
        try:
            owner = path.lstat().st_uid
        except OSError:  # a file that a running server has just deleted
            continue
        if owner != user_number():
            yield path


class WriteTrial:
    """The cached result of a trial write, shared by all callers in a process for some seconds."""

    def __init__(self, engine: Engine, instance: Path) -> None:
        self._engine, self._instance = engine, instance
        self._lock, self._until, self._problem = threading.Lock(), 0.0, ""

    def problem(self) -> str:
        """Return the reason why no data can be stored, a few seconds old at most; else ""."""
        with self._lock:
            if monotonic() >= self._until:
                self._problem = explain_write_failure(self._engine, self._instance)
                self._until = monotonic() + _CACHED_FOR_S
            return self._problem
