"""Removing what was deleted from the database's files as well."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine

from webapp.database.write_lock import WriteLock

_PATIENCE_MS = 10_000


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
    lock = WriteLock(Path(f"{engine.url.database}-turn"))
    if not lock.acquire():
        return False
    try:
        with closing(engine.raw_connection()) as connection:
            with closing(connection.cursor()) as cursor:
                cursor.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")
                cursor.execute("VACUUM")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                row = cursor.fetchone()  # whether it was busy, and sizes
            connection.invalidate()  # its patience is not the others'
            return row is not None and not row[0]
    finally:
        lock.release()
