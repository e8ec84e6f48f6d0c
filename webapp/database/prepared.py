"""Statements that are compiled once and executed directly on the driver's cursor.

SQLAlchemy prepares each execution again, which takes longer than SQLite needs for the statement.
Therefore, the few statements that delay every answer are written with SQLAlchemy but executed
without it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Dialect,
    Insert,
    Integer,
    String,
    any_,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import Executable
from sqlalchemy.sql.selectable import FromClause
from sqlalchemy.types import TypeEngine

_Process = Callable[[Any], Any]


class Prepared:
    """One statement, compiled for one database dialect.

    Args:
        statement: The statement; its parameters are bound by name.
        dialect: The database dialect.
        columns: The columns that an insert fills; none for any other statement.
    """

    def __init__(
        self, statement: Executable, dialect: Dialect, columns: Sequence[str] | None = None
    ) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=columns)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        assert "POSTCOMPILE" not in self.sql, "a list needs is_one_of"
        to_driver = {
            name: bound.type.dialect_impl(dialect).bind_processor(dialect)
            for bound, name in compiled.bind_names.items()
        }
        # Parameters with values fixed by the statement, such as a state.
        self._fixed = {
            name: bound.effective_value
            for bound, name in compiled.bind_names.items()
            if not bound.required
        }
        self._order = compiled.positiontup
        self._names = tuple(self._order or to_driver)
        self._to_driver = tuple((name, to_driver[name]) for name in dict.fromkeys(self._names))
        self._from_driver = _find_converters(statement, dialect)
        self._for_many = sql_for_many(statement, columns) if columns and not self._order else ""
        # If no value is fixed or converted, a row's values are taken over directly.
        needs_no_conversion = self._order and not self._fixed and not any(to_driver.values())
        self._pick = (
            itemgetter(*self._names) if needs_no_conversion and len(self._names) > 1 else None
        )

    def fetch_raw(
        self, connection: PoolProxiedConnection, values: Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        """Return every row of the result."""
        cursor = connection.cursor()
        try:
            cursor.execute(self.sql, self._to_driver_values(values))
            rows = list(cursor.fetchall())
        finally:
            cursor.close()
        for index, read in self._from_driver:
            rows = [(*row[:index], read(row[index]), *row[index + 1 :]) for row in rows]
        return rows

    def fetch(self, connection: Connection, **values: object) -> list[tuple[Any, ...]]:
        """Return every row of the result, in the transaction of a SQLAlchemy connection.

        Raises:
            DBAPIError: The database failed, as if SQLAlchemy itself executed the statement.
        """
        try:
            return self.fetch_raw(connection.connection, values)
        except connection.dialect.loaded_dbapi.Error as error:
            raise self._wrap_error(connection, error) from error

    def execute(self, connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
        """Execute the statement for each set of values, in a SQLAlchemy connection's transaction.

        Raises:
            DBAPIError: The database failed.
        """
        try:
            self.execute_raw(connection.connection, rows)
        except connection.dialect.loaded_dbapi.Error as error:
            raise self._wrap_error(connection, error) from error

    def _wrap_error(self, connection: Connection, error: Exception) -> Exception:
        dialect, driver = connection.dialect, connection.connection.dbapi_connection
        is_disconnected = dialect.is_disconnect(error, driver, None)  # type: ignore[arg-type]
        if is_disconnected:
            connection.invalidate(error)
        kind = dialect.loaded_dbapi.Error
        return DBAPIError.instance(
            self.sql, None, error, kind, connection_invalidated=is_disconnected, dialect=dialect
        )

    def execute_raw(
        self, connection: PoolProxiedConnection, rows: Iterable[Mapping[str, object]]
    ) -> None:
        """Execute the statement for each set of values; PostgreSQL inserts all rows at once."""
        rows = list(rows)
        cursor = connection.cursor()
        try:
            if len(rows) == 1:
                cursor.execute(self.sql, self._to_driver_values(rows[0]))
            elif self._for_many:
                cursor.execute(self._for_many, {"rows": encode_json(rows)})
            else:
                cursor.executemany(self.sql, [self._to_driver_values(row) for row in rows])
        finally:
            cursor.close()

    def _to_driver_values(self, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - as the driver takes it
        if self._pick is not None:
            try:
                return self._pick(values)
            except KeyError:  # missing values are null
                return self._pick({**dict.fromkeys(self._names), **values})
        fixed = self._fixed
        ready = {
            name: value if process is None else process(value)
            for name, process in self._to_driver
            for value in (values[name] if name in values else fixed.get(name),)
        }
        return ready if self._order is None else [ready[name] for name in self._order]


def _find_converters(statement: Executable, dialect: Dialect) -> list[tuple[int, _Process]]:
    """Return the positions of result values that need conversion, with the converters."""
    types: list[TypeEngine[Any]] = [
        column.type for column in getattr(statement, "selected_columns", ())
    ]
    readers = (type_.dialect_impl(dialect).result_processor(dialect, None) for type_ in types)
    return [(index, read) for index, read in enumerate(readers) if read is not None]


def is_one_of(
    column: InstrumentedAttribute[Any], name: str, dialect: Dialect
) -> ColumnElement[bool]:
    """Return the condition that a column equals one of a list of values.

    ``make_list_parameter`` makes the list's parameter.

    The statement's text does not depend on the number of values.
    """
    if dialect.name == "sqlite":
        values = func.json_each(bindparam(name, type_=String)).table_valued("value")
        return column.in_(select(values.c.value))
    return column == any_(bindparam(name, type_=ARRAY(column.type)))


def make_list_parameter(values: Iterable[object], dialect: Dialect) -> object:
    """Return the parameter for a list of values."""
    return encode_json(list(values)) if dialect.name == "sqlite" else list(values)


def make_pairs_table(names: tuple[str, str], dialect: Dialect) -> FromClause:
    """Return a table expression with two integer columns, filled by ``make_pairs_parameters``."""
    first, second = names
    if dialect.name == "sqlite":
        pair = func.json_each(bindparam("pairs", type_=String)).table_valued("value")
        return select(
            cast(func.json_extract(pair.c.value, "$[0]"), Integer).label(first),
            cast(func.json_extract(pair.c.value, "$[1]"), Integer).label(second),
        ).subquery("asked")
    numbers = ARRAY(Integer)
    return (
        func.unnest(bindparam("firsts", type_=numbers), bindparam("seconds", type_=numbers))
        .table_valued(first, second, name="asked")
        .render_derived()
    )


def make_pairs_parameters(rows: Sequence[tuple[int, int]], dialect: Dialect) -> dict[str, object]:
    """Return the parameters for the rows of such a table expression."""
    if dialect.name == "sqlite":
        return {"pairs": encode_json(rows)}
    return {"firsts": [first for first, _ in rows], "seconds": [second for _, second in rows]}


def sql_for_many(statement: Executable, columns: Sequence[str]) -> str:
    """Return SQL that inserts any number of rows, passed as the parameter ``rows``.

    Args:
        statement: A statement that inserts one row.
        columns: The columns to fill.
    """
    assert isinstance(statement, Insert)
    table, names = statement.table.name, ", ".join(f'"{name}"' for name in columns)
    rows = f"json_populate_recordset(NULL::{table}, %(rows)s::json)"
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM {rows}"


def _encode_as_text(value: object) -> str:
    """Return a value without a JSON type as text that PostgreSQL can parse."""
    assert isinstance(value, datetime), f"no column holds a {type(value).__name__}"
    assert value.tzinfo is not None, "a time without a time zone cannot be stored"
    # Browsers may send a time zone that PostgreSQL does not accept.
    return value.astimezone(UTC).isoformat()


encode_json = json.JSONEncoder(separators=(",", ":"), default=_encode_as_text).encode
