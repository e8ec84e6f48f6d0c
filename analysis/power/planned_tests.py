"""A study's primary comparisons, by task, and how the power analysis tests each."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.findings.comparison_words import ALPHA
from analysis.findings.design import cross_conditions
from analysis.findings.effects import with_repeats
from analysis.power.base import PowerOptions
from analysis.power.cells import ACCURACY, LOG_RT, RATING, YES, SimulatedAnswers, items_in
from analysis.power.simulated_comparisons import Tested
from experiment.comparisons.contrast import PEOPLE, Contrast, JudgeDifference
from experiment.comparisons.planned import PlannedComparison, planned_comparisons
from experiment.design.lists import BuiltLists
from experiment.records import Kind
from experiment.responses.rating.slider import Slider
from experiment.responses.registry import response_of
from experiment.studies.analysis_plan import SHARE_OF, is_count
from experiment.studies.study import Study

# The effects that are planned for if neither the study nor an option names one.
_USUAL_EFFECTS = {ACCURACY: 0.05, RATING: 0.5, YES: 0.1, LOG_RT: float(np.log1p(0.05))}
_USUAL_OF_SHARES = 0.1
_USUAL_OF_ENTRIES = 2.0
_USUAL_ON_SLIDERS = 5.0
_PERCENT = 100.0


def primary_comparisons(
    study: Study, built: BuiltLists, options: PowerOptions
) -> list[PlannedComparison]:
    """Return the study's primary comparisons; ``--slowdown`` makes implied ones of times."""
    planned = [
        comparison
        for comparison in planned_comparisons(study, items_in(study, built))
        if comparison.declaration.is_primary
    ]
    if options.slowdown_percent is None:
        return planned
    return [
        comparison if comparison.is_declared else replace(comparison, measure=LOG_RT)
        for comparison in planned
    ]


def usual_effect(measure: str, study: Study) -> float | None:
    """Return the effect to plan for if nothing names one; None if a measure cannot be planned.

    Of shares, only those of a category of typed answers can: one option of several depends on the
    others.
    """
    if measure.startswith(SHARE_OF) and study.coding is not None:
        return _USUAL_OF_SHARES
    if is_count(measure):
        return _USUAL_OF_ENTRIES
    if measure == RATING and response_of(study).name == Slider.name:
        return _USUAL_ON_SLIDERS
    return _USUAL_EFFECTS.get(measure)


def group_by_task(
    study: Study, built: BuiltLists, planned: Iterable[PlannedComparison]
) -> dict[tuple[str, str], list[PlannedComparison]]:
    """Return the comparisons by measure and task; the task is empty if the session has only one."""
    response, items = response_of(study), items_in(study, built)
    task_of = {item.construction: response.task_of(item) for item in items}
    groups: dict[tuple[str, str], list[PlannedComparison]] = {}
    for comparison in planned:
        key = comparison.measure, task_of.get(next(iter(comparison.constructions), ""), "")
        groups.setdefault(key, []).append(comparison)
    return groups


def plan_test(
    comparison: PlannedComparison,
    answers: SimulatedAnswers,
    rows: pd.DataFrame,
    study: Study,
    n_primary: int,
    options: PowerOptions,
) -> Tested | None:
    """Return how a comparison is tested; None if that cannot be planned."""
    declaration, compared = comparison.declaration, comparison.compared
    if isinstance(compared, Contrast):
        in_cells, weights = _select_compared_answers(comparison, compared, answers, rows, study)
    elif isinstance(compared, JudgeDifference) and PEOPLE in (compared.first, compared.second):
        chosen = (rows["kind"] == Kind.TARGET) & rows["construction"].isin(comparison.constructions)
        in_cells, weights = rows[chosen], {}
    else:
        return None
    if in_cells.empty or (not weights and comparison.measure != ACCURACY):
        return None
    sides = 2 if declaration.one_sided else 1
    sign = -1.0 if declaration.predicted == "negative" else 1.0
    if isinstance(compared, JudgeDifference) and compared.second == PEOPLE:
        sign = -sign
    has_means = options.means is not None and comparison.measure != LOG_RT and weights
    needed = ("cell", "participant", "unit", "item_id", "construction", "also", "group")
    return Tested(
        declaration.name,
        comparison.measure,
        None if has_means else sign * _choose_effect(comparison, study, options),
        1 - sides * ALPHA / n_primary,
        in_cells[[name for name in needed if name in in_cells]],
        weights,
    )


def _choose_effect(comparison: PlannedComparison, study: Study, options: PowerOptions) -> float:
    if comparison.measure == LOG_RT:
        slowdown = options.slowdown_percent
        effect = None if slowdown is None else float(np.log1p(slowdown / _PERCENT))
    else:
        effect = options.difference
    usual = usual_effect(comparison.measure, study)
    assert usual is not None
    return effect or comparison.declaration.smallest_effect or usual


def _select_compared_answers(
    comparison: PlannedComparison,
    compared: Contrast,
    answers: SimulatedAnswers,
    rows: pd.DataFrame,
    study: Study,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return the answers that a contrast compares, in their cells, and the cells' weights."""
    named = set(compared.named_factors)
    targets = rows[rows["kind"] == Kind.TARGET]
    of_items = answers.items["construction"].astype(str)
    parts: list[pd.DataFrame] = []
    weights: dict[str, float] = {}
    for name in comparison.constructions:
        of_construction = targets[targets["construction"] == name]
        if of_construction.empty:
            continue
        crossed, cross = cross_conditions(of_construction, answers.items[of_items == name], study)
        cross = cross.without_empty_levels()
        if not named <= set(cross.factors):
            continue
        if of_cells := compared.weights(cross.factors, cross.cells):
            crossed = with_repeats(crossed, study)
            parts.append(crossed.assign(cell=f"{name}: " + crossed["cell"].astype(str)))
            weights |= {f"{name}: {cell}": weight for cell, weight in of_cells.items()}
    if not parts:
        return rows[:0], {}
    share = 1 / len(parts)
    return pd.concat(parts), {cell: share * weight for cell, weight in weights.items()}
