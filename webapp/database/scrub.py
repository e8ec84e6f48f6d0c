"""Remove deleted data from the database's files, once no transaction can still read them."""

import logging
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, String
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from webapp.database.engine import without_pooler
from webapp.database.models import Base
from webapp.database.write_lock import WriteLock

_LOG = logging.getLogger(__name__)
_LOCK_TIMEOUT_MS = 10_000
# Short, because all other requests of the process wait as well.
_SHORT_TIMEOUT_MS = 200
_EMPTY_LOG_SQL = "PRAGMA wal_checkpoint(TRUNCATE)"
# A statement that waits for a table lock blocks all later ones.
_TABLE_TIMEOUT_SQL = "SET lock_timeout = '3s'"
# PostgreSQL's planner stores sample values of each column, including free text.
_COLUMN_SAMPLES = "pg_catalog.pg_statistic"


def scrub(engine: Engine) -> str:
    """Rewrite the database's files without deleted or replaced data.

    On SQLite, readers continue and writers wait. On PostgreSQL, each table is locked while it is
    rewritten; the write-ahead log belongs to the server, and keeps old pages for longer.

    Returns:
        The reason, which is also logged, why deleted data may remain in the files: a reader blocked
        the rewriting of a table or of SQLite's log for too long, or can still see deleted rows.
        Empty if nothing remains.

    Raises:
        OSError: The lock next to the database cannot be used. sqlite3.Error: The disk is full, or
            another program is using the file.
    """
    if engine.dialect.name != "sqlite":
        reason = _rewrite_tables(engine)
    else:
        was_scrubbed = _run_statements(engine, ["VACUUM", _EMPTY_LOG_SQL], _LOCK_TIMEOUT_MS)
        reason = "" if was_scrubbed else "another program kept reading the database"
    if reason:
        _LOG.warning("erased data may remain in the database's files: %s", reason)
    return reason


def empty_log(engine: Engine) -> bool:
    """Empty SQLite's write-ahead log, which still contains erased data.

    The time does not depend on the size of the database. Deleted data are overwritten in the
    database file itself (``secure_delete``). PostgreSQL keeps deleted data until its files are
    scrubbed or it reuses the space.

    Returns:
        Whether the log is empty; False if a reader blocked this for too long. A job tries again
        every minute.

    Raises:
        OSError: The lock next to the database cannot be used. sqlite3.Error: The disk is full, or
            another program is using the file.
    """
    if engine.dialect.name != "sqlite" or not _has_content(Path(f"{engine.url.database}-wal")):
        return True
    return _run_statements(engine, [_EMPTY_LOG_SQL], _SHORT_TIMEOUT_MS)


def empty_log_soon(engine: Engine) -> None:
    """Empty the log now, or leave it to the job of the next minute; errors are only logged."""
    try:
        empty_log(engine)
    except (OSError, sqlite3.Error, SQLAlchemyError) as error:
        _LOG.warning("the database's log was not emptied after an erasure: %s", error)


def _rewrite_tables(engine: Engine) -> str:
    """Rewrite every PostgreSQL table, except those that a reader keeps locked.

    Returns:
        The data that may remain, and the reason; empty if nothing remains.
    """
    names = [*sorted(Base.metadata.tables), _COLUMN_SAMPLES]
    with (
        without_pooler(engine) as direct,
        direct.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
    ):
        readers = wait_for_older_transactions(connection)
        connection.exec_driver_sql(_TABLE_TIMEOUT_SQL)
        try:
            # Try every table, even if the previous one could not be rewritten.
            unchanged_tables = [name for name in names if not _rewrite_table(connection, name)]
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
    reasons = []
    if readers:
        reasons.append(f"a transaction that began before still sees it: {', '.join(readers)}")
    if unchanged_tables:
        reasons.append(f"another program kept these tables open: {', '.join(unchanged_tables)}")
    return "; ".join(reasons)


def _rewrite_table(connection: Connection, name: str) -> bool:
    try:
        _drop_column_samples(connection, name)
        # ANALYZE takes new samples at the same time.
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {name}")
    except DBAPIError as error:
        _LOG.warning("the table %s was not rewritten: %s", name, error.orig)
        return False
    return True


def _drop_column_samples(connection: Connection, name: str) -> None:
    """Drop the planner's sample values of an empty table, which ANALYZE does not remove.

    PostgreSQL drops a column's samples when its type is set, even to the current one.
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


def _run_statements(engine: Engine, statements: Sequence[str], patience_ms: int) -> bool:
    lock = WriteLock(Path(f"{engine.url.database}-turn"))
    if not lock.acquire():
        return False
    try:
        with closing(engine.raw_connection()) as connection:
            with closing(connection.cursor()) as cursor:
                cursor.execute(f"PRAGMA busy_timeout={patience_ms}")
                for statement in statements:
                    cursor.execute(statement)
                row = cursor.fetchone()  # whether the database was busy, and sizes
            connection.invalidate()  # its timeout differs from that of others
            return row is not None and not row[0]
    finally:
        lock.release()


# A replica reports every ten seconds which rows it still reads.
_WAIT_LIMIT_S = 12.0
_PAUSE_S = 0.1
_NEXT_TRANSACTION_SQL = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
# PostgreSQL shows these columns of all sessions, and their owners, to every user.
_OLDER_TRANSACTIONS_SQL = """
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


def wait_for_older_transactions(connection: Connection) -> list[str]:
    """Wait for transactions that are older than this call, and return those that have not ended.

    A rewritten table keeps every row that an older transaction may still read. Later transactions
    cannot see rows that were deleted before.

    Args:
        connection: A PostgreSQL connection outside any transaction.

    Returns:
        Descriptions of these transactions; usually none, and at once.
    """
    next_transaction = connection.exec_driver_sql(_NEXT_TRANSACTION_SQL).scalar_one()
    query = _OLDER_TRANSACTIONS_SQL.format(int(next_transaction))
    deadline = time.monotonic() + _WAIT_LIMIT_S
    while (
        readers := [*connection.exec_driver_sql(query).scalars()]
    ) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
    return readers
