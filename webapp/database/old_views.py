"""Who still sees what was deleted from PostgreSQL's tables: it is kept for as long as they do."""

import time

from sqlalchemy import Connection

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
    asked = _WHO_SEES_OLDER.format(int(now))
    until = time.monotonic() + _PATIENCE_S
    while (seen := [*connection.exec_driver_sql(asked).scalars()]) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    return seen
