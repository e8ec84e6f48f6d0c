"""The planned contrasts of a design: main effects, simple effects and interactions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np
import pandas as pd

from analysis.findings.design import Crossing
from analysis.statistics.resample import Floats
from experiment.studies.analysis_plan import Analysis

Weights = Mapping[str, float]
_MOST_LEVELS = 6
_SIMPLE_FACTORS = 2
_DIFFERENCE = re.compile(r"\((?P<first>.+?): (?P<inner>.+)\) - \((?P<second>.+?): (?P=inner)\)")


@dataclass(frozen=True, slots=True)
class _Step:
    """A level of a factor minus the mean of other levels, as weights of the factor's levels."""

    factor: str
    first: str
    others: tuple[str, ...]

    @property
    def second(self) -> str:
        return _mean_of(self.others)

    @property
    def words(self) -> str:
        return f"{self.first} - {self.second}"

    def weigh(self, level: str) -> float:
        return float(level == self.first) - float(level in self.others) / len(self.others)


def _mean_of(levels: Sequence[str]) -> str:
    return levels[0] if len(levels) == 1 else f"mean of {', '.join(levels)}"


def planned_contrasts(cross: Crossing, plan: Analysis | None = None) -> dict[str, Weights]:
    """Return the planned contrasts of a design: weights of cells, by label.

    The contrasts are the main effect of each factor, averaged over the others (with coding
    "treatment", at the first level of each); with two factors, the second factor's effect at each
    level of the first; and every interaction, as a difference of differences. A factor of several
    levels is compared pairwise; with more than six levels, each is compared with the first; with
    coding "helmert", each level is compared with the mean of the preceding levels. Contrasts that
    need a cell without answers are omitted.

    Args:
        cross: The cells and factors.
        plan: The study's declared contrasts; all contrasts by default.
    """
    plan = plan or Analysis()
    if len(cross.factors) == 1:
        [steps] = _list_steps(cross, plan.coding).values()
        return {step.words: _weigh_cells(cross, {step.factor: step}, {}) for step in steps}
    return {
        label: weights for label, weights in _contrasts_of_factors(cross, plan).items() if weights
    }


def _contrasts_of_factors(cross: Crossing, plan: Analysis) -> dict[str, Weights]:
    weights_by_label: dict[str, Weights] = dict(_main_effects(cross, plan.coding))
    if plan.simple_effects and len(cross.factors) == _SIMPLE_FACTORS:
        weights_by_label |= _simple_effects(cross, plan.coding)
    if plan.interactions:
        weights_by_label |= _weigh_interactions(cross, plan.coding)
    return weights_by_label


def _list_steps(cross: Crossing, coding: str) -> dict[str, list[_Step]]:
    steps_by_factor = {}
    for factor, levels in cross.factors.items():
        if coding == "helmert":
            places = range(1, len(levels))
            steps_by_factor[factor] = [
                _Step(factor, levels[index], levels[:index]) for index in places
            ]
            continue
        pairs = list(combinations(levels, 2))
        if len(levels) > _MOST_LEVELS:
            pairs = [(levels[0], level) for level in levels[1:]]
        steps_by_factor[factor] = [_Step(factor, first, (second,)) for first, second in pairs]
    return steps_by_factor


def _main_effects(cross: Crossing, coding: str) -> Iterator[tuple[str, Weights]]:
    for factor, steps in _list_steps(cross, coding).items():
        fixed = {name: levels[0] for name, levels in cross.factors.items() if name != factor}
        at = f" at {', '.join(fixed.values())}" if coding == "treatment" else ""
        for step in steps:
            fixed_levels = fixed if coding == "treatment" else {}
            yield f"{factor}: {step.words}{at}", _weigh_cells(cross, {factor: step}, fixed_levels)


def _simple_effects(cross: Crossing, coding: str) -> dict[str, Weights]:
    first_factor, second_factor = cross.factors
    return {
        f"{level}: {step.words}": _weigh_cells(cross, {second_factor: step}, {first_factor: level})
        for step in _list_steps(cross, coding)[second_factor]
        for level in cross.factors[first_factor]
    }


def _weigh_interactions(cross: Crossing, coding: str) -> dict[str, Weights]:
    steps = _list_steps(cross, coding)
    weights_by_label: dict[str, Weights] = {}
    for number in range(2, len(cross.factors) + 1):
        for factors in combinations(cross.factors, number):
            for chosen in product(*(steps[factor] for factor in factors)):
                label = f"Interaction: {_difference_label(chosen)}"
                weights_by_label[label] = _weigh_cells(
                    cross, {step.factor: step for step in chosen}, {}
                )
    return weights_by_label


