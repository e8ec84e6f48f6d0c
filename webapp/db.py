"""The database: engines and sessions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from webapp.errors import WebappError
from webapp.models import Base


def make_engine(url: str) -> Engine:
    """Return an engine for the URL, with SQLite made durable and safe for many threads."""
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, poolclass=QueuePool, pool_size=32, max_overflow=0)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def open_database(url: str) -> Engine:
    """Return an engine for a database that can be reached and has every table.

    Raises:
        WebappError: The database cannot be reached, lives in memory only or was made by another
            version, or its driver is not installed.
    """
    if url in ("sqlite://", "sqlite:///"):
        raise WebappError(
            "a database in memory would forget every answer",
            where="database_url",
            expected="a file, e.g. sqlite:///parallax.sqlite3",
        )
    try:
        engine = make_engine(url)
        create_schema(engine)
        missing = _missing_columns(engine)
    except (SQLAlchemyError, ImportError) as error:
        raise WebappError(
            f"the database cannot be used: {str(error).splitlines()[0]}",
            where=_without_password(url),
            remedy="The setting database_url says where it is",
        ) from error
    if missing:
        engine.dispose()
        raise WebappError(
            f"the database was made by another version: it lacks {', '.join(missing)}",
            where=_without_password(url),
            remedy="Export its runs with that version, and begin with another database_url",
        )
    return engine


def _missing_columns(engine: Engine) -> list[str]:
    inspector, missing = inspect(engine), list[str]()
    for table in Base.metadata.tables.values():
        known = {column["name"] for column in inspector.get_columns(table.name)}
        missing += [f"{table.name}.{name}" for name in set(table.columns.keys()) - known]
    return sorted(missing)


def _without_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return "database_url"


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # SQLAlchemy's own "begin" event starts the transactions, so the driver must not.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "busy_timeout=30000",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_immediate(connection: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own event signature
    # A plain BEGIN that reads and then writes fails at once when another writer came between;
    # taking the write lock first makes it wait for its turn instead.
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


Sessions = sessionmaker[Session]


def make_sessions(engine: Engine) -> Sessions:
    """Return the factory of writing sessions (each takes SQLite's write lock when it begins)."""
    return sessionmaker(engine, expire_on_commit=False)


@contextmanager
def reading(sessions: Sessions) -> Iterator[Session]:
    """Yield a session that only reads and never waits for writers."""
    with sessions() as session:
        session.connection(execution_options={"reading": True})
        yield session


def create_schema(engine: Engine) -> None:
    """Create every table that does not exist yet."""
    Base.metadata.create_all(engine)
