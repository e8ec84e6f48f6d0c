"""The study's comparisons, answered: the questions that a report answers first."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from analysis.data.own_columns import make_items
from analysis.data.scales import find_scales, rating_ends, write_ends
from analysis.findings.compared_contrasts import contrast_estimator
from analysis.findings.compared_measures import SENSITIVITY, MeasuredAnswers, measure_of
from analysis.findings.compared_slopes import Estimator, Row, is_own_column, slope_estimator
from analysis.findings.comparison_table import comparisons_table, statements
from analysis.findings.comparison_words import ALPHA, NAME, describe_reduced_margin
from analysis.findings.differences import split_tied_models
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.findings.measures import READING
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

# The share of a normal distribution within one standard deviation.
WITHIN_ONE_SD = 0.682689492
# Smaller p values of an equivalence are printed alike.
_LEAST_EXPONENT = -6.0


def _run(inputs: FindingInputs) -> Findings:
    rows, unanswered = answered(inputs)
    if rows.empty:
        return Findings(left_out=unanswered)
    drawn = bool(inputs.run.study.design.inclusion)
    tables = [
        comparisons_table(inputs.context, rows[rows["role"] == role], role, were_frames_drawn=drawn)
        for role in ("primary", "exploratory")
        if (rows["role"] == role).any()
    ]
    return Findings(tuple(tables), {NAME: rows}, unanswered)


def answered(inputs: FindingInputs) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the study's comparisons with their results, and why others have none.

    Returns:
        A frame with a row for each comparison (and model): name, role, one_sided (the predicted
        side), is_declared, is_planned (False if an option asks it), is_of_judges (people or
        models), measure, response (its type), scale (of ratings), compared (in the notation of
        study.toml), factors (named by a contrast), at (the levels at which it holds),
        constructions, judge, covariates, regions, between (the factors that vary between
        participants), contrast (its label in the tables of effects, if these have it), cells (an
        interaction's means, in words), estimate, standard_error (half the interval of 68.3%), low,
        high, level (of the interval), p, p_corrected, n_in_family, smallest_effect (between people
        and models: the margin if none is declared), margin_source, is_equivalent, p_equivalence (if
        it is, corrected likewise), equivalence_low and equivalence_high (of the two one-sided
        tests: an interval of 90% where nothing is corrected), first and second (of judges their
        accuracies, of levels what the compared levels come to, whose difference is the estimate),
        n_observations, n_participants, n_frames; and sentences on comparisons without an answer.
        Primary comparisons are corrected by Bonferroni's method, over all tasks of a session, an
        exploratory one with several models for their number; interval and p agree on 0.
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
    for comparison in (as_planned.labelled(study.analysis) for as_planned in planned):
        name, measure = comparison.declaration.name, comparison.measure
        if measure in measures:
            parts.append((comparison, _list_judges(inputs, comparison)))
        elif comparison.is_declared:
            unanswered.append(f'{name}: no answers have the measure "{measure}".')
    n_primary = _count_primary(inputs, parts, present)
    data, rows = MeasuredAnswers(inputs), []
    for comparison, judges in parts:
        family = n_primary if comparison.declaration.is_primary else len(judges)
        for judge in judges:
            result = _estimate(data, comparison, judge, family)
            if isinstance(result, str):
                unanswered.append(f"{comparison.declaration.name}: {result}")
            else:
                rows.append(_describe_comparison(inputs, comparison, judge, family) | result)
    return pd.DataFrame(rows), tuple(unanswered)


def _count_primary(
    inputs: FindingInputs,
    answerable: Sequence[tuple[PlannedComparison, list[str]]],
    present: set[str],
) -> int:
    """Return the size of the primary family; it includes a session's other tasks and scales."""
    answerable = [(part, judges) for part, judges in answerable if part.declaration.is_primary]
    n_primary = sum(len(judges) for _, judges in answerable)
    study, whole = inputs.run.study, inputs.run.whole_study
    if whole and (scales := find_scales(whole)):
        return n_primary * len(scales.named_scales)
    others: list[Comparison] = []
    if study.comparisons:
        names = {part.declaration.name for part, _ in answerable}
        others = [other for other in study.comparisons if other.name not in names]
    elif whole:
        designs = construction_designs(whole, list(make_items(inputs.run.items)), own_code=False)
        others = [
            implied.declaration
            for implied in implied_comparisons(whole, designs)
            if not present & set(implied.constructions)
        ]
    return n_primary + sum(other.is_primary for other in others)


