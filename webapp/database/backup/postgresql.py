"""Backups of PostgreSQL: a pg_dump archive, restored in one transaction."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from webapp.database.backup.contents import BackupContent, BackupError, Row
from webapp.database.models import Base
from webapp.database.pool import POOLER
from webapp.database.row_counts import DROP_FUNCTIONS

MAGIC = b"PGDMP"
_INSTALL_FOLDER = Path("/usr/lib/postgresql")
_COPY_LINE = re.compile(r'COPY (?:public\.)?"?(\w+)"? \(([^)]*)\)')
_END_OF_ROWS = "\\.\n"
_NULL = "\\N"
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_VERSION_TABLE = "alembic_version"


def dump(engine: Engine, file: Path) -> None:
    """Write a snapshot of the database to an archive; writers do not wait.

    Raises:
        BackupError: pg_dump is not installed, or failed.
    """
    _run_program("pg_dump", "--format=custom", "--no-owner", "--no-privileges",
         f"--file={file}", *_connection_option(engine), engine=engine)  # fmt: skip


def content_of(file: Path) -> BackupContent:
    """Return the summary of an archive, after reading all of it.

    Raises:
        BackupError: The archive is damaged, or is not of a Parallax database.
    """
    with _to_sql(file) as script:
        return _summarise_script(script, file)


def rows_of(file: Path, tables: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of some tables of a sound archive, each with the table's name."""
    only = [f"--table={name}" for name in tables]
    with _to_sql(file, "--data-only", *only) as script, script.open(encoding="utf-8") as lines:
        table, columns = "", list[str]()
        for line in lines:
            if table and line != _END_OF_ROWS:
                values = (_decode_value(text) for text in line.removesuffix("\n").split("\t"))
                yield table, dict(zip(columns, values, strict=True))
            elif table:
                table = ""
            elif table_start := _COPY_LINE.match(line):
                table, columns = (
                    table_start[1],
                    [text.strip(' "') for text in table_start[2].split(",")],
                )


def _decode_value(text: str) -> str | None:
    if text == _NULL:
        return None
    return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text)


def load(engine: Engine, file: Path, content: BackupContent) -> None:
    """Replace the database's contents by the archive's in one transaction.

    Raises:
        BackupError: psql is not installed, or failed; then nothing has changed.
    """
    table_names = sorted({*Base.metadata.tables, *content.rows, _VERSION_TABLE})
    drop = f"DROP TABLE IF EXISTS {', '.join(f'public.{name}' for name in table_names)} CASCADE"
    drop += "".join(f"; {statement}" for statement in DROP_FUNCTIONS)
    with _to_sql(file) as script:
        _run_program(
            "psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1",
            f"--output={os.devnull}", *_connection_option(engine), f"--command={drop}",
            f"--file={script}", engine=engine,
        )  # fmt: skip


@contextmanager
def _to_sql(file: Path, *options: str) -> Iterator[Path]:
    # A complete script file is executed as a whole; a broken pipe could look like the end of the
    # script.
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "backup.sql"
        _run_program("pg_restore", "--no-owner", "--no-privileges", *options,
             f"--file={script}", str(file))  # fmt: skip
        yield script


def _summarise_script(script: Path, file: Path) -> BackupContent:
    rows, revision, table = dict[str, int](), "", ""
    with script.open(encoding="utf-8") as lines:
        for line in lines:
            if table and line != _END_OF_ROWS:
                rows[table] += 1
                revision = line.strip() if table == _VERSION_TABLE else revision
            elif table:
                table = ""
            elif table_start := _COPY_LINE.match(line):
                table = table_start[1]
                rows[table] = 0
    if not revision:
        raise BackupError(
            "the file is a PostgreSQL archive, but not one of Parallax", where=str(file)
        )
    return BackupContent(revision, rows)


def _connection_option(engine: Engine) -> list[str]:
    # The password is passed in the environment, because all users can read a process's arguments.
    url = engine.url._replace(drivername="postgresql", password=None)
    url = url.difference_update_query([POOLER])
    return [f"--dbname={url.render_as_string(hide_password=False)}"]


def _run_program(program: str, *arguments: str, engine: Engine | None = None) -> None:
    environment = dict(os.environ)
    if engine is not None and engine.url.password:
        environment["PGPASSWORD"] = str(engine.url.password)
    completed = subprocess.run(
        [_find_program(program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode:
        raise BackupError(f"{program} failed: {' '.join(completed.stderr.split())}")


def _find_program(program: str) -> str:
    newest = sorted(_INSTALL_FOLDER.glob(f"*/bin/{program}"), key=lambda p: int(p.parts[-3]))
    path = str(newest[-1]) if newest else shutil.which(program)
    if path is None:
        raise BackupError(
            f"the program {program} is not installed",
            expected="the client programs of PostgreSQL, as new as its server",
            remedy="Install them (on Debian: apt install postgresql-client)",
        )
    return path
