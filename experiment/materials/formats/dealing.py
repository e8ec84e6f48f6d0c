"""Columns that assign items to lists, as in PCIbex tables: one row per item and group."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from experiment.materials.formats.columns import key_of
from experiment.materials.formats.raw import RawRow, RawTable

LIST_COLUMNS = ("list", "group")
_FEWEST_LISTS = 2


def list_column(columns: Iterable[str]) -> str:
    """Return the header of the column that names lists; empty if there is none."""
    return next((name for name in columns if key_of(name) in LIST_COLUMNS), "")


def is_dealt(rows: Iterable[Mapping[str, str]]) -> bool:
    """Return whether the rows name at least two lists."""
    rows = list(rows)
    column = list_column(rows[0] if rows else ())
    return len({row[column] for row in rows if row.get(column)}) >= _FEWEST_LISTS


def join_lists(table: RawTable) -> RawTable:
    """Return a table in which rows that differ only in their list are merged.

    Tables that name lists repeat rows that several lists share, such as fillers. A merged row that
    was in every list names none, which means all; otherwise its lists are joined by semicolons.
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
    # A row that occurs twice in one list is kept, to be reported as a mistake.
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
