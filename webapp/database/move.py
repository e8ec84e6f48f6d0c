"""Moving an installation from its SQLite file to a PostgreSQL database, each row as it is stored.

Three commits make a move, so that whatever interrupts it, exactly one database is in use. The first
fills the PostgreSQL database and marks it as arriving: no server opens it. The second marks the
SQLite file as departed: from then on nothing opens it, and triggers refuse every change, also by an
earlier version of this program. The third removes the arriving mark. After an interruption, the
same command copies again (before the second commit) or only makes the third.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    cast,
    func,
    inspect,
    literal,
    select,
)
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.sql.elements import BindParameter, ColumnElement

from experiment.machine import machine_id
from webapp.database.models import Base, Stamp
from webapp.database.models.base import UtcDateTime
from webapp.database.models.installation import delete_stamps, set_stamp, stamp_of
from webapp.database.row_counts import create_triggers, drop_triggers
from webapp.database.schema import create_tables, drop_tables, revision_of
from webapp.errors import WebappError

_ARRIVING, _DEPARTED = "move arriving", "move departed"
_MOVED = "this installation was moved to"
_BATCH_SIZE = 1000
_REVISION_TABLE = "alembic_version"


class MoveError(WebappError):
    """The installation cannot be moved, or was moved."""


@dataclass(frozen=True, slots=True)
class TableProof:
    """The content of one table, the same in both databases.

    Attributes:
        name: The table.
        n_rows: The number of its rows.
        digest: The SHA-256 of all their values, in the order of their keys.
    """

    name: str
    n_rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Departure:
    """The SQLite file's record of the move.

    Attributes:
        move: The move's random name.
        to: The PostgreSQL database's URL, without the password.
        at: The time, in words.
        right: The state of the right to pay that moves with the data; empty for none.
    """

    move: str
    to: str
    at: str
    right: str


def refuse_moved(engine: Engine) -> None:
    """Raise an error if the installation was moved from this database, or not completely to it.

    Raises:
        MoveError: It was.
    """
    with engine.connect().execution_options(reading=True) as connection:
        marks = _read_marks(connection)
    if _DEPARTED in marks:
        departure = Departure(**marks[_DEPARTED])
        raise MoveError(
            f"{_MOVED} {departure.to} at {departure.at}, and its SQLite file is not used any more",
            where=str(engine.url.database),
            remedy="Set database_url to the PostgreSQL database",
        )
    if _ARRIVING in marks:
        raise MoveError(
            "an installation is being moved to this database, and the move has not ended",
            where=hide_password(engine),
            remedy="While the setting database_url still names the SQLite file "
            f"{marks[_ARRIVING]['file']}, run again: parallax db move URL",
        )


def explain_refused_change(context: ExceptionContext) -> None:
    """Explain a change that a trigger of a moved file refused; an error handler for the engine.

    A command that waited for its turn to write found the file in use when it began.

    Raises:
        MoveError: The change was refused because the installation was moved.
    """
    if _MOVED in str(context.original_exception) and context.engine is not None:
        refuse_moved(context.engine)


def find_departure(connection: Connection) -> Departure | None:
    """Return an SQLite file's record of its move; None if it was not moved."""
    mark = _read_marks(connection).get(_DEPARTED)
    return None if mark is None else Departure(**mark)


def hide_password(engine: Engine) -> str:
    """Return a database's URL without the password."""
    return engine.url.render_as_string(hide_password=True)


def is_arriving(connection: Connection, move: str) -> bool:
    """Return whether a database is the unfinished target of this move."""
    return _read_marks(connection).get(_ARRIVING, {}).get("move") == move


def copy_database(source: Connection, target: Connection, move: str) -> Sequence[TableProof]:
    """Copy every row, compare both databases, and mark the target as arriving.

    Args:
        source: The SQLite database, in a transaction that keeps other writers out.
        target: The PostgreSQL database, in a transaction.
        move: The move's random name.

    Raises:
        MoveError: The target holds something else, or the databases differ afterwards.
    """
    origin = {"machine": machine_id(), "file": str(Path(str(source.engine.url.database)).resolve())}
    _drop_interrupted_move(target, origin)
    _refuse_unknown_tables(source)
    create_tables(target)
    # The counts are copied like every other row.
    drop_triggers(target)
    tables = [_copy_without_sealing(table) for table in Base.metadata.sorted_tables]
    proofs = [_copy_table(source, target, table) for table in tables]
    for table, proof in zip(tables, proofs, strict=True):
        if _read_proof(target, table) != proof:
            raise MoveError(f"the rows of {proof.name} differ after the copy")
    create_triggers(target)
    set_stamp(target, _ARRIVING, json.dumps({"move": move, **origin}))
    target.exec_driver_sql("ANALYZE")
    return proofs


