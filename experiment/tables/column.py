"""What a table is made of, and the JSON Schema of its rows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

from experiment.tables.roles import Role

ColumnType = Literal["string", "integer", "number", "boolean", "datetime", "numbers", "booleans"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: The column's header.
        type: The type of its values; ``numbers`` and ``booleans`` are lists (Parquet only).
        description: What a value means.
        unit: The unit of a number; empty where there is none.
        optional: Whether a value may be missing.
        values: The only values allowed; empty when any value of the type is.
        absent: What every row holds where a file, or a row to write, lacks the column, as those
            of earlier versions do; None where it must be there.
        role: What the column is in the study's design; None where it is no part of it.
    """

    name: str
    type: ColumnType
    description: str
    unit: str = ""
    optional: bool = False
    values: tuple[str, ...] = ()
    absent: str | None = None
    role: Role | None = None


@dataclass(frozen=True)
class TableSchema:
    """One table: its name is its file's stem."""

    name: str
    description: str
    primary_key: tuple[str, ...]
    columns: tuple[Column, ...]

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The headers in their written order."""
        return tuple(column.name for column in self.columns)

    @property
    def absent(self) -> dict[str, str]:
        """What a row holds in the columns that it may lack."""
        return {column.name: column.absent for column in self.columns if column.absent is not None}

    def extended(
        self, names: Iterable[str], description: str = "a column of the study's own"
    ) -> Self:
        """Return the table with more columns behind its own: texts that the researcher brought.

        Args:
            names: The columns' names; those the table has already are passed over.
            description: What they mean.
        """
        added = tuple(
            Column(name, "string", description) for name in names if name not in self.column_names
        )
        return replace(self, columns=(*self.columns, *added)) if added else self

    def with_columns(self, columns: Iterable[Column]) -> Self:
        """Return the table with these columns, each in the place of that of its name, if any."""
        changed = {column.name: column for column in self.columns}
        changed |= {column.name: column for column in columns}
        return replace(self, columns=tuple(changed.values()))


_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "datetime": {"type": "string", "format": "date-time"},
    "numbers": {"type": "array", "items": {"type": "number"}},
    "booleans": {"type": "array", "items": {"type": "boolean"}},
}


def json_schema(schema: TableSchema) -> dict[str, Any]:
    """Return the JSON Schema of one row: each column with its type, unit and meaning."""
    return {
        "title": schema.name,
        "description": schema.description,
        "type": "object",
        "properties": {column.name: _property(column) for column in schema.columns},
        "required": [column.name for column in schema.columns if not column.optional],
        "additionalProperties": False,
    }


def _property(column: Column) -> dict[str, Any]:
    found = dict(_TYPES[column.type])
    if column.optional:
        found = {"anyOf": [found, {"type": "null"}]}
    unit = f" ({column.unit})" if column.unit else ""
    found["description"] = f"{column.description}{unit}"
    if column.values:
        found["enum"] = [str(value) for value in column.values]
    return found
