"""The connection pool of a server, and the settings of each PostgreSQL connection.

The number of requests that wait for a connection is limited, but not their waiting time.
"""

import logging
from threading import Lock
from time import monotonic

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError, TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from webapp.core.worker_count import PARTICIPANT_CONNECTIONS, RESEARCHER_CONNECTIONS

# A process serves this many within a few seconds; further requests are better refused at once.
MOST_WAITING_REQUESTS = 500


class PoolFullError(TimeoutError):
    """Too many requests are waiting for a connection; no statement was executed."""


class CountedPool(QueuePool):
    """A pool with a limited number of waiting requests and unlimited waiting time.

    A time limit would refuse the requests that have waited longest, and on a busy machine without
    any fault. A limit on their number refuses new requests, at once.

    Attributes:
        most: The default number of connections per process; a single thread keeps only few of them
            busy, for ten participants or a thousand.
    """

    most = PARTICIPANT_CONNECTIONS

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **{**options, "timeout": None})  # type: ignore[arg-type]
        self._counting, self._n_waiting = Lock(), 0
        self._is_disposed = False

    def connect(self) -> PoolProxiedConnection:
        """Return a connection, once one is free.

        Raises:
            PoolFullError: The maximum number of requests is waiting already.
        """
        with self._counting:
            if self._n_waiting >= MOST_WAITING_REQUESTS:
                raise PoolFullError(
                    f"{self._n_waiting} requests are already waiting for a connection"
                )
            self._n_waiting += 1
        try:
            return super().connect()
        finally:
            with self._counting:
                self._n_waiting -= 1

    def dispose(self) -> None:
        """Close every connection, at once or when it is returned."""
        self._is_disposed = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        # SQLAlchemy would keep it open until the pool is garbage-collected.
        if self._is_disposed:
            record.close()
        super()._do_return_conn(record)


# SQLAlchemy names a pool's logger after its class, here one of Parallax's own names. Log only its
# warnings, as for other libraries.
logging.getLogger(f"{__name__}.{CountedPool.__name__}").setLevel(logging.WARNING)


_IDLE_S = 5.0
_RETURNED_AT = "returned_at"


def ping_idle_connections(engine: Engine) -> None:
    """Test a connection that was idle for some seconds before it is used again.

    SQLAlchemy's ``pool_pre_ping`` would cost every transaction a round trip. Work that meets a
    connection lost within these seconds fails at its first statement and stores nothing. Requests
    are repeated (``webapp.database.retry``), and so is storing what a platform did; other work of
    commands and jobs fails, and continues when it is done again.
    """

    @event.listens_for(engine, "checkin")
    def note_time(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        record.info[_RETURNED_AT] = monotonic()

    @event.listens_for(engine, "checkout")
    def ping(
        connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection
    ) -> None:
        now = monotonic()
        if now - record.info.get(_RETURNED_AT, now) < _IDLE_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error


# The word of database_url that says where a connection pooler is.
POOLER = "pooler"
_IDLE_LIMIT = "2min"
# PostgreSQL caches the plans of repeated statements, checks and triggers. A plan made for a table
# of one page scans the whole table, and many arrivals fill the table before its statistics are
# updated. All time-critical statements can use an index, so forcing index use costs nothing. JIT
# compilation would cost more than it saves.
_PREFER_INDEXES = ("SET enable_seqscan = off", "SET jit = off")


def set_up_for_serving(engine: Engine) -> None:
    """Make PostgreSQL end idle transactions of a server, and prefer indexes.

    A transaction that is idle for two minutes is ended, so that a hanging process does not keep its
    locks. SQLite's locks end with the process, and its supervisor ends a process that hangs.
    Researcher pages read whole tables; if they have a process of their own, it keeps PostgreSQL's
    default planning. Connections of a pooler have their settings from their role.
    """
    if engine.dialect.name == "sqlite" or POOLER in engine.url.query:
        return

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_LIMIT}'")
        for setting in () if CountedPool.most == RESEARCHER_CONNECTIONS else _PREFER_INDEXES:
            cursor.execute(setting)
        cursor.close()
        connection.commit()

    # Connections that are open already are replaced, with these settings.
    engine.dispose()