def close_source(source: Connection, departure: Departure) -> None:
    """Mark the SQLite file as departed, in the caller's transaction; no row changes after it."""
    set_stamp(source, _DEPARTED, json.dumps(asdict(departure)))
    words = f"{_MOVED} {departure.to}".replace("'", "''")
    for name in inspect(source).get_table_names():
        for operation in ("INSERT", "UPDATE", "DELETE"):
            source.exec_driver_sql(
                f'CREATE TRIGGER "moved_{name}_{operation}" BEFORE {operation} ON "{name}" '
                f"BEGIN SELECT RAISE(ABORT, '{words}'); END"
            )


def end_move(target: Connection) -> None:
    """Remove the arriving mark, in the caller's transaction: the database can be used."""
    delete_stamps(target, _ARRIVING)


def _read_marks(connection: Connection) -> dict[str, dict[str, str]]:
    """Return a database's marks of a move: arriving, departed, or none."""
    if not inspect(connection).has_table(Stamp.__tablename__):
        return {}
    marks = {name: stamp_of(connection, name) for name in (_ARRIVING, _DEPARTED)}
    return {name: json.loads(mark) for name, mark in marks.items() if mark is not None}


def _drop_interrupted_move(target: Connection, origin: dict[str, str]) -> None:
    """Drop what an interrupted move of the same file left.

    Raises:
        MoveError: The database holds something else.
    """
    if revision_of(target) is None:
        return
    arrival = _read_marks(target).get(_ARRIVING)
    if arrival is None:
        raise MoveError(
            "the database holds an installation already",
            where=hide_password(target.engine),
            expected="an empty PostgreSQL database",
        )
    if not origin.items() <= arrival.items():
        raise MoveError(
            "the database holds the unfinished move of another installation, from "
            f"{arrival['file']}",
            where=hide_password(target.engine),
            expected="an empty PostgreSQL database",
        )
    drop_tables(target)


def _refuse_unknown_tables(source: Connection) -> None:
    known_tables = {*Base.metadata.tables, _REVISION_TABLE}
    if unknown := sorted(set(inspect(source).get_table_names()) - known_tables):
        raise MoveError(
            f"the SQLite file has tables that Parallax does not know: {', '.join(unknown)}",
            where=str(source.engine.url.database),
            remedy="They would be lost: write their rows elsewhere and drop them first",
        )


class _StoredJson(TypeDecorator[str]):
    """The text of a JSON value as it is stored: reading and writing it again would change it."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindparam: BindParameter[Any]) -> ColumnElement[Any]:
        return cast(bindparam, JSON)

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return cast(column, Text)


def _copy_without_sealing(table: Table) -> Table:
    """Return a table whose sealed names and digests stay as they are stored."""
    return Table(
        table.name,
        MetaData(),
        *(
            Column(column.name, _type_as_stored(column), primary_key=column.primary_key)
            for column in table.columns
        ),
    )


def _type_as_stored(column: Column[Any]) -> Any:  # noqa: ANN401 - any type of SQLAlchemy's
    if isinstance(column.type, JSON):
        return _StoredJson()
    is_sealed = isinstance(column.type, TypeDecorator) and not isinstance(column.type, UtcDateTime)
    return String() if is_sealed else column.type


def _copy_table(source: Connection, target: Connection, table: Table) -> TableProof:
    digest, n_rows = sha256(), 0
    try:
        for rows in _read_rows(source, table):
            target.execute(table.insert(), [dict(row._mapping) for row in rows])
            for row in rows:
                digest.update(_encode_row(row))
            n_rows += len(rows)
    except (DataError, IntegrityError, ValueError, TypeError) as error:
        cause = getattr(error, "orig", None) or error
        raise MoveError(
            f"a row of the table {table.name} cannot be stored in PostgreSQL: "
            f"{str(cause).partition(chr(10))[0]}",
            where=str(source.engine.url.database),
        ) from error
    for key in table.primary_key:
        if n_rows and isinstance(key.type, Integer):
            _continue_numbers(target, table, key)
    return TableProof(table.name, n_rows, digest.hexdigest())


def _continue_numbers(target: Connection, table: Table, key: Column[Any]) -> None:
    """Let new rows get numbers after those that were copied."""
    sequence = func.pg_get_serial_sequence(literal(f'"{table.name}"'), literal(key.name))
    last = select(func.max(key)).scalar_subquery()
    target.execute(select(func.setval(sequence, last)).where(sequence.is_not(None)))


def _read_proof(connection: Connection, table: Table) -> TableProof:
    digest, n_rows = sha256(), 0
    for rows in _read_rows(connection, table):
        for row in rows:
            digest.update(_encode_row(row))
        n_rows += len(rows)
    return TableProof(table.name, n_rows, digest.hexdigest())


def _read_rows(connection: Connection, table: Table) -> Iterator[Sequence[Any]]:
    query = select(table).order_by(*table.primary_key)
    with connection.execute(query.execution_options(yield_per=_BATCH_SIZE)) as rows:
        yield from rows.partitions()


def _encode_row(row: Sequence[object]) -> bytes:
    return f"{tuple(row)!r}\n".encode()
