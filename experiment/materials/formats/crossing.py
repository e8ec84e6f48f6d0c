"""Columns that cross: factors that make the conditions, and lists that rows are assigned to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from experiment.errors import MaterialsError
from experiment.materials.formats.raw import RawRow, RawTable
from experiment.materials.formats.words import NAMES, key_of

LIST_COLUMNS = ("list", "group")
_FEWEST_LISTS = 2


def list_column(columns: Iterable[str]) -> str:
    """Return the header of the column that names lists; empty if there is none."""
    return next((name for name in columns if key_of(name) in LIST_COLUMNS), "")


def names_lists(rows: Iterable[Mapping[str, str]]) -> bool:
    """Return whether the rows name at least two lists."""
    rows = list(rows)
    column = list_column(rows[0] if rows else ())
    return len({row[column] for row in rows if row.get(column)}) >= _FEWEST_LISTS


def _find_order_column(table: RawTable, lists: str) -> str:
    """Return the column that numbers each list's trials and alone makes equal rows differ."""
    for name in table.columns:
        cells = [(row.values[lists], row.values[name]) for row in table.rows]
        if (
            name == lists
            or key_of(name) in (*NAMES["item"], *NAMES["item_id"])
            or not all(place.isdecimal() for _, place in cells)
            or len(set(cells)) < len(cells)
        ):
            continue
        other_columns = [
            tuple(text for column, text in row.values.items() if column not in (lists, name))
            for row in table.rows
        ]
        if len(set(other_columns)) < len(other_columns):
            return name
    return ""


def join_lists(table: RawTable) -> RawTable:
    """Return a table in which rows that differ only in their list are merged.

    Tables that name lists repeat rows that several lists share, such as fillers. A merged row that
    was in every list names none, which means all; otherwise its lists are joined by semicolons.
    """
    column = list_column(table.columns)
    if not column:
        return table
    lists = {row.values[column] for row in table.rows} - {""}
    order = _find_order_column(table, column)
    joined: dict[tuple[str, ...], list[RawRow]] = {}
    for row in table.rows:
        key = tuple(text for name, text in row.values.items() if name not in (column, order))
        joined.setdefault(key, []).append(row)
    repeated = len(table.rows) - len(joined)
    # A row that occurs twice in one list is kept, to be reported as a mistake.
    is_repeated = any(
        len({row.values[column] for row in rows}) < len(rows) for rows in joined.values()
    )
    if len(lists) < _FEWEST_LISTS or not repeated or is_repeated:
        return table
    rows = []
    for same_items in joined.values():
        list_names = [row.values[column] for row in same_items if row.values[column]]
        is_in_every_list = len(list_names) == len(lists)
        rows.append(
            replace(
                same_items[0],
                values=same_items[0].values
                | {column: "" if is_in_every_list else ";".join(list_names)}
                | ({order: ";".join(row.values[order] for row in same_items)} if order else {}),
            )
        )
    note = f'{repeated} row(s) repeat an item for another "{column}"; they are read as one item.'
    if order:
        note += f' The column "{order}" numbers the rows of each list; trials are shuffled anew.'
    return replace(table, rows=tuple(rows), notes=(*table.notes, note))


CONDITION = "condition"
_PLUS = "+"
# Columns that assign items to lists are not factors.
_LIST_HEADERS = ("list", "group", "block")
_MOST_FACTORS, _TWO = 4, 2
# The columns of the designs and conditions of a table that has several designs.
_DESIGN, _OF_DESIGN = "design", "condition of the design"
_BARE_LEVELS = {"yes", "no", "true", "false", "on", "off"}


