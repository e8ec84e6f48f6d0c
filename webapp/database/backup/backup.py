"""Backups: everything the database holds, as one file that was checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, func, inspect, select
from sqlalchemy.sql.expression import table as any_table

from experiment.tables.atomic_write import atomic_write
from webapp.database.backup import postgresql as backup_postgresql
from webapp.database.backup import sqlite as backup_sqlite
from webapp.database.backup.contents import BackupError, Content, Row, Way
from webapp.database.models import Run
from webapp.database.schema import UPGRADES_OLDER, SchemaError, revisions, stored_revision

_WAYS: Mapping[str, Way] = {"sqlite": backup_sqlite, "postgresql": backup_postgresql}


def back_up(engine: Engine, file: Path) -> Content:
    """Write everything the database holds to a new file, at one moment, and read it back.

    Nobody is kept from answering meanwhile.

    Args:
        engine: The database.
        file: Where to; nothing may stand there.

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
    way = _WAYS[engine.dialect.name]
    with atomic_write(file) as temporary:
        way.dump(engine, temporary)
        return way.content_of(temporary)


@dataclass(frozen=True, slots=True)
class Restorable:
    """A sound backup that a database may become.

    Attributes:
        engine: The database.
        file: The backup.
        content: What it holds.
    """

    engine: Engine
    file: Path
    content: Content

    def rows_of(self, tables: Sequence[str]) -> Iterator[tuple[str, Row]]:
        """Yield the backup's rows of some tables, each with its table's name."""
        return _way(self.engine, self.file).rows_of(self.file, tables)

    def restore(self) -> Content:
        """Make the database hold what the backup holds, wholly or not at all.

        Raises:
            BackupError: It cannot be done, e.g. because the disk is full.
        """
        _way(self.engine, self.file).load(self.engine, self.file, self.content)
        expected = self.content.rows
        with self.engine.connect().execution_options(reading=True) as connection:
            restored = {name: _count(connection, name) for name in expected}
        if restored != expected:
            raise BackupError(f"the restored rows {restored} are not the backup's {expected}")
        return self.content


def examine(engine: Engine, file: Path, *, replace: bool) -> Restorable:
    """Return what a database may become, after reading all of it; nothing is changed.

    Args:
        engine: The database.
        file: The backup.
        replace: Whether what the database holds may be lost.

    Raises:
        BackupError: The file is no sound backup of such a database, or the database holds runs.
        SchemaError: The backup has another schema than this code.
    """
    content = _way(engine, file).content_of(file)
    if content.revision != revisions()[-1]:
        raise _other_schema(content.revision, file)
    if not replace and (runs := _runs(engine)):
        raise BackupError(
            f"the database holds {runs} run(s), which would be lost",
            expected="an empty database",
            remedy="Back it up first; then restore with --replace",
        )
    return Restorable(engine, file, content)


def _other_schema(revision: str, file: Path) -> SchemaError:
    newer = revision > revisions()[-1]
    oldest = revisions()[0]
    maker = f"commit {UPGRADES_OLDER} of Parallax" if revision < oldest else "the version it is of"
    return SchemaError(
        f"the backup has the schema {revision}, which is {'newer' if newer else 'older'} than this "
        "code's",
        where=str(file),
        expected=f"a backup of the schema {revisions()[-1]}",
        remedy="Restore it with the version of Parallax that made it, or a newer one"
        if newer
        else f"In a checkout of {maker}, restore it with parallax db restore, and run: "
        "parallax db upgrade. Then use this version again",
    )


def _way(engine: Engine, file: Path) -> Way:
    try:
        with file.open("rb") as opened:
            beginning = opened.read(16)
    except OSError as error:
        raise BackupError(f"it cannot be read ({error.strerror})", where=str(file)) from error
    found = [name for name, way in _WAYS.items() if beginning.startswith(way.MAGIC)]
    if found != [engine.dialect.name]:
        what = f"a backup of {found[0]}" if found else "no backup"
        raise BackupError(
            f"the file is {what}",
            where=str(file),
            expected=f"a backup of {engine.dialect.name}, as the setting database_url says",
        )
    return _WAYS[found[0]]


def _runs(engine: Engine) -> int:
    with engine.connect().execution_options(reading=True) as connection:
        if not inspect(connection).has_table(Run.__tablename__):
            return 0
        return _count(connection, Run.__tablename__)


def _count(connection: Connection, name: str) -> int:
    return connection.execute(select(func.count()).select_from(any_table(name))).scalar_one()
