"""Comparisons of a factor's levels, and interactions: contrasts of a design's cells."""

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np
import pandas as pd

from analysis.findings.compared_measures import SENSITIVITY, MeasuredAnswers
from analysis.findings.compared_slopes import Estimator, Row
from analysis.findings.comparison_words import NAME, words_of
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design_model import covariates_of_trials
from analysis.findings.effects import Measure
from analysis.findings.measures import READING
from analysis.statistics.contrasts import Weights, contrasts, hold_constant
from analysis.statistics.detection import sensitivity_contrast
from analysis.statistics.drawn_frames import find_weights, weighted_means
from analysis.statistics.resample import LEVEL
from experiment.comparisons.contrast import Contrast
from experiment.comparisons.planned import PlannedComparison


def contrast_estimator(
    data: MeasuredAnswers, comparison: PlannedComparison, compared: Contrast, measure: Measure
) -> Estimator | str:
    """Return a function from an interval's level to a contrast's result, or why there is none."""
    parts: list[pd.DataFrame] = []
    weights: dict[str, float] = {}
    same: list[str] = []
    outer, of_first = compared.differences[0], set[str]()
    named_factors = set(compared.named_factors)
    levels: dict[str, str] = {}
    for name, rows, cross in data.designs:
        if name not in comparison.constructions or not named_factors <= set(cross.factors):
            continue
        pooled_names: dict[str, str] = {}
        if measure is SENSITIVITY:
            pooled_names, cross = cross.pooled(named_factors)
        of_cells = compared.weights(cross.factors, cross.cells)
        if not of_cells or not measure.is_compared(rows, cross):
            continue
        regions = comparison.declaration.regions
        in_cells = data.in_cells(comparison.measure, name, rows, regions)
        if measure is READING and in_cells.empty:
            continue
        if pooled_names:
            in_cells = in_cells.assign(cell=in_cells["cell"].astype(str).map(pooled_names))
        planned = planned_contrasts(cross, data.inputs.run.study.analysis)
        matching = (label for label, cells in planned.items() if _match(cells, of_cells))
        same.append(next(matching, ""))
        parts.append(in_cells.assign(cell=f"{name}: " + in_cells["cell"].astype(str)))
        weights |= {f"{name}: {cell}": weight for cell, weight in of_cells.items()}
        place = list(cross.factors).index(outer.factor)
        levels |= {
            f"{name}: {cell}": _name_levels(compared, cross.factors, cross.cells[cell])
            for cell in of_cells
        }
        of_first |= {
            f"{name}: {cell}" for cell in of_cells if cross.cells[cell][place] == outer.first
        }
    if not parts:
        return "no answers in all of the cells that it compares."
    # Several pooled constructions are no contrast of the tables of effects.
    contrast = {"contrast": same[0] if len(same) == 1 else ""}
    share = 1 / len(parts)
    shared = {cell: share * weight for cell, weight in weights.items()}
    pooled = pd.concat(parts, ignore_index=True)
    pooled = _hold_covariates(data, comparison, pooled, measure, shared)
    means = _average_cells(pooled, shared, measure)
    sides = _weigh_sides(means, shared, of_first)
    sides |= {"cells": _describe_cells(means, levels, comparison.measure)}

    def estimate(level: float) -> Row:
        if measure is SENSITIVITY:
            return sensitivity_contrast(pooled, shared, level) | contrast | sides
        compared_cells = contrasts(pooled, measure.value, {NAME: shared}, level=level)
        [row] = compared_cells.drop(columns="p_holm").to_dict("records")
        return {str(key): value for key, value in row.items()} | contrast | sides

    return estimate


def _hold_covariates(
    data: MeasuredAnswers,
    comparison: PlannedComparison,
    answers: pd.DataFrame,
    measure: Measure,
    weights: Weights,
) -> pd.DataFrame:
    """Return the answers with the comparison's covariates held constant, if it has any."""
    names = comparison.declaration.covariates
    if not names:
        return answers
    answers = answers[answers["cell"].isin(weights) & answers[measure.value].notna()]
    values = answers[measure.value].to_numpy(dtype=float)
    covariates = covariates_of_trials(data.inputs, answers, names).to_numpy(dtype=float)
    held = hold_constant(values, covariates, answers["cell"], weights, find_weights(answers))
    return answers.assign(**{measure.value: held})


def _name_levels(compared: Contrast, factors: Iterable[str], levels: Sequence[str]) -> str:
    """Return a cell's levels of the factors whose interaction is compared, such as "sg, pl"."""
    crossed = {step.factor for step in compared.differences}
    named = [level for factor, level in zip(factors, levels, strict=True) if factor in crossed]
    return ", ".join(named)


def _describe_cells(means: Mapping[str, float], levels: Mapping[str, str], measure: str) -> str:
    """Return the mean at each combination of levels, over the other cells: "sg, pl 82.8%; ..."."""
    by_levels: dict[str, list[float]] = {}
    for cell, name in levels.items():
        by_levels.setdefault(name, []).append(means.get(cell, np.nan))
    level = words_of(measure).level
    return "; ".join(f"{name} {level(float(np.mean(cells)))}" for name, cells in by_levels.items())


def _average_cells(
    answers: pd.DataFrame, weights: Weights, measure: Measure
) -> Mapping[str, float]:
    """Return each cell's mean, or its d'."""
    cell = answers["cell"].astype(str)
    if measure is SENSITIVITY:
        return {
            name: float(sensitivity_contrast(answers[cell == name], {name: 1.0}, LEVEL)["estimate"])
            for name in weights
        }
    is_measured = answers[measure.value].notna().to_numpy()
    number, names = pd.factorize(cell[is_measured])
    values = answers.loc[is_measured, measure.value].to_numpy(dtype=float)
    means = weighted_means(values, find_weights(answers)[is_measured], number)
    return dict(zip(names, means.tolist(), strict=True))


def _weigh_sides(means: Mapping[str, float], weights: Weights, of_first: Set[str]) -> Row:
    """Return the mean of each side of a contrast; its estimate is the first minus the second.

    Args:
        means: The mean of each cell.
        weights: The weight of each cell.
        of_first: The cells at the first level of the contrast's first factor.
    """
    shares = {name: weight * means.get(name, np.nan) for name, weight in weights.items()}
    return {
        "first": float(sum(share for name, share in shares.items() if name in of_first)),
        "second": -float(sum(share for name, share in shares.items() if name not in of_first)),
    }


def _match(first: Weights, second: Weights) -> bool:
    """Return whether two contrasts compare the same, in this or in the opposite direction."""
    if set(first) != set(second):
        return False
    ratio = [first[cell] / second[cell] for cell in first]
    return np.allclose(ratio, ratio[0]) and bool(np.isclose(abs(ratio[0]), 1))
