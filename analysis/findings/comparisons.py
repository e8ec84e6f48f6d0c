"""The study's comparisons, answered: the questions that a report answers first."""

from collections.abc import Mapping, Sequence, Set

import numpy as np
import pandas as pd

from analysis.data.own_columns import make_items
from analysis.findings.compared_measures import (
    SENSITIVITY,
    MeasuredAnswers,
    measure_of,
)
from analysis.findings.compared_slopes import Estimator, Row, is_own_column, slope_estimator
from analysis.findings.comparison_table import comparisons_table
from analysis.findings.comparison_words import ALPHA, NAME, statements
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design_model import covariates_of_trials
from analysis.findings.differences import split_tied_models
from analysis.findings.effects import Measure
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.findings.measures import READ
from analysis.statistics.contrasts import Weights, contrasts, hold_constant
from analysis.statistics.detection import sensitivity_contrast
from analysis.statistics.paired import models_against_models, people_against_models
from analysis.statistics.resample import LEVEL
from analysis.tables.section import Section
from experiment.comparisons.check import SURPRISAL
from experiment.comparisons.contrast import (
    MODELS,
    PEOPLE,
    Contrast,
    JudgeDifference,
    Slope,
)
from experiment.comparisons.planned import (
    PlannedComparison,
    construction_designs,
    implied_comparisons,
    resolve,
)
from experiment.errors import ParallaxError
from experiment.studies.analysis_plan import Comparison


def _run(inputs: FindingInputs) -> Findings:
    rows, unanswered = answered(inputs)
    if rows.empty:
        return Findings(left_out=unanswered)
    tables = [
        comparisons_table(inputs.context, rows[rows["role"] == role], role)
        for role in ("primary", "exploratory")
        if (rows["role"] == role).any()
    ]
    return Findings(tuple(tables), {NAME: rows}, unanswered)


def answered(inputs: FindingInputs) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the study's comparisons with their results, and why others have none.

    Returns:
        A frame with a row for each comparison (and model): name, role, is_declared, is_planned
        (False for those asked by an option), measure, compared (in the notation of study.toml),
        constructions, judge, covariates, regions, contrast (its label in the tables of effects,
        if these have it), estimate, low, high, level (of the interval), p,
        p_corrected, n_in_family, smallest_effect (between people and models: the margin if none is
        declared), is_equivalent, equivalence_low and equivalence_high (of the two one-sided tests:
        an interval of 90% where nothing is corrected), first and second (of judges their
        accuracies, of levels what the compared levels come to, whose difference is the estimate),
        n_observations, n_participants, n_frames; and sentences on comparisons without an answer.
        Primary comparisons are corrected among themselves by Bonferroni's method, over all tasks of
        a session, an exploratory one with several models for their number, interval and p alike, so
        that an interval excludes 0 exactly when its p is below .05.
    """
    study = inputs.run.study
    # A part of a session with several tasks has the answers to one task alone.
    present = set(inputs.data.judgments["construction"].astype(str).unique())
    items = [item for item in make_items(inputs.run.items) if item.construction in present]
    try:
        designs = construction_designs(study, items, own_code=False)
    except ParallaxError as error:
        return pd.DataFrame(), (f"The study's comparisons are not answered: {error}",)
    requested = [
        Comparison(name=text, compare=text, role="exploratory")
        for text in inputs.options.comparisons
    ]
    planned = [] if study.comparisons else list(implied_comparisons(study, designs))
    unanswered: list[str] = []
    for declared in (*study.comparisons, *requested):
        if declared.constructions and not present & set(declared.constructions):
            continue
        try:
            planned.append(resolve(declared, designs))
        except ParallaxError as error:
            unanswered.append(f"{declared.name}: {error}")
    measures = {measure for design in designs for measure in design.measures}
    parts = []
    for comparison in planned:
        name, measure = comparison.declaration.name, comparison.measure
        if measure in measures:
            parts.append((comparison, _list_judges(inputs, comparison)))
        elif comparison.is_declared:
            unanswered.append(f'{name}: no answers have the measure "{measure}".')
    n_primary = _count_primary(parts, study.comparisons)
    data, rows, unplanned = MeasuredAnswers(inputs), [], inputs.options.comparisons
    for comparison, judges in parts:
        family = n_primary if comparison.declaration.is_primary else len(judges)
        for judge in judges:
            result = _estimate(data, comparison, judge, family)
            if isinstance(result, str):
                unanswered.append(f"{comparison.declaration.name}: {result}")
            else:
                rows.append(_describe_comparison(comparison, judge, family, unplanned) | result)
    return pd.DataFrame(rows), tuple(unanswered)


def _count_primary(
    answerable: Sequence[tuple[PlannedComparison, list[str]]], declared: Sequence[Comparison]
) -> int:
    """Return the size of the primary family; it includes those of the session's other tasks."""
    answerable = [(part, judges) for part, judges in answerable if part.declaration.is_primary]
    names = {part.declaration.name for part, _ in answerable}
    n_others = sum(one.is_primary and one.name not in names for one in declared)
    return n_others + sum(len(judges) for _, judges in answerable)


