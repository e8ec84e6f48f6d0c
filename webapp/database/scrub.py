"""Removing deleted rows from the database's files, once no transaction can still read them."""

import logging
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, String
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from webapp.database.models import Base
from webapp.database.write_lock import WriteLock

_LOG = logging.getLogger(__name__)
_PATIENCE_MS = 10_000
# While a request waits, so do all others of its process.
_SHORT_PATIENCE_MS = 200
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
# Whoever waits for a table keeps all others waiting who come after.
_PATIENCE_FOR_TABLE = "SET lock_timeout = '3s'"
# Its planner keeps examples of what stands in each column, free text included.
_EXAMPLES = "pg_catalog.pg_statistic"


def scrub(engine: Engine) -> str:
    """Rewrite the database's files without what was deleted or replaced.

    On SQLite readers continue and writers wait. On PostgreSQL each table is closed to everybody
    while it is rewritten; its write-ahead log is the server's own, and keeps old pages for longer.

    Returns:
        Why something may be left in the files, which is logged as well: somebody reads for so long
        that a table or SQLite's log could not be rewritten, or still sees what was deleted. Empty
        where nothing is left.

    Raises:
        OSError: The lock beside the database cannot be used.
        sqlite3.Error: The disk is full, or the file is in use by another program.
    """
    if engine.dialect.name != "sqlite":
        why = _rewritten(engine)
    else:
        done = _written(engine, ["VACUUM", _EMPTY_LOG], _PATIENCE_MS)
        why = "" if done else "another program kept reading the database"
    if why:
        _LOG.warning("erased data may remain in the database's files: %s", why)
    return why


def empty_log(engine: Engine) -> bool:
    """Empty SQLite's log, where what was just erased still stands; a large file takes no longer.

    What is deleted is overwritten in the file itself (``secure_delete``). PostgreSQL's files keep
    it until they are scrubbed, or until it reuses the room by itself.

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


def _rewritten(engine: Engine) -> str:
    """Write every table of PostgreSQL anew; one that somebody keeps open is left as it is.

    Returns:
        What may be left, and by whom; empty where nothing is.
    """
    names = [*sorted(Base.metadata.tables), _EXAMPLES]
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        readers = who_sees_what_was_deleted(connection)
        connection.exec_driver_sql(_PATIENCE_FOR_TABLE)
        try:
            # Each is tried, whether or not the one before could be rewritten.
            kept = [name for name in names if not _table_rewritten(connection, name)]
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
    reasons = []
    if readers:
        reasons.append(f"a transaction that began before still sees it: {', '.join(readers)}")
    if kept:
        reasons.append(f"another program kept these tables open: {', '.join(kept)}")
    return "; ".join(reasons)


def _table_rewritten(connection: Connection, name: str) -> bool:
    try:
        _forget_examples(connection, name)
        # New examples are taken at the same time.
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {name}")
    except DBAPIError as error:
        _LOG.warning("the table %s was not rewritten: %s", name, error.orig)
        return False
    return True


def _forget_examples(connection: Connection, name: str) -> None:
    """Drop the planner's examples of an empty table, which ANALYZE leaves as they were.

    PostgreSQL drops a column's examples when its type is set, be it to the one that it has.
    """
    table = Base.metadata.tables.get(name)
    if table is None or connection.exec_driver_sql(f"SELECT 1 FROM {name} LIMIT 1").first():
        return
    changes = ", ".join(
        f'ALTER COLUMN "{column.name}" TYPE {column.type.compile(connection.dialect)}'
        for column in table.columns
        if isinstance(column.type.dialect_impl(connection.dialect), String)
    )
    if changes:
        connection.exec_driver_sql(f"ALTER TABLE {name} {changes}")


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


# A replica tells every ten seconds what it still reads.
_PATIENCE_S = 12.0
_PAUSE_S = 0.1
_NEXT_TRANSACTION = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
# PostgreSQL shows these columns of every session to every user, and to whom it belongs.
_WHO_SEES_OLDER = """
SELECT 'process ' || pid || coalesce(' (' || nullif(application_name, '') || ')', '')
FROM pg_stat_activity
WHERE pid <> pg_backend_pid()
  AND (datname = current_database() OR datname IS NULL)
  AND greatest(age(backend_xid), age(backend_xmin)) > age('{0}'::xid8::xid)
UNION ALL
SELECT 'the prepared transaction "' || gid || '"'
FROM pg_prepared_xacts
WHERE database = current_database() AND age(transaction) > age('{0}'::xid8::xid)
UNION ALL
SELECT 'the replication slot "' || slot_name || '"'
FROM pg_replication_slots
WHERE greatest(age(xmin), age(catalog_xmin)) > age('{0}'::xid8::xid)
"""


def who_sees_what_was_deleted(connection: Connection) -> list[str]:
    """Wait for transactions that are older than this call, and return who has not ended.

    A table that is rewritten keeps every row that any of them may still read. Whoever begins later
    sees nothing of what was deleted before.

    Args:
        connection: One to PostgreSQL that is in no transaction.

    Returns:
        Who they are, in words; nobody, as a rule at once.
    """
    now = connection.exec_driver_sql(_NEXT_TRANSACTION).scalar_one()
    query = _WHO_SEES_OLDER.format(int(now))
    until = time.monotonic() + _PATIENCE_S
    while (seen := [*connection.exec_driver_sql(query).scalars()]) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    return seen
