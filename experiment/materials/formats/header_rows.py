"""Headers in two rows: groups of columns above the names, or units below them."""

import re
from collections import Counter
from collections.abc import Sequence

from experiment.materials.formats.words import MISSING_MARKS, MISSING_SIGNS

_MISSING = MISSING_MARKS | MISSING_SIGNS
SAMPLED, _LONGEST, _FEWEST = 50, 40, 3
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?([eE][-+]?\d+)?")
_UNIT = re.compile(
    r"[(\[]?(ms|msec|milliseconds|s|sec|seconds|nats|bits|hz|%|years|text|string|integer|number"
    r"|\d+ ?(-|\u2013|to) ?\d+)[)\]]?",
    re.IGNORECASE,
)


def read_header_rows(rows: Sequence[Sequence[str]]) -> tuple[list[str], int, str]:
    """Return a table's names, the number of its header rows, and a note if there are two.

    A second row belongs to the header only where the rows below it have numbers in a column in
    which it has text: a row of names below one that groups the columns and leaves some of them
    empty, or a row of units.

    Args:
        rows: The first rows of the table, none of them empty.
    """
    names = [cell.strip() for cell in rows[0]]
    if len(rows) < _FEWEST:
        return names, 1, ""
    second = [cell.strip() for cell in rows[1]][: len(names)]
    columns = [[row[n] for row in rows[2:SAMPLED] if n < len(row)] for n in range(len(second))]
    below = [
        name
        for name, cells in zip(second, columns, strict=True)
        if name and not _NUMBER.fullmatch(name) and _are_numbers(cells)
    ]
    if not below:
        return names, 1, ""
    if all(names) and any(map(_UNIT.fullmatch, second)):
        if all(not cell or _UNIT.fullmatch(cell) for cell in second):
            units = ", ".join(f"{n} ({u})" for n, u in zip(names, second, strict=False) if u)
            return names, 2, f"The second row has units, and is not read as data: {units}."
        return names, 1, ""
    is_named = len(second) == len(names) and all(
        cell
        and len(cell) <= _LONGEST
        and cell.lower() not in _MISSING
        and not _NUMBER.fullmatch(cell)
        for cell in second
    )
    # A group goes on in the empty cells to its right; an unnamed first column, or a title, is none.
    filled = [n for n, name in enumerate(names) if name]
    if len(filled) < _FEWEST - 1 or all(names[filled[0] :]) or not is_named:
        return names, 1, ""
    joined = _join_groups(names, second)
    groups = ", ".join(f'"{name}"' for name in dict.fromkeys(filter(None, names)))
    note = (
        f"The names are in the second row, because the first has groups of columns ({groups}) and "
        f'below the second there are numbers ("{below[0]}"): {", ".join(joined)}.'
    )
    return joined, 2, note


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))


def _join_groups(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names, after their group where a name occurs in several groups."""
    n_of_name, group, joined = Counter(names), "", []
    for above, name in zip(groups, names, strict=True):
        group = above or group
        joined.append(f"{group} {name}" if n_of_name[name] > 1 and group else name)
    return joined
