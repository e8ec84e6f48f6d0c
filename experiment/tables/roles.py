"""What a column is in the study's design: its role, which the codebook names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum


class Role(StrEnum):
    """What a column is for."""

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
    """Return the role of each of the researcher's own columns of items.

    A factor has one value in each condition of a construction, and not the same in all. It is
    within items where it varies between the items of one frame. Columns that the study names as
    factors are factors in any case.

    Args:
        items: The rows of the table of items.
        names: The own columns.
        factors: Those that the study's ``[analysis]`` names.
    """
    rows, named = list(items), set(factors)
    return {name: _role(rows, name, named=name in named) for name in names}


def _role(rows: list[Mapping[str, str]], name: str, *, named: bool) -> Role:
    in_cell: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    in_construction: defaultdict[str, set[str]] = defaultdict(set)
    in_frame: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in rows:
        value, construction = str(row[name]), row["construction"]
        in_cell[construction, row["condition"]].add(value)
        in_construction[construction].add(value)
        if row["frame"]:
            in_frame[construction, row["template"], row["frame"]].add(value)
    several = {one for one, values in in_construction.items() if len(values) > 1}
    fixed = all(len(values) == 1 for (one, _), values in in_cell.items() if one in several)
    if not several or not (fixed or named):
        return Role.OWN
    within = any(len(values) > 1 for values in in_frame.values())
    return Role.WITHIN_ITEMS if within else Role.BETWEEN_ITEMS
