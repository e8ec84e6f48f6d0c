"""Detection of factors that cross within most items of a table, and of the faults in the others.

Otherwise one mistake in a factor's column would be reported as "the item occurs twice" for an item
without any fault.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

from experiment.errors import MaterialsError
from experiment.materials.formats.pairs import Draft

_MOST_COLUMNS, _MOST_FACTORS = 12, 3
# Columns that cross in a smaller share of the items are not factors.
_ENOUGH = 0.5
_Levels = tuple[str, ...]


def broken_crossing(numbered: Sequence[tuple[str, Draft]]) -> MaterialsError | None:
    """Return the fault that prevents a table's factors from crossing; None if none nearly cross.

    Args:
        numbered: The rows of one construction and kind, each with its item's number.
    """
    if any(row.condition for _, row in numbered):
        return None
    items: dict[str, list[Draft]] = {}
    for number, row in numbered:
        items.setdefault(number, []).append(row)
    groups = {name: rows for name, rows in items.items() if len(rows) > 1}
    if len(groups) < len(items) / 2 or len(groups) < 2:
        return None
    columns = list(next(iter(groups.values()))[0].extra)[:_MOST_COLUMNS]
    for size in range(1, _MOST_FACTORS + 1):
        for factors in combinations(columns, size):
            expected = _expected(list(groups.values()), factors)
            if expected:
                return _fault(items, factors, expected)
    return None


def _expected(groups: Sequence[Sequence[Draft]], factors: Sequence[str]) -> set[_Levels]:
    """Return the levels that most items have exactly once; empty if they do not cross."""
    counted: Counter[tuple[_Levels, ...]] = Counter()
    for rows in groups:
        own = [_levels(row, factors) for row in rows]
        if len(set(own)) == len(own) and all(map(all, own)):
            counted[tuple(sorted(own))] += 1
    if not counted:
        return set()
    [(levels, n)] = counted.most_common(1)
    every = [dict.fromkeys(one[place] for one in levels) for place in range(len(factors))]
    crossed = len(levels) == prod(map(len, every)) and all(len(one) > 1 for one in every)
    return set(levels) if crossed and n >= _ENOUGH * len(groups) else set()


def _fault(
    items: Mapping[str, Sequence[Draft]], factors: Sequence[str], expected: set[_Levels]
) -> MaterialsError | None:
    known = {name: dict.fromkeys(sorted({levels[place] for levels in expected}))
             for place, name in enumerate(factors)}  # fmt: skip
    words = " and ".join(f'"{name}"' for name in factors)
    words = f"the column{'s' * (len(factors) > 1)} {words}"
    within = f"each item once in each of: {_named(sorted(expected))}, as most items are"
    for name, rows in items.items():
        first: dict[_Levels, Draft] = {}
        for row in rows:
            for factor in factors:
                if (level := row.extra.get(factor, "")) not in known[factor]:
                    return MaterialsError(
                        f'the item "{name}" has "{level}" in the column "{factor}", where most '
                        f"items have {', '.join(known[factor])}; so the conditions are not made by "
                        f"{words}",
                        where=row.place,
                        expected=within,
                        remedy=f'Correct "{factor}" here, and wherever it is written so',
                    )
            levels = _levels(row, factors)
            if levels in first:
                return MaterialsError(
                    f'the item "{name}" stands twice in {_named([levels])} of {words}; '
                    f"first in {first[levels].place}",
                    where=row.place,
                    expected=within,
                    remedy="Correct the levels or the item's number in one of the two rows",
                )
            first[levels] = row
        if missing := sorted(expected - set(first)):
            return MaterialsError(
                f'the item "{name}" has no row in {_named(missing)} of {words}',
                where=rows[0].place,
                expected=within,
                remedy="Add the row, or remove the item",
            )
    return None


def _levels(row: Draft, factors: Sequence[str]) -> _Levels:
    return tuple(row.extra.get(name, "") for name in factors)


def _named(levels: Sequence[_Levels]) -> str:
    return ", ".join(" / ".join(own) for own in levels)
