"""Backups of SQLite: another SQLite file, made by SQLite's online backup."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Engine, PoolProxiedConnection, create_engine, inspect
from sqlalchemy.exc import DatabaseError

from webapp.database.backup.contents import BackupContent, BackupError, Row
from webapp.database.schema import revision_of

MAGIC = b"SQLite format 3\0"
# https://www.sqlite.org/fileformat.html: 2 for a database with a write-ahead log. Backups made here
# have none.
_HEADER_BYTES, _WRITE_VERSION, _WITH_LOG = 20, 18, 2


def dump(engine: Engine, file: Path) -> None:
    """Write a snapshot of the database to a file; writers do not wait.

    Raises:
        BackupError: SQLite cannot write the file, e.g. because the disk is full.
    """
    with (
        _report_sqlite_errors(file),
        closing(engine.raw_connection()) as source,
        closing(sqlite3.connect(file)) as copy,
    ):
        _driver_connection(source).backup(copy)
        # A single file without a log can be moved anywhere.
        copy.execute("PRAGMA journal_mode=DELETE")


def content_of(file: Path) -> BackupContent:
    """Return the summary of a backup, after checking every page of it.

    Raises:
        BackupError: The backup is damaged, or is not of a Parallax database.
    """
    engine = create_engine(f"sqlite:///{file.resolve()}")
    try:
        with engine.connect() as connection:
            verdict = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one()
            if verdict != "ok":
                raise _damage_error(verdict, file)
            revision = revision_of(connection)
            # Plain SQL, because SQLAlchemy would compile a statement for each table.
            quoted = connection.dialect.identifier_preparer.quote
            counts = {
                name: connection.exec_driver_sql(
                    f"SELECT count(*) FROM {quoted(name)}"
                ).scalar_one()
                for name in inspect(connection).get_table_names()
            }
    except DatabaseError as error:
        raise _damage_error(str(error.orig), file) from error
    finally:
        engine.dispose()
    if revision is None:
        raise BackupError(
            "the file is an SQLite database, but not one of Parallax", where=str(file)
        )
    return BackupContent(revision, counts)


@contextmanager
def open_merged_backup(file: Path, *, complete: bool) -> Iterator[Path]:
    """Yield a backup as one file during the block; a copied database is merged with its log.

    A database in use has its newest data in a log file. A copy of the database file alone is sound
    but lacks these data, and nothing in it shows that.

    Args:
        file: A backup, or a copy of a database's file.
        complete: Whether the file is known to need no log.

    Raises:
        BackupError: The file is a copied database, and its log is missing.
    """
    with file.open("rb") as backup_file:
        header = backup_file.read(_HEADER_BYTES)
    if not header.startswith(MAGIC) or header[_WRITE_VERSION] != _WITH_LOG or complete:
        yield file
        return
    log = file.with_name(f"{file.name}-wal")
    if not log.exists():
        raise BackupError(
            "the file is a copy of a database, not a backup: it lacks what the database had in its "
            "log (-wal) when it was copied, which may be most of the answers",
            where=str(file),
            expected=f"a backup by parallax db backup, or the log next to it as {log.name}",
            remedy="If no server ran when it was copied, it is complete: add --copied",
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup"
        shutil.copyfile(file, copy)
        shutil.copyfile(log, copy.with_name("backup-wal"))
        with _report_sqlite_errors(file), closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        yield copy


def rows_of(file: Path, tables: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of some tables of a sound backup, each with the table's name."""
    with _report_sqlite_errors(file), closing(_open_read_only(file)) as backup:
        backup.row_factory = sqlite3.Row
        table_names = {name for (name,) in backup.execute("SELECT name FROM sqlite_master")}
        for table in tables:
            if table in table_names:
                for row in backup.execute(f'SELECT * FROM "{table}"'):
                    texts = {name: row[name] for name in row.keys()}  # noqa: SIM118 - not a dict
                    yield table, {n: None if v is None else str(v) for n, v in texts.items()}


def load(engine: Engine, file: Path, _content: BackupContent) -> None:
    """Replace the database's contents by the backup's in one transaction.

    Raises:
        BackupError: SQLite failed, e.g. because the disk is full; then nothing has changed.
    """
    with (
        _report_sqlite_errors(file),
        closing(_open_read_only(file)) as backup,
        closing(engine.raw_connection()) as target,
    ):
        backup.backup(_driver_connection(target))


def _open_read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)


def _damage_error(problem: str, file: Path) -> BackupError:
    return BackupError(
        f"the backup is damaged: {' '.join(problem.split())}",
        where=str(file),
        remedy="Use an earlier backup",
    )


@contextmanager
def _report_sqlite_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupError(f"SQLite failed: {error}", where=str(file)) from error


def _driver_connection(connection: PoolProxiedConnection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.driver_connection)
