"""Many rows for PostgreSQL in one statement: triggers count them once, one text is sent."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Insert
from sqlalchemy.sql.expression import Executable


def words_for_many(statement: Executable, columns: Sequence[str]) -> str:
    """Return what inserts any number of rows in the driver's words, as the parameter ``rows``.

    Args:
        statement: What inserts one row.
        columns: The columns that are filled.
    """
    assert isinstance(statement, Insert)
    table, names = statement.table.name, ", ".join(f'"{name}"' for name in columns)
    rows = f"json_populate_recordset(NULL::{table}, %(rows)s::json)"
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM {rows}"


def _as_text(value: object) -> str:
    """Return what JSON has no type for, as PostgreSQL reads it."""
    assert isinstance(value, datetime), f"no column holds a {type(value).__name__}"
    assert value.tzinfo is not None, "a time without a time zone cannot be stored"
    # Browsers may name a time zone that PostgreSQL takes for none.
    return value.astimezone(UTC).isoformat()


as_json = json.JSONEncoder(separators=(",", ":"), default=_as_text).encode
