"""A table's cells, headings and notes as text, shared by all formats."""

import re
from collections.abc import Mapping
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
    """Printed rows under one heading; the heading is empty if the study has no groups."""

    heading: str
    rows: list[list[str]]


def make_blocks(table: Table) -> list[Block]:
    """Return the table's cells as text, by heading; cells with a footnote get its number."""
    numbers = {note: number for number, note in enumerate(list_footnotes(table), start=1)}
    printed = [_format_cells(table.frame, column, numbers) for column in table.columns]
    blocks_by_heading: dict[str, Block] = {}
    for heading, row in zip(table.frame["group"].tolist(), zip(*printed, strict=True), strict=True):
        block = blocks_by_heading.setdefault(str(heading), Block(str(heading), []))
        block.rows.append(list(row))
    return list(blocks_by_heading.values())


def replace_minus_signs(text: str) -> str:
    """Return the text with a minus sign instead of a hyphen before each negative number."""
    return _NEGATIVE.sub("\u2212", text)


def list_footnotes(table: Table) -> list[str]:
    """Return the notes on single cells, each note once, in the order of the cells."""
    columns = (f"{column.key}_note" for column in table.columns)
    noted = [table.frame[column].tolist() for column in columns if column in table.frame]
    notes = (note for row in zip(*noted, strict=True) for note in row)
    return list(dict.fromkeys(note for note in notes if isinstance(note, str) and note))


def number_footnotes(table: Table) -> list[str]:
    """Return the footnotes with their numbers, as printed below the table."""
    notes = enumerate(list_footnotes(table), start=1)
    return [f"{str(number).translate(_SUPERSCRIPTS)} {note}" for number, note in notes]


def _format_cells(frame: pd.DataFrame, column: Column, numbers: Mapping[str, int]) -> list[str]:
    """Return a column's cells as text."""
    nothing = [None] * len(frame)
    notes, *interval_columns = (
        frame[name].tolist() if (name := f"{column.key}_{end}") in frame else nothing
        for end in ("note", "low", "high", "sd")
    )
    return [
        _format_value(column.form, *cell) + _footnote_mark(numbers.get(note))
        for note, cell in zip(
            notes, zip(frame[column.key].tolist(), *interval_columns, strict=True), strict=True
        )
    ]


def _footnote_mark(number: int | None) -> str:
    return str(number).translate(_SUPERSCRIPTS) if number else ""


def _format_value(form: str, value: Any, low: Any, high: Any, sd: Any) -> str:  # noqa: ANN401
    """Return a cell as text; ends and spread appear only in forms that print them."""
    if pd.isna(value):
        return MISSING
    if form == "text":
        return str(value)
    if form == "count":
        return f"{value:,.0f}"
    if form == "signed":
        return f"{value:+z.2f}"
    if form == "p":
        return "<.001" if value < 0.001 else f"{value:.3f}".lstrip("0")
    if form == "spread":
        return f"{100 * value:.1f}" + ("" if pd.isna(sd) else f" ({100 * sd:.1f})")
    if form == "estimate" and not (pd.isna(low) or pd.isna(high)):
        return f"{value:z.2f} [{low:z.2f}, {high:z.2f}]"
    return f"{value:z,.2f}"


def text_lines(table: Table) -> list[str]:
    """Return title, caption, notes and origin, each on a separate line."""
    # A line break inside a note would end its comment.
    caption = f"{table.title}. {table.caption}"
    notes = (caption, *table.notes, *number_footnotes(table), *table.origin)
    return [" ".join(note.split()) for note in notes]


def group_headings(table: Table) -> list[tuple[str, int]]:
    """Return the spanning headings, each with its number of columns."""
    runs = groupby(table.columns, key=lambda column: column.spanner)
    return [(spanner, len(list(columns))) for spanner, columns in runs]
