"""Columns and tables: names, types, units, roles in the design, and the judge column."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

ColumnType = Literal["string", "integer", "number", "boolean", "datetime", "numbers", "booleans"]


class Role(StrEnum):
    """The role of a column in the design."""

    WITHIN_ITEMS = "factor within items"
    BETWEEN_ITEMS = "factor between items"
    BETWEEN_PARTICIPANTS = "factor between participants"
    UNIT = "unit that repeats"
    KIND = "kind"
    BLOCK = "block"
    LIST = "list"
    SESSION = "session"
    ORDER = "order"
    ANSWER = "answer chosen for the analysis"
    OWN = "own column"


def roles_of_items(
    items: Iterable[Mapping[str, str]], names: Iterable[str], factors: Iterable[str] = ()
) -> dict[str, Role]:
    """Return the role of each of the researcher's own item columns.

    A factor has one value in each condition of a construction, and different values over
    conditions. A factor is within items if it varies between the items of one frame. Columns that
    the study names as factors are factors in any case.

    Args:
        items: The rows of the table of items.
        names: The researcher's own columns.
        factors: The columns that the study's ``[analysis]`` names as factors.
    """
    rows, factor_names = list(items), set(factors)
    return {name: _find_role(rows, name, named=name in factor_names) for name in names}


def _find_role(rows: list[Mapping[str, str]], name: str, *, named: bool) -> Role:
    in_cell: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    in_construction: defaultdict[str, set[str]] = defaultdict(set)
    in_frame: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in rows:
        value, construction = str(row[name]), row["construction"]
        in_cell[construction, row["condition"]].add(value)
        in_construction[construction].add(value)
        if row["frame"]:
            in_frame[construction, row["template"], row["frame"]].add(value)
    several = {unit for unit, values in in_construction.items() if len(values) > 1}
    fixed = all(len(values) == 1 for (unit, _), values in in_cell.items() if unit in several)
    if not several or not (fixed or named):
        return Role.OWN
    within = any(len(values) > 1 for values in in_frame.values())
    return Role.WITHIN_ITEMS if within else Role.BETWEEN_ITEMS


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: The column's header.
        type: The type of its values; ``numbers`` and ``booleans`` are lists (Parquet only).
        description: The meaning of a value.
        unit: The unit of a number; empty if there is none.
        optional: Whether a value may be missing.
        values: The allowed values; empty if any value of the type is allowed.
        absent: The value of every row if a file, or a row to write, lacks the column, as files of
            earlier versions do; None if the column is mandatory. Numbers can only be missing
            (``""``).
        role: The column's role in the study's design; None if it has none.
        is_free_text: Whether participants wrote its values, of which CSV files escape formulas.
    """

    name: str
    type: ColumnType
    description: str
    unit: str = ""
    optional: bool = False
    values: tuple[str, ...] = ()
    absent: str | None = None
    role: Role | None = None
    is_free_text: bool = False

    @property
    def default(self) -> str | None:
        """The value of ``absent``; None if values of the type are then missing."""
        return self.absent if self.type == "string" else None


@dataclass(frozen=True)
class TableSchema:
    """One table; its name is the stem of its file."""

    name: str
    description: str
    primary_key: tuple[str, ...]
    columns: tuple[Column, ...]

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The headers, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def free_texts(self) -> tuple[str, ...]:
        """The headers of the columns that participants wrote."""
        return tuple(column.name for column in self.columns if column.is_free_text)

    @property
    def absent(self) -> dict[str, str | None]:
        """The default values of the columns that a row may lack."""
        return {column.name: column.default for column in self.columns if column.absent is not None}

    def extended(
        self, names: Iterable[str], description: str = "a column of the study's own"
    ) -> Self:
        """Return the table with further text columns of the researcher's at the end.

        Args:
            names: The columns' names; names that the table already has are ignored.
            description: The meaning of the columns.
        """
        added = tuple(
            Column(name, "string", description) for name in names if name not in self.column_names
        )
        return replace(self, columns=(*self.columns, *added)) if added else self

    def with_columns(self, columns: Iterable[Column]) -> Self:
        """Return the table with these columns, each replacing a column of the same name if any."""
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
    """Return the JSON Schema of one row, with each column's type, unit and meaning."""
    return {
        "title": schema.name,
        "description": schema.description,
        "type": "object",
        "properties": {column.name: _describe_property(column) for column in schema.columns},
        "required": [column.name for column in schema.columns if not column.optional],
        "additionalProperties": False,
    }


def _describe_property(column: Column) -> dict[str, Any]:
    schema = dict(_TYPES[column.type])
    if column.optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    unit = f" ({column.unit})" if column.unit else ""
    schema["description"] = f"{column.description}{unit}"
    if column.values:
        schema["enum"] = [str(value) for value in column.values]
    return schema


# Every row has this column, so that no table of people can include a model's rows unnoticed.
PERSON, PROGRAM, MODEL = "person", "program", "model"
JUDGE = Column(
    "judge",
    "string",
    "who answered: a person, a program in a person's place, or a language model",
    values=(PERSON, PROGRAM, MODEL),
    absent=PERSON,
)
