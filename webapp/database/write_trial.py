"""Whether something can be stored at this moment: it is tried, and taken back.

Looking at rights and at free space finds less than one write does: a lock's file of another user,
a database that became read-only, a quota, a file system that has run out of names.
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

# As much as an answer with its log line; a full disk still has room for an empty file.
_TRIAL = b"\0" * 16_384
# A number that no sequence gives, so that none is used up; the row is never there for others.
_ROW = {"id": 0, "name": "write trial", "value": ""}
# Whoever asks more often gets the last answer: a write is not everybody's to give.
_KEPT_S = 5.0


def why_nothing_is_stored(engine: Engine, instance: Path) -> str:
    """Return why nothing can be stored at this moment; empty where it can."""
    folders = {instance}
    if engine.dialect.name == "sqlite" and engine.url.database:
        folders.add(Path(engine.url.database).resolve().parent)
    for folder in sorted(folders):
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_TRIAL)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return f"nothing can be written to {folder} ({error.strerror})"
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            connection.execute(insert(Stamp), _ROW)
            transaction.rollback()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        return f"nothing can be written to the database ({reason})"
    return ""


def of_others(instance: Path, database: Path | None = None) -> Iterator[Path]:
    """Yield what belongs to another user than this process: a server cannot write to it.

    Args:
        instance: The instance folder; what lies directly in it is looked at.
        database: An SQLite file; it is looked at with what lies beside it.
    """
    if not instance.is_dir():
        return
    paths = {instance, *instance.iterdir()}
    if database is not None:
        paths |= set(database.parent.glob(f"{database.name}*"))
    for path in sorted(paths):
        try:
            owner = path.lstat().st_uid
        except OSError:  # a file that a server at work just took away
            continue
        if owner != user_number():
            yield path


class WriteTrial:
    """The last answer of a trial, for all who ask a process within some seconds."""

    def __init__(self, engine: Engine, instance: Path) -> None:
        self._engine, self._instance = engine, instance
        self._lock, self._until, self._problem = threading.Lock(), 0.0, ""

    def problem(self) -> str:
        """Return why nothing can be stored, as of the last seconds; empty where it can."""
        with self._lock:
            if monotonic() >= self._until:
                self._problem = why_nothing_is_stored(self._engine, self._instance)
                self._until = monotonic() + _KEPT_S
            return self._problem
