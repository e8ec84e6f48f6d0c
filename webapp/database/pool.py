"""The pool of connections: the number of requests that wait is limited, not their time."""

import logging
from threading import Lock

from sqlalchemy.exc import TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from webapp.core.worker_count import OF_PARTICIPANTS

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
