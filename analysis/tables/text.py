"""A table's cells, headings and notes as text, which every format shares."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from analysis.tables.accuracy_table import Column, Table

MISSING = "-"
_NEGATIVE = re.compile(r"(?<![\w.])-(?=\.?\d)")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Block:
    """Printed rows under one heading; the heading is empty where a study has no groups."""

    heading: str
    rows: list[list[str]]


def blocks(table: Table) -> list[Block]:
    """Return the table's cells as text, by heading; a cell with a footnote bears its number."""
    numbers = {note: number for number, note in enumerate(footnotes(table), start=1)}
    rows = table.frame.to_dict("records")
    found: dict[str, Block] = {}
    for row in rows:
        heading = str(row["group"])
        block = found.setdefault(heading, Block(heading, []))
        block.rows.append([_cell(row, column, numbers) for column in table.columns])
    return list(found.values())


def with_minus_signs(text: str) -> str:
    """Return the text with a minus sign, not a hyphen, before each negative number."""
    return _NEGATIVE.sub("\u2212", text)


def footnotes(table: Table) -> list[str]:
    """Return what is to know of single cells, each note once, in the order of the cells."""
    columns = [f"{column.key}_note" for column in table.columns]
    noted = table.frame[[column for column in columns if column in table.frame]]
    notes = (note for row in noted.to_numpy() for note in row if isinstance(note, str) and note)
    return list(dict.fromkeys(notes))


def numbered_footnotes(table: Table) -> list[str]:
    """Return the footnotes as they are printed below the table, after their numbers."""
    notes = enumerate(footnotes(table), start=1)
    return [f"{str(number).translate(_SUPERSCRIPTS)} {note}" for number, note in notes]


def _cell(row: Mapping[Hashable, Any], column: Column, numbers: Mapping[str, int]) -> str:
    number = numbers.get(row.get(f"{column.key}_note", ""))
    mark = str(number).translate(_SUPERSCRIPTS) if number else ""
    return _value(row, column) + mark


def _value(row: Mapping[Hashable, Any], column: Column) -> str:
    value = row[column.key]
    if pd.isna(value):
        return MISSING
    if column.form == "text":
        return str(value)
    if column.form == "count":
        return f"{value:,.0f}"
    if column.form == "signed":
        return f"{value:+z.2f}"
    if column.form == "p":
        return "<.001" if value < 0.001 else f"{value:.3f}".lstrip("0")
    if column.form == "spread":
        sd = row.get(f"{column.key}_sd")
        return f"{100 * value:.1f}" + ("" if pd.isna(sd) else f" ({100 * sd:.1f})")
    low, high = (row.get(f"{column.key}_{end}") for end in ("low", "high"))
    if column.form == "estimate" and not (pd.isna(low) or pd.isna(high)):
        return f"{value:z.2f} [{low:z.2f}, {high:z.2f}]"
    return f"{value:z,.2f}"


def lines(table: Table) -> list[str]:
    """Return title, caption, notes and origin, each on a line of its own."""
    # A line break inside a note would end the comment that it stands in.
    caption = f"{table.title}. {table.caption}"
    notes = (caption, *table.notes, *numbered_footnotes(table), *table.origin)
    return [" ".join(note.split()) for note in notes]


def spans(table: Table) -> list[tuple[str, int]]:
    """Return the upper headings, each with the number of columns it spans."""
    runs = groupby(table.columns, key=lambda column: column.spanner)
    return [(spanner, len(list(columns))) for spanner, columns in runs]