def _describe_comparison(
    comparison: PlannedComparison, judge: str, family: int, unplanned: Sequence[str]
) -> Row:
    declaration = comparison.declaration
    return {
        "name": declaration.name,
        "role": declaration.role,
        "is_declared": comparison.is_declared,
        "is_planned": declaration.name not in unplanned,
        "measure": comparison.measure,
        "compared": comparison.compared.text,
        "constructions": ", ".join(comparison.constructions),
        "judge": judge,
        "n_in_family": family,
        "covariates": ", ".join(declaration.covariates),
        "regions": ", ".join(map(str, declaration.regions)),
        "contrast": "",
    } | statements(comparison, judge)


def _list_judges(inputs: FindingInputs, comparison: PlannedComparison) -> list[str]:
    """Return the models that a comparison is answered for; one empty name for people alone."""
    compared = comparison.compared
    if isinstance(compared, Slope) and compared.variable == SURPRISAL:
        is_read = comparison.measure == READ.value
        models = (
            inputs.options.surprisal if is_read else [one.facts.model for one in inputs.as_read]
        )
        return [""] if is_own_column(inputs, SURPRISAL) else list(models) or [""]
    if not isinstance(compared, JudgeDifference):
        return [""]
    if compared.second == MODELS:
        return list(split_tied_models(inputs.data.decisions)[0])
    return [compared.second]


def _estimate(
    data: MeasuredAnswers, comparison: PlannedComparison, judge: str, family: int
) -> Row | str:
    """Return a comparison's estimate, interval, p and numbers, or why there is none."""
    declaration = comparison.declaration
    sides = 2 if declaration.one_sided else 1
    estimate_at = _make_estimator(data, comparison, judge)
    if isinstance(estimate_at, str):
        return estimate_at
    level = 1 - sides * ALPHA / family
    row = estimate_at(level)
    p = float(row["p"])
    if declaration.one_sided:
        predicted = 1.0 if declaration.predicted == "positive" else -1.0
        p = p / 2 if predicted * row["estimate"] > 0 else 1 - p / 2
        row |= {"high": np.inf} if predicted > 0 else {"low": -np.inf}
    # People and models have a margin in every study; near 100% it is reduced.
    margin, is_equivalent, inside = row.pop("margin", None), None, (np.nan, np.nan)
    smallest = margin if declaration.smallest_effect is None else declaration.smallest_effect
    if smallest is not None:
        inner = estimate_at(1 - 2 * ALPHA / family)
        inside = inner["low"], inner["high"]
        is_equivalent = bool(-smallest < inside[0] and inside[1] < smallest)
    return row | {
        "level": LEVEL,
        "p": p,
        "p_corrected": min(1.0, p * family),
        "smallest_effect": smallest,
        "is_equivalent": is_equivalent,
        "equivalence_low": inside[0],
        "equivalence_high": inside[1],
    }


def _make_estimator(
    data: MeasuredAnswers, comparison: PlannedComparison, judge: str
) -> Estimator | str:
    """Return a function from an interval's level to the result, or why there is no result."""
    compared = comparison.compared
    if isinstance(compared, JudgeDifference):
        return _judge_estimator(data.inputs, comparison, compared, judge)
    measure = measure_of(comparison.measure)
    if isinstance(compared, Contrast):
        return _contrast_estimator(data, comparison, compared, measure)
    if measure is SENSITIVITY:
        return "d' is computed from many answers, so it has no slope."
    return slope_estimator(data, comparison, compared, measure, judge)


