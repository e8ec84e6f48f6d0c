"""A copy of the SQLite database that is put back, as an older backup would be."""

import sqlite3
from collections.abc import Callable

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
