"""What a rated construction crosses, and the differences that its design asks about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from analysis.data.own_columns import header, own_columns

Weights = Mapping[str, float]
VERSION, CONDITION = "version", "condition"
_MOST_CELLS = 6


@dataclass(frozen=True, slots=True)
class Crossing:
    """The cells of a construction.

    Attributes:
        factors: The factors' levels in the order of the items, the version first where items
            have two; one factor "condition" where no columns make the conditions.
        cells: The cells' names, each with its level of every factor.
    """

    factors: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]


def cell_names(ratings: pd.DataFrame) -> pd.Series:
    """Return each rating's cell: its condition, and the version where items have two."""
    condition = ratings["condition"].astype(str)
    version = ratings["version"].astype(str)
    several = version.groupby(ratings["construction"].astype(str)).transform("nunique") > 1
    return condition.where(~several, condition + ", " + version)


def crossing(rows: pd.DataFrame, items: pd.DataFrame) -> Crossing:
    """Return what one construction crosses.

    Args:
        rows: Its ratings, with cell, condition and version.
        items: Its items, with the study's own columns.
    """
    cells = rows[["cell", "condition", "version"]].astype(str).drop_duplicates("cell")
    order = list(dict.fromkeys(items["condition"].astype(str)))
    cells = cells.assign(
        place=cells["condition"].map(order.index), other=cells["version"] != "good"
    )
    cells = cells.sort_values(["place", "other"])
    levels = _levels(items, order)
    names = (["version"] if cells["version"].nunique() > 1 else []) + list(levels)
    of_cell = {
        row["cell"]: (
            *(["expected" if row["version"] == "good" else "other"] if VERSION in names else []),
            *(one[row["condition"]] for one in levels.values()),
        )
        for row in cells.to_dict("records")
    }
    factors = {
        name: tuple(dict.fromkeys(values[place] for values in of_cell.values()))
        for place, name in enumerate(names)
    }
    several = {name for name, values in factors.items() if len(values) > 1}
    kept = [place for place, name in enumerate(names) if name in several]
    return Crossing(
        {name: factors[name] for name in names if name in several},
        {name: tuple(values[place] for place in kept) for name, values in of_cell.items()},
    )


def _levels(items: pd.DataFrame, conditions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return for each factor its level in each condition: two own columns, or the condition."""
    constant: dict[str, dict[str, str]] = {}
    of_condition = items.groupby(items["condition"].astype(str), observed=True)
    for name in own_columns(items):
        values = items[name].astype(str)
        if values.nunique() > 1 and (of_condition[name].nunique() == 1).all():
            constant[header(name)] = dict(zip(items["condition"].astype(str), values, strict=True))
    for pair in combinations(constant, 2):
        crossed = {tuple(constant[name][one] for name in pair) for one in conditions}
        sizes = [len(set(constant[name].values())) for name in pair]
        if len(crossed) == len(conditions) == sizes[0] * sizes[1]:
            return {name: constant[name] for name in pair}
    return {CONDITION: {one: one for one in conditions}}


def planned(cross: Crossing) -> dict[str, Weights]:
    """Return the contrasts of a design by their labels: weights of cells.

    Of two factors of two levels each: both main effects, the second factor's effect at each level
    of the first, and the difference of these (the interaction, differences in differences). Of
    any other design every two cells; with more than six cells each against the first.
    """
    if [len(levels) for levels in cross.factors.values()] == [2, 2] and len(cross.cells) == 4:
        return _two_by_two(cross)
    cells = list(cross.cells)
    pairs = list(combinations(cells, 2))
    if len(cells) > _MOST_CELLS:
        pairs = [(cells[0], one) for one in cells[1:]]
    return {f"{first} - {second}": {first: 1.0, second: -1.0} for first, second in pairs}


def _two_by_two(cross: Crossing) -> dict[str, Weights]:
    (one, (a1, a2)), (two, (b1, b2)) = cross.factors.items()
    cell = {levels: name for name, levels in cross.cells.items()}
    first, second = cell[a1, b1], cell[a1, b2]
    third, fourth = cell[a2, b1], cell[a2, b2]
    difference = f"{b1} - {b2}"
    return {
        f"{one}: {a1} - {a2}": {first: 0.5, second: 0.5, third: -0.5, fourth: -0.5},
        f"{two}: {difference}": {first: 0.5, second: -0.5, third: 0.5, fourth: -0.5},
        f"{a1}: {difference}": {first: 1.0, second: -1.0},
        f"{a2}: {difference}": {third: 1.0, fourth: -1.0},
        f"Interaction: ({a1}: {difference}) - ({a2}: {difference})": {
            first: 1.0, second: -1.0, third: -1.0, fourth: 1.0,
        },
    }  # fmt: skip