def _contrast_estimator(
    data: MeasuredAnswers, comparison: PlannedComparison, compared: Contrast, measure: Measure
) -> Estimator | str:
    parts: list[pd.DataFrame] = []
    weights: dict[str, float] = {}
    same: list[str] = []
    last, of_first = compared.differences[-1], set[str]()
    named_factors = set(compared.named_factors)
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
        if measure is READ and in_cells.empty:
            continue
        if pooled_names:
            in_cells = in_cells.assign(cell=in_cells["cell"].astype(str).map(pooled_names))
        planned = planned_contrasts(cross, data.inputs.run.study.analysis)
        matching = (label for label, cells in planned.items() if _match(cells, of_cells))
        same.append(next(matching, ""))
        parts.append(in_cells.assign(cell=f"{name}: " + in_cells["cell"].astype(str)))
        weights |= {f"{name}: {cell}": weight for cell, weight in of_cells.items()}
        place = list(cross.factors).index(last.factor)
        of_first |= {
            f"{name}: {cell}" for cell in of_cells if cross.cells[cell][place] == last.first
        }
    if not parts:
        return "no answers in all of the cells that it compares."
    # Several pooled constructions are no contrast of the tables of effects.
    contrast = {"contrast": same[0] if len(same) == 1 else ""}
    share = 1 / len(parts)
    shared = {cell: share * weight for cell, weight in weights.items()}
    pooled = pd.concat(parts, ignore_index=True)
    if names := comparison.declaration.covariates:
        pooled = pooled[pooled["cell"].isin(shared) & pooled[measure.value].notna()]
        values = pooled[measure.value].to_numpy(dtype=float)
        covariates = covariates_of_trials(data.inputs, pooled, names).to_numpy(dtype=float)
        pooled = pooled.assign(
            **{measure.value: hold_constant(values, covariates, pooled["cell"], shared)}
        )

    sides = _weigh_sides(pooled, shared, of_first, measure)

    def estimate(level: float) -> Row:
        if measure is SENSITIVITY:
            return sensitivity_contrast(pooled, shared, level) | contrast | sides
        compared_cells = contrasts(pooled, measure.value, {NAME: shared}, level=level)
        [row] = compared_cells.drop(columns="p_holm").to_dict("records")
        return {str(key): value for key, value in row.items()} | contrast | sides

    return estimate


def _weigh_sides(
    answers: pd.DataFrame, weights: Weights, of_first: Set[str], measure: Measure
) -> dict[str, float]:
    """Return what the two sides of a contrast come to: its estimate is first minus second.

    Args:
        answers: The answers in their cells.
        weights: The weight of each cell.
        of_first: The cells at the first of the levels that are compared last.
        measure: What is compared.
    """
    cell = answers["cell"].astype(str)
    means: Mapping[str, float]
    if measure is SENSITIVITY:
        means = {
            name: float(sensitivity_contrast(answers[cell == name], {name: 1.0}, LEVEL)["estimate"])
            for name in weights
        }
    else:
        by_cell = answers[measure.value].astype(float).groupby(cell).mean()
        means = {str(name): float(mean) for name, mean in by_cell.items()}
    shares = {name: weight * means.get(name, np.nan) for name, weight in weights.items()}
    return {
        "first": float(sum(share for name, share in shares.items() if name in of_first)),
        "second": -float(sum(share for name, share in shares.items() if name not in of_first)),
    }


def _match(first: Weights, second: Weights) -> bool:
    """Return whether two contrasts ask the same, in this or in the opposite direction."""
    if set(first) != set(second):
        return False
    ratio = [first[cell] / second[cell] for cell in first]
    return np.allclose(ratio, ratio[0]) and bool(np.isclose(abs(ratio[0]), 1))


def _judge_estimator(
    inputs: FindingInputs, comparison: PlannedComparison, compared: JudgeDifference, judge: str
) -> Estimator | str:
    if comparison.measure != "accuracy":
        return (
            "people and models are compared by accuracy, in choices between versions; for "
            "other answers the report gives correlations."
        )
    judged_data = inputs.judged
    chosen = judged_data.judgments["construction"].astype(str).isin(comparison.constructions)
    people = judged_data.judgments[chosen]
    items = set(people["item_id"].astype(str))
    decisions = {
        model: frame[frame["item_id"].astype(str).isin(items)]
        for model, frame in split_tied_models(judged_data.decisions)[0].items()
    }
    models = {name for name in (compared.first, judge) if name != PEOPLE}
    if missing := sorted(models - set(decisions)):
        return f"no scores of {', '.join(missing)}, or it gave all versions the same score."
    is_of_models = len(models) > 1
    sign = -1.0 if judge == PEOPLE else 1.0

    def estimate(level: float) -> Row:
        if is_of_models:
            pair = {compared.first: decisions[compared.first], judge: decisions[judge]}
            rows = models_against_models(pair, "construction", inputs.margin, level=level)
            numbers = {"n_observations": "n_items", "n_participants": "", "n_frames": ""}
        else:
            model = next(iter(models))
            rows = people_against_models(
                people, {model: decisions[model]}, ["construction"], inputs.margin, level=level
            )
            numbers = {name: name for name in ("n_participants", "n_frames")}
            numbers["n_observations"] = "n_judgments"
        row = rows[rows["construction"] == ""].to_dict("records")[0]
        low, high = sorted((sign * row["low"], sign * row["high"]))
        shares = [row.get("people", row.get("first")), row.get("model", row.get("second"))]
        first, second = shares if sign > 0 else reversed(shares)
        return {
            "estimate": sign * row["difference"], "low": low, "high": high, "p": row["p"],
            "first": first, "second": second, "margin": row["margin"],
        } | {name: row[column] if column else 0 for name, column in numbers.items()}  # fmt: skip

    return estimate


COMPARISONS = Finding(NAME, Section.COMPARISONS, _run)
