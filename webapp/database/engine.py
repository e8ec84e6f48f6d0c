"""Database engines and sessions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
    TimeoutError,
)
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from webapp.core.keys import Keys
from webapp.core.sealing import Sealer
from webapp.database.file_systems import MOUNTS, refuse_network_disk, refuse_unfit_folder
from webapp.database.key_identity import renew_digests, verify_keys
from webapp.database.models.identity import unlock
from webapp.database.move import explain_refused_change, refuse_moved
from webapp.database.pool import POOLER, CountedPool, ping_idle_connections
from webapp.database.remedies import remedy_for
from webapp.database.schema import create_missing_schema
from webapp.database.write_lock import serialize_writers
from webapp.errors import WebappError

# Errors caused by the database's state, not by the statement.
DATABASE_FAILURES = (OperationalError, InterfaceError, TimeoutError)
# The exit status that asks other programs to try again later (EX_TEMPFAIL).
_TRY_LATER_STATUS = 75
# Like SQLite's busy_timeout; also, a machine without power must not hold a lock for hours.
_POSTGRES_OPTIONS = (
    "-c lock_timeout=30s -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10"
    " -c tcp_keepalives_count=3"
)
# The same on this side: the loss of the database's machine is noticed within about a minute.
_KEEPALIVES = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


# What a pooler's connections must have from their role.
_LIMITS = {"lock_timeout": "30s", "idle_in_transaction_session_timeout": "2min"}


class DatabaseUnavailableError(WebappError):
    """The database is unavailable or temporarily unable to work; it may recover by itself."""

    exit_status = _TRY_LATER_STATUS


def make_engine(url: str, *, pooled: bool = False) -> Engine:
    """Return an engine for the URL, with SQLite made durable and safe for many threads.

    ``pooled`` uses the connection pooler that the URL may name, which gives every transaction
    another connection: not for locks, backups and changes of the schema.

    A request uses one connection, which it takes when it needs it. If none is free, the request
    waits, as described in ``webapp.database.pool``.
    """
    if not url.startswith("sqlite"):
        return _postgres_engine(url, pooled=pooled)
    engine = create_engine(url, poolclass=CountedPool, pool_size=CountedPool.most, max_overflow=0)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "handle_error", explain_refused_change)
    serialize_writers(engine)
    return engine


def _postgres_engine(url: str, *, pooled: bool) -> Engine:
    parsed = make_url(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    arguments, options = {}, dict[str, Any]()
    if parsed.drivername == "postgresql+psycopg":
        # No column has this type, so skip the lookup that each engine would make for it.
        options["use_native_hstore"] = False
    if parsed.get_backend_name() == "postgresql":
        arguments = {"connect_timeout": 10, "options": _POSTGRES_OPTIONS, **_KEEPALIVES}
        # Connection parameters in the URL take precedence.
        arguments = {name: value for name, value in arguments.items() if name not in parsed.query}
    engine = create_engine(
        parsed,
        poolclass=CountedPool,
        pool_size=CountedPool.most,
        max_overflow=0,
        connect_args=arguments,
        **options,
    )
    ping_idle_connections(engine)
    if POOLER in parsed.query:
        _choose_server(engine, pooled=pooled)
    return engine


def _choose_server(engine: Engine, *, pooled: bool) -> None:
    """Connect to the pooler that the URL names, or else to PostgreSQL itself.

    A pooler takes no parameters of a session, and no prepared statements.

    Raises:
        WebappError: The URL does not say where the pooler is.
    """
    host, _, port = str(engine.url.query[POOLER]).rpartition(":")
    if not (host and port.isdigit()):
        raise WebappError(
            f"{POOLER} does not say where the connection pooler is",
            where="database_url",
            expected=f"{POOLER}=HOST:PORT",
        )

    @event.listens_for(engine, "do_connect")
    def choose(
        _dialect: Dialect, _record: object, _arguments: object, parameters: dict[str, Any]
    ) -> None:
        # Before SQLAlchemy 2.1, all connections of an engine share the parameters.
        parameters.pop(POOLER, None)
        if pooled:
            # hostaddr would lead past the pooler, to PostgreSQL's own address.
            for name in ("options", "hostaddr"):
                parameters.pop(name, None)
            parameters |= {"host": host, "port": port, "prepare_threshold": None}


def _refuse_endless_waits(engine: Engine) -> None:
    """Refuse a pooler whose connections wait for a lock, or keep one, without limit.

    Raises:
        WebappError: A limit is 0. Parallax cannot set it for connections that it does not own.
    """
    with engine.connect() as connection:
        for name, limit in _LIMITS.items():
            if connection.execute(text(f"SHOW {name}")).scalar_one() == "0":
                raise WebappError(
                    f"through the connection pooler, {name} has no limit",
                    where="database_url",
                    expected=f"{limit}",
                    remedy=f"Run in PostgreSQL: ALTER ROLE NAME SET {name} = '{limit}', and restart"
                    " the pooler",
                )


@contextmanager
def without_pooler(engine: Engine) -> Iterator[Engine]:
    """Yield an engine for the same database whose connections keep their settings."""
    direct = make_engine(engine.url.render_as_string(hide_password=False))
    try:
        yield direct
    finally:
        direct.dispose()


def open_database(url: str, keys: Keys | None = None) -> Engine:
    """Return an engine for an available database that has this code's schema.

    Args:
        url: The database's URL.
        keys: The keys for its sealed names; without them, using a name raises an error.

    Raises:
        SchemaError: The schema is older or newer than this code's.
        DatabaseUnavailableError: The database is unavailable.
        WebappError: The database cannot be used, or the keys are not its own.
    """
    with usable_database(url, pooled=True) as engine:
        if POOLER in engine.url.query:
            _refuse_endless_waits(engine)
        create_missing_schema(engine)
        if keys is not None:
            unlock(engine, Sealer(keys))
            verify_keys(engine, keys)
            renew_digests(engine)
    return engine


@contextmanager
def usable_database(
    url: str, *, although_moved: bool = False, pooled: bool = False
) -> Iterator[Engine]:
    """Yield an engine for a database with any schema.

    Args:
        url: The database's URL.
        although_moved: Whether an installation that was moved away, or not quite here, is opened.
        pooled: Whether to use a connection pooler; see ``make_engine``.

    Raises:
        MoveError: The installation was moved to another database.
        DatabaseUnavailableError: The database is unavailable, or fails inside the block.
        WebappError: The database is in memory, in a missing folder or on a network disk, or its
            driver is not installed.
    """
    if url in ("sqlite://", "sqlite:///"):
        raise WebappError(
            "a database in memory would forget every answer",
            where="database_url",
            expected="a file, e.g. sqlite:///parallax.sqlite3",
        )
    try:
        engine = make_engine(url, pooled=pooled)
        _refuse_misplaced_file(engine)
        try:
            if not although_moved:
                refuse_moved(engine)
            yield engine
        except BaseException:
            engine.dispose()
            raise
    except (SQLAlchemyError, ImportError) as error:
        raise _database_error(error, _hide_password(url)) from error


@contextmanager
def report_database_failures() -> Iterator[None]:
    """Convert a failure of the database inside the block into a readable error.

    Raises:
        DatabaseUnavailableError: The database failed.
    """
    try:
        yield
    except DATABASE_FAILURES as error:
        raise _database_error(error, "database_url") from error


def _database_error(error: Exception, where: str) -> WebappError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    kind = DatabaseUnavailableError if isinstance(error, DATABASE_FAILURES) else WebappError
    reason = str(cause)
    problem = f"the database cannot be used: {reason.partition(chr(10))[0]}"
    return kind(problem, where=where, remedy=remedy_for(reason))


def _refuse_misplaced_file(engine: Engine) -> None:
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return
    file = Path(engine.url.database)
    if not file.parent.is_dir():
        raise WebappError(
            "the database cannot be used: its folder does not exist",
            where=str(file),
            remedy="The setting database_url says where it is",
        )
    if MOUNTS.exists():
        refuse_network_disk(file, MOUNTS.read_text(encoding="utf-8"))
        refuse_unfit_folder(file.parent)


def _hide_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return "database_url"


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # webapp.database.write_lock begins transactions, so the driver must not do so.
    connection.isolation_level = None
    cursor = connection.cursor()
    # The timeout comes first, because two servers may create the same file at once.
    for pragma in (
        "busy_timeout=30000",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        # Deleted or replaced data are overwritten in the file, not left in free pages.
        "secure_delete=ON",
        # From here on, SQLite only waits for writers that do not use webapp.database.write_lock,
        # and for processes that are just opening the file.
        "busy_timeout=1000",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


Sessions = sessionmaker[Session]


def make_sessions(engine: Engine) -> Sessions:
    """Return the factory of writing sessions (each takes SQLite's write lock when it begins)."""
    return sessionmaker(engine, expire_on_commit=False)


@contextmanager
def reading(sessions: Sessions) -> Iterator[Session]:
    """Yield a session that only reads and never waits for writers.

    PostgreSQL refuses writes. Its transaction is committed, because psycopg forgets all prepared
    statements of a connection at a rollback.
    """
    with sessions() as session:
        connection = session.connection(
            execution_options={"reading": True, "postgresql_readonly": True}
        )
        yield session
        is_usable = not (connection.closed or connection.invalidated)
        if connection.dialect.name == "postgresql" and is_usable:
            connection.connection.commit()