def cross_factors(
    table: RawTable, headers: Mapping[str, str], factors: Sequence[str] = ()
) -> tuple[RawTable, dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Return a table with a column of conditions, if other columns cross to make them.

    Factors are sought if items have several rows that no column of conditions distinguishes: the
    fewest columns that do so for every item and have the same values in each item.

    Args:
        table: The table.
        headers: The table's header for each Parallax column.
        factors: The factors that the researcher named.

    Returns:
        The table, the headers, the factors, and the decisions as sentences.
    """
    headers = dict(headers)
    if not factors and not (factors := _find_factors(table, headers)):
        return _cross_designs(table, headers)
    header = CONDITION if CONDITION not in table.columns else f"{CONDITION} ({_PLUS.join(factors)})"
    are_words = all(_is_word(row.values[name]) for row in table.rows for name in factors)
    rows = tuple(
        replace(row, values={**row.values, header: _name(row, factors, are_words)})
        for row in table.rows
    )
    names = list(dict.fromkeys(row.values[header] for row in rows if row.values[header]))
    note = f"The conditions are made by {' and '.join(factors)}: {', '.join(names)}."
    crossed = RawTable(table.path, (*table.columns, header), rows, table.notes)
    return crossed, {**headers, CONDITION: header}, tuple(factors), (note,)


def named_factors(table: RawTable, named_headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns in ``--column condition=FIRST+SECOND``; empty if several are not named.

    Raises:
        MaterialsError: The table lacks one of them.
    """
    condition_header = named_headers.get(CONDITION, "")
    if _PLUS not in condition_header or condition_header in table.columns:
        return ()
    factors = tuple(part.strip() for part in condition_header.split(_PLUS))
    for name in factors:
        if name not in table.columns:
            raise MaterialsError(
                f'there is no column "{name}" to make conditions of',
                where=str(table.path),
                expected=f"headers with a plus sign between them: {', '.join(table.columns)}",
            )
    return factors


def is_list_header(name: str) -> bool:
    """Return whether a header says that the column assigns items to lists."""
    return key_of(name) in _LIST_HEADERS


def _find_factors(table: RawTable, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fewest columns that cross within every item; empty if none do."""
    return _crossing_columns(_group_rows_by_item(table, headers), table, headers)


def _crossing_columns(
    groups: Sequence[Sequence[RawRow]],
    table: RawTable,
    headers: Mapping[str, str],
    included: str = "",
) -> tuple[str, ...]:
    """Return the fewest columns that cross within every item, one of them the included one."""
    condition = headers.get(CONDITION, "")
    condition_columns = [condition] if condition else []
    if all(len(_list_values(rows, condition_columns)) == len(rows) for rows in groups):
        return ()
    candidates = [
        name
        for name in table.columns
        if (name == condition or name not in headers.values())
        and not is_list_header(name)
        and _have_equal_values(groups, (name,))
        and len(_list_values(groups[0], (name,))) > 1
    ]
    for number in range(1, min(_MOST_FACTORS, len(candidates)) + 1):
        for factors in combinations(candidates, number):
            if included and included not in factors:
                continue
            if _have_equal_values(groups, factors) and all(
                len(_list_values(rows, factors)) == len(rows) for rows in groups
            ):
                return factors
    return ()


def _cross_designs(
    table: RawTable, headers: dict[str, str]
) -> tuple[RawTable, dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Return a table whose items are of several designs with a construction for each.

    A column has two or more levels in each item, and items of different designs share none of
    them; within each design, columns cross. As ``cross_factors`` otherwise.
    """
    if CONDITION in headers or "construction" in headers:
        return table, headers, (), ()
    groups = _group_rows_by_item(table, headers)
    for name in table.columns if groups else ():
        designs: dict[frozenset[str], list[list[RawRow]]] = {}
        for rows in groups:
            designs.setdefault(frozenset(row.values[name] for row in rows), []).append(rows)
        # Levels that differ in case or punctuation alone are slips, not designs.
        keys = [{key_of(level) for level in levels} for levels in designs]
        n_levels = len(set().union(*keys))
        if (
            is_list_header(name)
            or name in headers.values()
            or min(map(len, designs)) < _TWO
            or min(map(len, designs.values())) < _TWO
            or len(designs) < _TWO
            or n_levels < sum(map(len, keys))
        ):
            continue
        factors = [_crossing_columns(items, table, headers, name) for items in designs.values()]
        if all(factors):
            return _name_designs(table, headers, list(designs.values()), factors, name)
    return table, headers, (), ()


def _name_designs(
    table: RawTable,
    headers: Mapping[str, str],
    designs: Sequence[Sequence[Sequence[RawRow]]],
    factors: Sequence[tuple[str, ...]],
    column: str,
) -> tuple[RawTable, dict[str, str], tuple[str, ...], tuple[str, ...]]:
    named, notes = dict[str, dict[str, str]](), list[str]()
    for items, own_factors in zip(designs, factors, strict=True):
        own_rows = [row for item in items for row in item]
        are_words = all(_is_word(row.values[name]) for row in own_rows for name in own_factors)
        conditions = {row.place: _name(row, own_factors, are_words) for row in own_rows}
        names = list(dict.fromkeys(conditions.values()))
        design = "_".join(dict.fromkeys(row.values[column] for row in own_rows))
        first = items[0][0].values[headers["item"]]
        notes.append(
            f'{len(items)} items, "{first}" among them, are a design of their own, called '
            f"{design}: its conditions are made by {' and '.join(own_factors)}: {', '.join(names)}."
        )
        named |= {
            place: {_DESIGN: design, _OF_DESIGN: condition}
            for place, condition in conditions.items()
        }
    blank = {_DESIGN: "", _OF_DESIGN: ""}
    rows = tuple(
        replace(row, values=row.values | named.get(row.place, blank)) for row in table.rows
    )
    crossed = RawTable(table.path, (*table.columns, _DESIGN, _OF_DESIGN), rows, table.notes)
    every_factor = dict.fromkeys(name for own_factors in factors for name in own_factors)
    made = {"construction": _DESIGN, CONDITION: _OF_DESIGN}
    return crossed, {**headers, **made}, tuple(every_factor), tuple(notes)


def _group_rows_by_item(table: RawTable, headers: Mapping[str, str]) -> list[list[RawRow]]:
    """Return the rows of each item, for kinds whose items all have several rows.

    Rows without a number, such as fillers, are separate items.
    """
    if "item" not in headers:
        return []
    kinds = [headers[name] for name in ("construction", "kind", "version") if name in headers]
    groups: dict[tuple[str, ...], dict[str | int, list[RawRow]]] = {}
    for index, row in enumerate(table.rows):
        items = groups.setdefault(tuple(row.values[name] for name in kinds), {})
        items.setdefault(row.values[headers["item"]] or index, []).append(row)
    return [
        rows
        for items in groups.values()
        # A single item with two rows among items with one row is a mistake rather than a design.
        if all(len(rows) > 1 for rows in items.values())
        for rows in items.values()
    ]


def _list_values(rows: Sequence[RawRow], columns: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(row.values[name] for name in columns) for row in rows}


def _have_equal_values(groups: Sequence[Sequence[RawRow]], columns: Sequence[str]) -> bool:
    first = _list_values(groups[0], columns)
    return all(_list_values(rows, columns) == first for rows in groups) and all(map(all, first))


def _is_word(text: str) -> bool:
    return not text or (any(map(str.isalpha, text)) and text.lower() not in _BARE_LEVELS)


def _name(row: RawRow, factors: Sequence[str], are_words: bool) -> str:
    levels = [(name, row.values[name]) for name in factors if row.values[name]]
    return "_".join(value if are_words else f"{name}_{value}" for name, value in levels)