def _difference_label(steps: tuple[_Step, ...]) -> str:
    """Return the label of a difference of differences, such as "(a: c - d) - (b: c - d)"."""
    first, *later_steps = steps
    if not later_steps:
        return first.words
    inner_label = _difference_label(tuple(later_steps))
    return f"({first.first}: {inner_label}) - ({first.second}: {inner_label})"


def label_in_words(label: str) -> str:
    """Return a contrast's label for readers: "Interaction: c minus d, by a minus b".

    Args:
        label: A key of ``planned_contrasts``, such as "Interaction: (a: c - d) - (b: c - d)".
    """
    body, steps = label.removeprefix("Interaction: "), []
    while body != label and (match := _DIFFERENCE.fullmatch(body)):
        body = match["inner"]
        steps.append(f", by {match['first']} minus {match['second']}")
    prefix = "Interaction: " if label.startswith("Interaction: ") else ""
    return f"{prefix}{body.replace(' - ', ' minus ')}{''.join(reversed(steps))}"


def _weigh_cells(
    cross: Crossing, steps: Mapping[str, _Step], fixed_levels: Mapping[str, str]
) -> dict[str, float]:
    """Return the cells' weights: steps of some factors, fixed levels of others, means of the rest.

    Factors without a step or a fixed level are averaged over, with equal weight for each cell. If a
    needed cell has no answers, the result is empty.
    """
    factors = list(cross.factors)
    averaged = [
        len(cross.factors[name])
        for name in factors
        if name not in steps and name not in fixed_levels
    ]
    share = 1.0 / float(np.prod(averaged)) if averaged else 1.0
    weights = {}
    cell_of = {levels: cell for cell, levels in cross.cells.items()}
    for levels in product(*cross.factors.values()):
        at = dict(zip(factors, levels, strict=True))
        if all(at[name] == level for name, level in fixed_levels.items()):
            weight = reduce(
                lambda so_far, step: so_far * step.weigh(at[step.factor]), steps.values(), share
            )
            if weight and levels not in cell_of:
                return {}
            if weight:
                weights[cell_of[levels]] = weight
    return weights


def fixed_columns(cells: pd.Series, cross: Crossing, plan: Analysis) -> pd.DataFrame:
    """Return the design matrix of the fixed effects for answers, without an intercept.

    With coding "sum" a factor's column is centred, so that a coefficient is an effect averaged
    over the other factors; with "treatment" it is 0 at the first level. With two levels the effect
    is the first minus the second (with "treatment" the second minus the first); with several
    levels, each minus the first. With "helmert" each level but the first is compared with the mean
    of the preceding levels. Columns that are redundant in the data are dropped.

    Args:
        cells: Each answer's cell.
        cross: The cells and factors.
        plan: The study's declared contrasts.
    """
    levels = np.array([cross.cells[cell] for cell in cells.astype(str)])
    of_factor = {
        factor: dict(_factor_columns(levels[:, index], factor, names, plan.coding))
        for index, (factor, names) in enumerate(cross.factors.items())
    }
    columns: dict[str, Floats] = {}
    for factor_columns in of_factor.values():
        columns |= factor_columns
    for number in range(2, len(of_factor) + 1) if plan.interactions else ():
        for factors in combinations(of_factor, number):
            for chosen in product(*(of_factor[factor] for factor in factors)):
                have_two_levels = all(len(of_factor[factor]) == 1 for factor in factors)
                words = " x ".join(factors) if have_two_levels else " x ".join(chosen)
                column = np.prod([columns[name] for name in chosen], axis=0)
                columns[f"Interaction: {words}"] = column
    return _independent_columns(pd.DataFrame(columns, index=cells.index))


def _factor_columns(
    levels: np.ndarray, factor: str, names: tuple[str, ...], coding: str
) -> Iterator[tuple[str, Floats]]:
    first = names[0]
    if coding == "sum" and len(names) == 2:
        yield f"{factor}: {' - '.join(names)}", np.where(levels == first, 0.5, -0.5)
        return
    for index, name in enumerate(names[1:], 1):
        if coding == "helmert":
            preceding = np.isin(levels, names[:index])
            column = (levels == name) * index / (index + 1.0) - preceding / (index + 1.0)
            yield f"{factor}: {name} - {_mean_of(names[:index])}", column
            continue
        column = (levels == name).astype(float)
        yield f"{factor}: {name} - {first}", column - (coding == "sum") / len(names)


def _independent_columns(columns: pd.DataFrame) -> pd.DataFrame:
    independent: list[str] = []
    with_one = np.ones((len(columns), 1))
    for name in columns:
        tried_columns = np.column_stack([with_one, columns[[*independent, name]].to_numpy()])
        if np.linalg.matrix_rank(tried_columns) == tried_columns.shape[1]:
            independent.append(str(name))
    return columns[independent]
