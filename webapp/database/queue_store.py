"""Where the installation's queues lie: in a file beside SQLite, or in tables of PostgreSQL."""

from functools import partial
from pathlib import Path

from huey import Huey, PostgresHuey, SqliteHuey
from sqlalchemy import Engine, event

from webapp.database.locks import exclusive

_FILE = "jobs.sqlite3"
_TABLES = "parallax_jobs"


def open_store(name: str, engine: Engine, folder: Path) -> Huey:
    """Return a queue of that name in the installation's store, which all its queues share.

    It keeps one connection to the store, which is closed when the engine is disposed of.
    """
    queue = _made(name, engine, folder)
    event.listen(engine, "engine_disposed", lambda _: queue.storage.close())
    return queue


def _made(name: str, engine: Engine, folder: Path) -> Huey:
    if engine.dialect.name != "postgresql":
        # A claim lost in a power cut is one tick done twice, which does no harm.
        return SqliteHuey(
            name, filename=str(folder / _FILE), results=False, fsync=False, cache_mb=1
        )
    with exclusive(engine, folder, "job_tables", wait=True):
        # Two servers that start at once would both make the tables.
        return PostgresHuey(
            name,
            connection=partial(_connect, engine),
            table_prefix=_TABLES,
            blocking=False,
            results=False,
        )


def _connect(engine: Engine) -> object:
    arguments, named = engine.dialect.create_connect_args(engine.url)
    return engine.dialect.loaded_dbapi.connect(*arguments, **named)
