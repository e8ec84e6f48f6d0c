"""A copy of the SQLite database that is put back, as an older backup would be."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from webapp.database.engine import Sessions


def copied(sessions: Sessions) -> Callable[[], None]:
    """Copy the database, and return what puts the copy back in its place."""
    kept = sqlite3.connect(":memory:", check_same_thread=False)
    engine = sessions.kw["bind"]

    def copy(to_memory: bool) -> None:
        raw = engine.raw_connection()
        try:
            there = raw.driver_connection
            source, target = (there, kept) if to_memory else (kept, there)
            source.backup(target)
        finally:
            raw.close()
        engine.dispose()

    copy(to_memory=True)
    return lambda: copy(to_memory=False)


def copied_with_ledger(sessions: Sessions, instance: Path) -> Callable[[], None]:
    """Copy the database and the file beside it, so that nothing tells that the copy is old."""
    file = instance / "ledger"
    kept = file.read_bytes() if file.exists() else None
    put_back = copied(sessions)

    def restore() -> None:
        put_back()
        file.unlink(missing_ok=True)
        if kept is not None:
            file.write_bytes(kept)

    return restore


def copied_far(sessions: Sessions, instance: Path) -> Path:
    """Copy the installation, as to another machine that does not see this one; return the folder.

    The copy's database says that the installation on the other machine pays.
    """
    sessions.kw["bind"].dispose()
    far = instance.parent / "far"
    shutil.copytree(instance, far)
    with closing(sqlite3.connect(far / "parallax.sqlite3")) as database, database:
        database.execute(
            "UPDATE stamp SET value = json_set(value, '$.machine', 'another', '$.address', '')"
            " WHERE name = 'paying copy'"
        )
    return far
