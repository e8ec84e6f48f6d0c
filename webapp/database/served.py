"""How the database treats the connections of a server; SQLite needs none of it."""

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from webapp.core.worker_count import OF_RESEARCHERS
from webapp.database.pool import CountedPool

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
