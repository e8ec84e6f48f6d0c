"""Storage of a stand-in's state: a folder with one SQLite file and a key."""

import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, DateTime, Dialect, Engine, TypeDecorator, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from marketplace.errors import MarketplaceError

Clock = Callable[[], datetime]
_KEY_FILE = "secret_key"


def utc_now() -> datetime:
    """Return the current time as an aware UTC datetime."""
    return datetime.now(UTC)


def open_folder(folder: Path) -> Path:
    """Return the folder of a stand-in's state; create it if missing.

    Raises:
        MarketplaceError: The folder cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise _folder_error(folder, str(error)) from error
    if not writable:
        raise _folder_error(folder, "it is read-only")
    return folder.resolve()


def session_key(folder: Path) -> str:
    """Return the key that signs visitors' session cookies; create it on first use."""
    path = folder / _KEY_FILE
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32), encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8").strip()


def sqlite_engine(file: Path) -> Engine:
    """Return an engine for one SQLite file; its transactions take the write lock at the start."""
    engine = create_engine(f"sqlite:///{file}")
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time; plain SQLite would return naive times."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store the time in UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time as aware UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


def _prepare_connection(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # The function _begin_transaction begins transactions, so the driver must not.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_transaction(connection: Connection) -> None:
    # A transaction that reads first and writes later fails if another one wrote in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _folder_error(folder: Path, reason: str) -> MarketplaceError:
    return MarketplaceError(
        f"the folder of the marketplace's state cannot be used: {reason}",
        where=str(folder),
        expected="a folder this user may write to",
        remedy="Give another folder with --folder",
    )
