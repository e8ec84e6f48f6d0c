"""Trying a backup out: it is restored into a database made for the purpose, and compared."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Engine, text

from webapp.database.backup.backup import examine
from webapp.database.backup.contents import Content
from webapp.database.engine import make_engine
from webapp.database.locks import advisory_lock

# "paradril" in ASCII: the advisory lock of who tries a backup out on PostgreSQL.
_LOCK = 0x7061_7261_6472_696C


@dataclass(frozen=True, slots=True)
class Drill:
    """A backup that was restored.

    Attributes:
        content: What it holds, every table's rows counted in the backup and after the restoring.
        took_s: How long the restoring took.
    """

    content: Content
    took_s: float


def drill(engine: Engine, file: Path) -> Drill:
    """Restore a backup into a new database beside the installation's, compare, and remove it.

    Args:
        engine: The installation's database, which is left alone. Where it is PostgreSQL, its user
            needs the right to create databases; a drill waits for another one to end.
        file: The backup.

    Raises:
        BackupError: The backup is not sound, or holds other rows once it is restored.
    """
    with _scratch(engine) as scratch:
        began = time.monotonic()
        content = examine(scratch, file, replace=False).restore()
        return Drill(content, time.monotonic() - began)


@contextmanager
def _scratch(engine: Engine) -> Iterator[Engine]:
    if engine.dialect.name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            scratch = make_engine(f"sqlite:///{folder}/drill.sqlite3")
            try:
                yield scratch
            finally:
                scratch.dispose()
        return
    # Of this installation's drills there is one at a time, so whatever bears their name is left
    # over from one that was killed. A server may hold databases of several installations.
    name = f"parallax_drill_{sha256(str(engine.url.database).encode()).hexdigest()[:12]}"
    url = engine.url.set(database=name).render_as_string(hide_password=False)
    with engine.begin() as connection:
        advisory_lock(connection, _LOCK, wait=True)
        _outside_transactions(engine, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        _outside_transactions(engine, f"CREATE DATABASE {name} TEMPLATE template0")
        scratch = make_engine(url)
        try:
            yield scratch
        finally:
            scratch.dispose()
            _outside_transactions(engine, f"DROP DATABASE {name} WITH (FORCE)")


def _outside_transactions(engine: Engine, statement: str) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
