"""Columns that deal items to lists, as PCIbex tables have them: a row for each item and group."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from experiment.materials.formats.columns import key_of
from experiment.materials.formats.raw import RawRow, RawTable

LIST_COLUMNS = ("list", "group")
_FEWEST_LISTS = 2


def list_column(columns: Iterable[str]) -> str:
    """Return the header of the column that names lists; empty where there is none."""
    return next((name for name in columns if key_of(name) in LIST_COLUMNS), "")


def is_dealt(rows: Iterable[Mapping[str, str]]) -> bool:
    """Return whether rows name two lists at least."""
    rows = list(rows)
    column = list_column(rows[0] if rows else ())
    return len({row[column] for row in rows if row.get(column)}) >= _FEWEST_LISTS


def join_lists(table: RawTable) -> RawTable:
    """Return a table in which rows that differ in their list alone are one.

    Tables that name lists repeat what several lists show, such as fillers. Where a row stood in
    every list it names none, which means all; else its lists are joined by semicolons.
    """
    column = list_column(table.columns)
    if not column:
        return table
    lists = {row.values[column] for row in table.rows} - {""}
    joined: dict[tuple[str, ...], list[RawRow]] = {}
    for row in table.rows:
        key = tuple(text for name, text in row.values.items() if name != column)
        joined.setdefault(key, []).append(row)
    repeated = len(table.rows) - len(joined)
    # A row that stands twice in one list is left to be named as a mistake.
    twice = any(len({row.values[column] for row in rows}) < len(rows) for rows in joined.values())
    if len(lists) < _FEWEST_LISTS or not repeated or twice:
        return table
    rows = []
    for same in joined.values():
        named = [row.values[column] for row in same if row.values[column]]
        every = len(named) == len(lists)
        rows.append(
            RawRow(same[0].place, same[0].values | {column: "" if every else ";".join(named)})
        )
    note = f'{repeated} row(s) repeat an item for another "{column}"; they are read as one item.'
    return replace(table, rows=tuple(rows), notes=(*table.notes, note))
