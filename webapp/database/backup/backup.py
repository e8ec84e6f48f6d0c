"""Backups: all data of the database in one file that is verified and can be test-restored."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Engine, func, inspect, select, text
from sqlalchemy.sql.expression import table as any_table

from experiment.tables.atomic_write import atomic_write
from webapp.database.backup import postgresql as backup_postgresql
from webapp.database.backup import sqlite as backup_sqlite
from webapp.database.backup.contents import BackupContent, BackupError, BackupMethod, Row
from webapp.database.engine import make_engine
from webapp.database.locks import long_lock
from webapp.database.models import Run
from webapp.database.schema import UPGRADES_OLDER, SchemaError, revisions, stored_revision

_METHODS: Mapping[str, BackupMethod] = {"sqlite": backup_sqlite, "postgresql": backup_postgresql}


def back_up(engine: Engine, file: Path) -> BackupContent:
    """Write a consistent snapshot of the database to a new file, and read it back.

    Writers do not wait meanwhile.

    Args:
        engine: The database.
        file: The file to write; it must not exist.

    Raises:
        BackupError: The file exists, the database is empty, or the backup is not sound.
        WritingError: The file cannot be written.
    """
    if file.exists():
        raise BackupError(
            "the file already exists", where=str(file), expected="the name of a new file"
        )
    if stored_revision(engine) is None:
        raise BackupError("the database is empty: there is nothing to back up")
    method = _METHODS[engine.dialect.name]
    with atomic_write(file) as temporary:
        method.dump(engine, temporary)
        return method.content_of(temporary)


@dataclass(frozen=True, slots=True)
class SoundBackup:
    """A sound backup that can replace a database.

    Attributes:
        engine: The database.
        file: The backup.
        content: A summary of the backup's contents.
    """

    engine: Engine
    file: Path
    content: BackupContent

    def rows_of(self, tables: Sequence[str]) -> Iterator[tuple[str, Row]]:
        """Yield the backup's rows of some tables, each with the table's name."""
        return _find_method(self.engine, self.file).rows_of(self.file, tables)

    def restore(self) -> BackupContent:
        """Replace the database's contents by the backup's, completely or not at all.

        Raises:
            BackupError: The restore failed, e.g. because the disk is full.
        """
        _find_method(self.engine, self.file).load(self.engine, self.file, self.content)
        expected = self.content.rows
        with self.engine.connect().execution_options(reading=True) as connection:
            restored = {name: _count_rows(connection, name) for name in expected}
        if restored != expected:
            raise BackupError(f"the restored rows {restored} are not the backup's {expected}")
        return self.content


def check_restorable(engine: Engine, file: Path, *, replace: bool) -> SoundBackup:
    """Check that a backup can replace a database, after reading all of it; nothing is changed.

    Args:
        engine: The database.
        file: The backup.
        replace: Whether the database's current contents may be lost.

    Raises:
        BackupError: The file is not a sound backup of such a database, or the database holds runs.
        SchemaError: The backup has another schema than this code.
    """
    content = _find_method(engine, file).content_of(file)
    if content.revision != revisions()[-1]:
        raise _schema_error(content.revision, file)
    if not replace and (runs := _count_runs(engine)):
        raise BackupError(
            f"the database holds {runs} run(s), which would be lost",
            expected="an empty database",
            remedy="Back it up first; then restore with --replace",
        )
    return SoundBackup(engine, file, content)


def _schema_error(revision: str, file: Path) -> SchemaError:
    newer = revision > revisions()[-1]
    oldest = revisions()[0]
    version_of_backup = (
        f"commit {UPGRADES_OLDER} of Parallax" if revision < oldest else "the version it is of"
    )
    return SchemaError(
        f"the backup has the schema {revision}, which is {'newer' if newer else 'older'} than this "
        "code's",
        where=str(file),
        expected=f"a backup of the schema {revisions()[-1]}",
        remedy="Restore it with the version of Parallax that made it, or a newer one"
        if newer
        else f"In a checkout of {version_of_backup}, restore it with parallax db restore, and run: "
        "parallax db upgrade. Then use this version again",
    )


def _find_method(engine: Engine, file: Path) -> BackupMethod:
    try:
        with file.open("rb") as backup_file:
            beginning = backup_file.read(16)
    except OSError as error:
        raise BackupError(
            f"the backup file cannot be read ({error.strerror})", where=str(file)
        ) from error
    matching = [name for name, method in _METHODS.items() if beginning.startswith(method.MAGIC)]
    if matching != [engine.dialect.name]:
        description = f"a backup of {matching[0]}" if matching else "no backup"
        raise BackupError(
            f"the file is {description}",
            where=str(file),
            expected=f"a backup of {engine.dialect.name}, as the setting database_url says",
        )
    return _METHODS[matching[0]]


def _count_runs(engine: Engine) -> int:
    with engine.connect().execution_options(reading=True) as connection:
        if not inspect(connection).has_table(Run.__tablename__):
            return 0
        return _count_rows(connection, Run.__tablename__)


def _count_rows(connection: Connection, name: str) -> int:
    return connection.execute(select(func.count()).select_from(any_table(name))).scalar_one()


# "paradril" in ASCII: the advisory lock for test restores on PostgreSQL.
_LOCK_KEY = 0x7061_7261_6472_696C


@dataclass(frozen=True, slots=True)
class DrillResult:
    """The result of a test restore.

    Attributes:
        content: The row counts, equal in the backup and after the restore.
        took_s: The duration of the restore in seconds.
    """

    content: BackupContent
    took_s: float


def rehearse_restore(engine: Engine, file: Path) -> DrillResult:
    """Restore a backup into a temporary database, compare it, and delete it.

    Args:
        engine: The installation's database, which is not changed. On PostgreSQL, its user needs the
            right to create databases; simultaneous test restores wait for each other.
        file: The backup.

    Raises:
        BackupError: The backup is not sound, or has other rows after the restore.
    """
    with _temporary_database(engine) as scratch:
        began = time.monotonic()
        content = check_restorable(scratch, file, replace=False).restore()
        return DrillResult(content, time.monotonic() - began)


@contextmanager
def _temporary_database(engine: Engine) -> Iterator[Engine]:
    if engine.dialect.name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            scratch = make_engine(f"sqlite:///{folder}/drill.sqlite3")
            try:
                yield scratch
            finally:
                scratch.dispose()
        return
    # An installation runs one test restore at a time, so a database with this name is left over
    # from one that was killed. A server may hold the databases of several installations.
    name = f"parallax_drill_{sha256(str(engine.url.database).encode()).hexdigest()[:12]}"
    url = engine.url.set(database=name).render_as_string(hide_password=False)
    with engine.begin() as connection:
        long_lock(connection, _LOCK_KEY, wait=True)
        _execute_outside_transactions(engine, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        _execute_outside_transactions(engine, f"CREATE DATABASE {name} TEMPLATE template0")
        scratch = make_engine(url)
        try:
            yield scratch
        finally:
            scratch.dispose()
            _execute_outside_transactions(engine, f"DROP DATABASE {name} WITH (FORCE)")


def _execute_outside_transactions(engine: Engine, statement: str) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
