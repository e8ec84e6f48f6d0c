"""Removing what was deleted from the database's files as well."""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from webapp.database.write_lock import WriteLock

_LOG = logging.getLogger(__name__)
_PATIENCE_MS = 10_000
# While a request waits, so do all others of its process.
_SHORT_PATIENCE_MS = 200
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"


def scrub(engine: Engine) -> bool:
    """Rewrite an SQLite file and its log without what was deleted or replaced.

    Readers continue, writers wait. PostgreSQL overwrites deleted data by itself, sooner or later.

    Returns:
        Whether nothing is left in the files; false where somebody reads for so long that the log
        could not be emptied. It is emptied when they and the server end.

    Raises:
        OSError: The lock beside the database cannot be used.
        sqlite3.Error: The disk is full, or the file is in use by another program.
    """
    if engine.dialect.name != "sqlite":
        return True
    return _written(engine, ["VACUUM", _EMPTY_LOG], _PATIENCE_MS)


def empty_log(engine: Engine) -> bool:
    """Empty SQLite's log, where what was just erased still stands; a large file takes no longer.

    What is deleted is overwritten in the file itself (``secure_delete``), and PostgreSQL overwrites
    it by itself, sooner or later.

    Returns:
        Whether the log is empty; false where somebody reads for so long that it could not be
        emptied. It is tried again every minute.

    Raises:
        OSError: The lock beside the database cannot be used.
        sqlite3.Error: The disk is full, or the file is in use by another program.
    """
    if engine.dialect.name != "sqlite" or not _has_content(Path(f"{engine.url.database}-wal")):
        return True
    return _written(engine, [_EMPTY_LOG], _SHORT_PATIENCE_MS)


def empty_log_soon(engine: Engine) -> None:
    """Empty the log now, or leave it to the job of the next minute; a request never fails by it."""
    try:
        empty_log(engine)
    except (OSError, sqlite3.Error, SQLAlchemyError) as error:
        _LOG.warning("the database's log was not emptied after an erasure: %s", error)


def _has_content(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _written(engine: Engine, statements: Sequence[str], patience_ms: int) -> bool:
    lock = WriteLock(Path(f"{engine.url.database}-turn"))
    if not lock.acquire():
        return False
    try:
        with closing(engine.raw_connection()) as connection:
            with closing(connection.cursor()) as cursor:
                cursor.execute(f"PRAGMA busy_timeout={patience_ms}")
                for statement in statements:
                    cursor.execute(statement)
                row = cursor.fetchone()  # whether it was busy, and sizes
            connection.invalidate()  # its patience is not the others'
            return row is not None and not row[0]
    finally:
        lock.release()
