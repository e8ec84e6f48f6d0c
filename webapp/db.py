"""The database: engines, sessions, and the types the models share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Engine, MetaData, TypeDecorator, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from webapp.errors import WebappError

_NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """The base of every model; constraints get predictable names."""

    metadata = MetaData(naming_convention=_NAMING)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time on every database; SQLite would otherwise give naive times back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store the time as UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive time cannot be stored: which zone is it in?")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the time back as aware UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


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
        WebappError: The database cannot be reached, lives in memory only, or its driver is not
            installed.
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
    except (SQLAlchemyError, ImportError) as error:
        raise WebappError(
            f"the database cannot be used: {str(error).splitlines()[0]}",
            where=_without_password(url),
            remedy="The setting database_url says where it is",
        ) from error
    return engine


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
    import webapp.models  # noqa: F401 - the import declares the tables

    Base.metadata.create_all(engine)
