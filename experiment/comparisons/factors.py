"""The factors of a design, found from the items' conditions and columns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod

CONDITION = "condition"
# Columns that say where a sentence is compared, and not what its condition is.
_REGION_COLUMNS = {"critical", "critical_word", "critical_region"}
Columns = Mapping[str, str]
# The largest number of columns that are tried together: 2 to the power of it are combined.
_MOST_COLUMNS = 12


def condition_factors(
    items: Iterable[tuple[str, Columns]], named: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    """Return the factors whose levels define the conditions of one construction.

    Args:
        items: Each item's condition and the researcher's columns.
        named: The columns that the study declares as factors; they count if they vary.

    Returns:
        For each factor, each condition's level. With ``named``, these columns. Otherwise the
        columns that are constant in each condition and cross completely to the conditions; if
        several sets of columns do, the one with the most factors, which says most about a
        condition. If no set does, a single factor ``condition``.
    """
    by_column, conditions = _constant_columns(items)
    chosen = {name: by_column[name] for name in named if name in by_column}
    if chosen:
        return chosen
    candidates = _drop_equal_partitions(by_column, conditions)
    for size in range(min(len(candidates), len(conditions).bit_length()), 1, -1):
        for names in combinations(candidates, size):
            if _is_crossed([by_column[name] for name in names], conditions):
                return {name: by_column[name] for name in names}
    return {CONDITION: {condition: condition for condition in conditions}}


def _constant_columns(
    items: Iterable[tuple[str, Columns]],
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return each condition's value of the columns that vary only between conditions."""
    values: dict[str, dict[str, str]] = {}
    conditions: dict[str, None] = {}
    varying: set[str] = set()
    for condition, columns in items:
        conditions.setdefault(condition)
        for name, value in columns.items():
            if name.lower() in _REGION_COLUMNS:
                continue
            if values.setdefault(name, {}).setdefault(condition, value) != value:
                varying.add(name)
    constant = {
        name: levels
        for name, levels in values.items()
        if name not in varying and len(levels) == len(conditions) and len({*levels.values()}) > 1
    }
    return constant, list(conditions)


def _drop_equal_partitions(
    by_column: Mapping[str, Mapping[str, str]], conditions: Sequence[str]
) -> list[str]:
    """Return the columns, without any that groups the conditions as an earlier one does."""
    column_by_partition: dict[tuple[int, ...], str] = {}
    for name, levels in by_column.items():
        order = list(dict.fromkeys(levels[condition] for condition in conditions))
        column_by_partition.setdefault(
            tuple(order.index(levels[condition]) for condition in conditions), name
        )
    return list(column_by_partition.values())[:_MOST_COLUMNS]


def _is_crossed(columns: Sequence[Mapping[str, str]], conditions: Sequence[str]) -> bool:
    cells = {tuple(levels[condition] for levels in columns) for condition in conditions}
    return len(cells) == len(conditions) == prod(len({*levels.values()}) for levels in columns)
