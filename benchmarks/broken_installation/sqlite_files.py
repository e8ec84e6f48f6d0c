"""What can be wrong with an SQLite file."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from broken_installation.fault import Fault, Injection
from broken_installation.injections import moded, owned, replaced, with_settings
from broken_installation.site import Site

_SQLITE = "sqlite"


@contextmanager
def _sqlite_is_locked(site: Site) -> Iterator[None]:
    with closing(sqlite3.connect(site.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


def _in_sqlite(*statements: str) -> Injection:
    def change(site: Site) -> None:
        with closing(sqlite3.connect(site.file, isolation_level=None)) as connection:
            for each in statements:
                connection.execute(each)

    return replaced(change)


def _cut(site: Site) -> None:
    """Overwrite what follows the first page, as a bad disk does."""
    _without_log(site)
    size = site.file.stat().st_size
    with site.file.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))


def _no_database(site: Site) -> None:
    _without_log(site)
    site.file.write_bytes(b"Dear reader, " * 1000)


def _gone(site: Site) -> None:
    _without_log(site)
    site.file.unlink()


def _without_log(site: Site) -> None:
    for rest in ("-wal", "-shm"):
        Path(f"{site.file}{rest}").unlink(missing_ok=True)


_OLDER = "UPDATE alembic_version SET version_num = '0020'"
_NEWER = "UPDATE alembic_version SET version_num = '9999'"
FAULTS = (
    Fault(
        "the schema is an older version's",
        _in_sqlite(_OLDER),
        "0020",
        "db upgrade",
        _SQLITE,
        restarts=True,
    ),
    Fault(
        "the schema is a newer version's",
        _in_sqlite(_NEWER),
        "9999",
        "[Uu]pdate|newer|version",
        _SQLITE,
        restarts=True,
    ),
    Fault(
        "a table is gone",
        _in_sqlite("ALTER TABLE response RENAME TO elsewhere"),
        "response",
        "restore|upgrade",
        _SQLITE,
        restarts=True,
    ),
    Fault(
        "the file is locked by another program", _sqlite_is_locked, "lock", "other program", _SQLITE
    ),
    Fault(
        "the file belongs to somebody else",
        owned(lambda s: s.file),
        "sqlite3.*another user",
        "chown",
        _SQLITE,
    ),
    Fault(
        "the file is read-only",
        moded(lambda s: s.file, 0o400),
        "readonly|read-only",
        "chmod|chown",
        _SQLITE,
    ),
    Fault("others can read the file", moded(lambda s: s.file, 0o644), "sqlite3", "chmod", _SQLITE),
    Fault(
        "the file is damaged",
        replaced(_cut),
        "malformed|damaged|not a database",
        "restore",
        _SQLITE,
        restarts=True,
    ),
    Fault(
        "the file is no database",
        replaced(_no_database),
        "not a database",
        "restore",
        _SQLITE,
        restarts=True,
    ),
    Fault(
        "the file is gone", replaced(_gone), "database", "restore|[Pp]ut", _SQLITE, restarts=True
    ),
    Fault(
        "the file's folder is missing",
        with_settings(database_url="sqlite:////nowhere/parallax.sqlite3"),
        "folder does not exist",
        "database_url",
        _SQLITE,
    ),
)
