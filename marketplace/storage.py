"""Where a stand-in keeps its state: a folder with one SQLite file and a key."""

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
    """Return the time, aware, in UTC."""
    return datetime.now(UTC)


def open_folder(folder: Path) -> Path:
    """Return the folder of a stand-in's state, made if it is missing.

    Raises:
        MarketplaceError: It cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise _unusable(folder, str(error)) from error
    if not writable:
        raise _unusable(folder, "it is read-only")
    return folder.resolve()


def session_key(folder: Path) -> str:
    """Return the key that signs the sessions of a stand-in's visitors, made once."""
    path = folder / _KEY_FILE
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32), encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8").strip()


def sqlite_engine(file: Path) -> Engine:
    """Return an engine for one SQLite file whose transactions take the write lock at once."""
    engine = create_engine(f"sqlite:///{file}")
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time; SQLite would otherwise give naive times back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store the time as UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the time back as aware UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


def _prepare(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # Transactions begin in _begin, so the driver must not begin them.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later would fail when another wrote in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _unusable(folder: Path, reason: str) -> MarketplaceError:
    return MarketplaceError(
        f"the folder of the marketplace's state cannot be used: {reason}",
        where=str(folder),
        expected="a folder this user may write to",
        remedy="Give another folder with --folder",
    )
