"""The storage of job queues: a file next to SQLite's, or tables in PostgreSQL."""

from functools import partial
from pathlib import Path

from huey import Huey, PostgresHuey, SqliteHuey
from sqlalchemy import Engine, event

from webapp.database.locks import exclusive

_SQLITE_FILE = "jobs.sqlite3"
_TABLE_PREFIX = "parallax_jobs"


def open_store(name: str, engine: Engine, folder: Path) -> Huey:
    """Return the queue with this name; all queues of the installation share one storage.

    The queue keeps one connection, which is closed when the engine is disposed of.
    """
    queue = _make_queue(name, engine, folder)
    event.listen(engine, "engine_disposed", lambda _: queue.storage.close())
    return queue


def _make_queue(name: str, engine: Engine, folder: Path) -> Huey:
    if engine.dialect.name != "postgresql":
        # After a power cut, a periodic job may run twice, which is harmless.
        return SqliteHuey(
            name, filename=str(folder / _SQLITE_FILE), results=False, fsync=False, cache_mb=1
        )
    with exclusive(engine, folder, "job_tables", wait=True):
        # Two servers that start at once would both create the tables.
        return PostgresHuey(
            name,
            connection=partial(_connect_storage, engine),
            table_prefix=_TABLE_PREFIX,
            blocking=False,
            results=False,
        )


def _connect_storage(engine: Engine) -> object:
    arguments, keywords = engine.dialect.create_connect_args(engine.url)
    return engine.dialect.loaded_dbapi.connect(*arguments, **keywords)
