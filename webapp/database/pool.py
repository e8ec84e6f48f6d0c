"""The pool of connections of a server, and the settings of each connection to PostgreSQL.

The number of requests that wait for a connection is limited, not their time.
"""

import logging
from threading import Lock

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from webapp.core.worker_count import OF_PARTICIPANTS, OF_RESEARCHERS

# A process hands this many on within a few seconds; whoever comes later is better told so at once.
MOST_WAITING = 500


class PoolFullError(TimeoutError):
    """Too many wait for a connection already; nothing was asked of the database."""


class CountedPool(QueuePool):
    """A pool in which a bounded number may wait, for as long as it takes.

    A limit of time would turn away those who have waited longest, and on a busy machine before
    anything is wrong. A limit of number turns away newcomers, at once.

    Attributes:
        most: How many connections a process has that do not say otherwise; one thread keeps few of
            them busy, whether it answers ten people or a thousand.
    """

    most = OF_PARTICIPANTS

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **{**options, "timeout": None})  # type: ignore[arg-type]
        self._counting, self._asking = Lock(), 0
        self._is_over = False

    def connect(self) -> PoolProxiedConnection:
        """Return a connection, once one is free.

        Raises:
            PoolFullError: As many as may wait already do.
        """
        with self._counting:
            if self._asking >= MOST_WAITING:
                raise PoolFullError(f"{self._asking} requests are already waiting for a connection")
            self._asking += 1
        try:
            return super().connect()
        finally:
            with self._counting:
                self._asking -= 1

    def dispose(self) -> None:
        """Close every connection: now, or when whoever has one gives it back."""
        self._is_over = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        # SQLAlchemy would keep it open until the collector of garbage finds the pool.
        if self._is_over:
            record.close()
        super()._do_return_conn(record)


# SQLAlchemy names a pool's logger after its class, which puts it among our own: a library's
# warnings are written, its information is not.
logging.getLogger(f"{__name__}.{CountedPool.__name__}").setLevel(logging.WARNING)


_IDLE_TRANSACTION = "2min"
# PostgreSQL keeps the plan of a statement that comes again and again, and so that of a check or a
# trigger. Made when a table held a page, it reads the whole table; a crowd fills it within the
# minute until statistics are made anew, if they are. What participants wait for finds its rows by
# an index, so nothing is lost where PostgreSQL has to use one. Compiling would cost more than that.
_BY_INDEX = ("SET enable_seqscan = off", "SET jit = off")


def set_up_for_serving(engine: Engine) -> None:
    """Let PostgreSQL end idle transactions of a server, and look up what participants ask for.

    A transaction that does nothing for two minutes is ended: a process that hangs must not keep
    what it locked. SQLite's locks end with the process, and its supervisor ends one that hangs.
    Researcher pages read tables as a whole; where they have a process of their own, that one
    plans as PostgreSQL does by itself.
    """
    if engine.dialect.name == "sqlite":
        return

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_TRANSACTION}'")
        for setting in () if CountedPool.most == OF_RESEARCHERS else _BY_INDEX:
            cursor.execute(setting)
        cursor.close()
        connection.commit()

    # Those that are open already come back with these settings.
    engine.dispose()
