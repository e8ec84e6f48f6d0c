"""Copies of an installation's database and of the file beside it, kept and put back."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from fault_injection.environment import Environment
from webapp.database.engine import reading
from webapp.gate.ledger import LEDGER_FILE, prepare_restore, raise_epoch


@dataclass
class State:
    """An installation as it was at some moment: its database, and the file beside it."""

    database: sqlite3.Connection
    beside: bytes | None


def keep(environment: Environment) -> State:
    """Return a copy of the database, and of the file beside it."""
    kept = sqlite3.connect(":memory:", check_same_thread=False)
    _copy(environment, lambda there: there.backup(kept))
    file = environment.folder / "instance" / LEDGER_FILE
    return State(kept, file.read_bytes() if file.exists() else None)


def put_back(environment: Environment, state: State, way: str) -> None:
    """Put an earlier state in place of the present one."""
    instance = environment.folder / "instance"
    if way == "restored":
        prepare_restore(instance)
    _copy(environment, state.database.backup)
    if way == "restored":
        with reading(environment.services.sessions) as session:
            raise_epoch(session.connection(), instance)
    elif way != "copied":
        (instance / LEDGER_FILE).unlink(missing_ok=True)
        if state.beside is not None:
            (instance / LEDGER_FILE).write_bytes(state.beside)


def _copy(environment: Environment, copy: Callable[[sqlite3.Connection], None]) -> None:
    engine = environment.services.engine
    raw = engine.raw_connection()
    try:
        copy(raw.driver_connection)
    finally:
        raw.close()
    engine.dispose()
