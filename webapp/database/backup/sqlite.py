"""Backups of SQLite: another SQLite file, made by the database's own online backup."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Engine, PoolProxiedConnection, create_engine, func, inspect, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.sql.expression import table as any_table

from webapp.database.backup.contents import BackupError, Content
from webapp.database.schema import revision_of

MAGIC = b"SQLite format 3\0"


def dump(engine: Engine, file: Path) -> None:
    """Write the database as it is at this moment to a file; writers do not wait.

    Raises:
        BackupError: SQLite cannot write it, e.g. because the disk is full.
    """
    with (
        _failures_in_words(file),
        closing(engine.raw_connection()) as source,
        closing(sqlite3.connect(file)) as copy,
    ):
        _driver(source).backup(copy)
        # One file, without the log next to it, can be carried anywhere.
        copy.execute("PRAGMA journal_mode=DELETE")


def content_of(file: Path) -> Content:
    """Return what a backup holds, after checking every page of it.

    Raises:
        BackupError: It is damaged, or holds no database of Parallax.
    """
    engine = create_engine(f"sqlite:///{file.resolve()}")
    try:
        with engine.connect() as connection:
            said = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one()
            if said != "ok":
                raise BackupError(f"the backup is damaged: {said}", where=str(file))
            revision = revision_of(connection)
            counts = {
                name: connection.execute(
                    select(func.count()).select_from(any_table(name))
                ).scalar_one()
                for name in inspect(connection).get_table_names()
            }
    except DatabaseError as error:
        raise BackupError(f"the backup is damaged: {error.orig}", where=str(file)) from error
    finally:
        engine.dispose()
    if revision is None:
        raise BackupError(
            "the file is an SQLite database, but not one of Parallax", where=str(file)
        )
    return Content(revision, counts)


def load(engine: Engine, file: Path, _content: Content) -> None:
    """Replace the database's content by the backup's in one transaction.

    Raises:
        BackupError: SQLite cannot do it, e.g. because the disk is full; then nothing has changed.
    """
    with (
        _failures_in_words(file),
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as backup,
        closing(engine.raw_connection()) as target,
    ):
        backup.backup(_driver(target))


@contextmanager
def _failures_in_words(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupError(f"SQLite failed: {error}", where=str(file)) from error


def _driver(connection: PoolProxiedConnection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.driver_connection)