def _describe_comparison(
    inputs: FindingInputs, comparison: PlannedComparison, judge: str, family: int
) -> Row:
    declaration, compared, study = comparison.declaration, comparison.compared, inputs.run.study
    contrast = compared if isinstance(compared, Contrast) else None
    steps = contrast.differences if contrast else ()
    is_rated = comparison.measure == "rating"
    return {
        "name": declaration.name,
        "role": declaration.role,
        "one_sided": declaration.predicted if declaration.one_sided else "",
        "is_declared": comparison.is_declared,
        "is_planned": declaration.name not in inputs.options.comparisons,
        "is_of_judges": isinstance(compared, JudgeDifference),
        "measure": comparison.measure,
        "response": study.response,
        "scale": f" on a scale from {write_ends(rating_ends(inputs.run))}" if is_rated else "",
        "between": ", ".join(step.factor for step in steps if step.factor in study.design.factors),
        "compared": comparison.compared.text,
        "factors": ", ".join(sorted(contrast.named_factors)) if contrast else "",
        "at": ", ".join(level for _, level in contrast.at) if contrast else "",
        "constructions": ", ".join(comparison.constructions),
        "judge": judge,
        "n_in_family": family,
        "covariates": ", ".join(declaration.covariates),
        "regions": ", ".join(map(str, declaration.regions)),
        "contrast": "",
        "cells": "",
    } | statements(comparison, judge, study.response, study.analysis.labels)


def _list_judges(inputs: FindingInputs, comparison: PlannedComparison) -> list[str]:
    """Return the models that a comparison is answered for; one empty name for people alone."""
    compared = comparison.compared
    if isinstance(compared, Slope) and compared.variable == SURPRISAL:
        is_read = comparison.measure == READING.value
        models = (
            inputs.options.surprisal
            if is_read
            else [scores.facts.model for scores in inputs.as_read]
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
    row, narrow = estimate_at(level), estimate_at(WITHIN_ONE_SD)
    p = float(row["p"])
    if declaration.one_sided:
        predicted = 1.0 if declaration.predicted == "positive" else -1.0
        p = p / 2 if predicted * row["estimate"] > 0 else 1 - p / 2
        row |= {"high": np.inf} if predicted > 0 else {"low": -np.inf}
    # People and models have a margin in every study; near 100% it is reduced.
    margin, is_equivalent, inside = row.pop("margin", None), None, (np.nan, np.nan)
    smallest = margin if declaration.smallest_effect is None else declaration.smallest_effect
    p_equivalence = np.nan
    if smallest is not None:
        inner = estimate_at(1 - 2 * ALPHA / family)
        inside = inner["low"], inner["high"]
        is_equivalent = bool(-smallest < inside[0] and inside[1] < smallest)
        if is_equivalent:
            p_equivalence = family * _equivalence_p(estimate_at, smallest, ALPHA / family)
    return row | {
        "standard_error": (narrow["high"] - narrow["low"]) / 2,
        "level": LEVEL,
        "p": p,
        # Without an interval there is no p either.
        "p_corrected": np.minimum(1.0, p * family),
        "smallest_effect": smallest,
        "margin_source": _name_margin_source(declaration, margin, data.inputs.margin),
        "p_equivalence": p_equivalence,
        "is_equivalent": is_equivalent,
        "equivalence_low": inside[0],
        "equivalence_high": inside[1],
    }


def _name_margin_source(declaration: Comparison, margin: float | None, of_study: float) -> str:
    if declaration.smallest_effect is not None:
        return "the smallest effect of interest"
    if margin is None:
        return ""
    if margin < of_study:
        return f"a margin {describe_reduced_margin(of_study)}"
    return "the margin of the study"


def _equivalence_p(estimate_at: Estimator, smallest: float, alpha: float) -> float:
    """Return the p of two one-sided tests: the least level whose interval is within the margin.

    Args:
        estimate_at: Gives the interval at a level.
        smallest: The margin.
        alpha: A level at which the interval is within the margin.
    """

    def overshoot(exponent: float) -> float:
        row = estimate_at(1 - 2 * 10**exponent)
        return max(-float(row["low"]), float(row["high"])) - smallest

    least, most = _LEAST_EXPONENT, float(np.log10(alpha))
    if overshoot(least) < 0:
        return float(10**least)
    return float(10 ** brentq(overshoot, least, most, xtol=1e-4))


def _make_estimator(
    data: MeasuredAnswers, comparison: PlannedComparison, judge: str
) -> Estimator | str:
    """Return a function from an interval's level to the result, or why there is no result."""
    compared = comparison.compared
    if isinstance(compared, JudgeDifference):
        return _judge_estimator(data.inputs, comparison, compared, judge)
    measure = measure_of(comparison.measure)
    if isinstance(compared, Contrast):
        return contrast_estimator(data, comparison, compared, measure)
    if measure is SENSITIVITY:
        return "d' is computed from many answers, so it has no slope."
    return slope_estimator(data, comparison, compared, measure, judge)


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
