"""Slopes that comparisons are about: of a measure on a column of the items, or on surprisal."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.data.own_columns import PREFIX
from analysis.data.readings import RELATIVE_REGION
from analysis.data.scored_readings import BITS
from analysis.findings.compared_measures import MeasuredAnswers, sum_regions
from analysis.findings.design_model import covariates_of_trials
from analysis.findings.effects import Measure
from analysis.findings.finding import FindingInputs
from analysis.findings.measures import READING
from analysis.findings.surprisal import BASELINE
from analysis.statistics.reading_regression import slope
from analysis.statistics.resample import codes
from experiment.comparisons.check import SURPRISAL
from experiment.comparisons.contrast import Slope
from experiment.comparisons.planned import PlannedComparison
from experiment.studies.analysis_plan import SHARE_OF

Row = dict[str, Any]
Estimator = Callable[[float], Row]


def slope_estimator(
    data: MeasuredAnswers,
    comparison: PlannedComparison,
    compared: Slope,
    measure: Measure,
    judge: str,
) -> Estimator | str:
    """Return a function from an interval's level to the slope, or why there is none.

    Args:
        data: The answers that comparisons share.
        comparison: The comparison.
        compared: The slope.
        measure: What changes.
        judge: The model whose surprisal is meant; empty if it is a column of the items.
    """
    of_surprisal = compared.variable == SURPRISAL and not is_own_column(data.inputs, SURPRISAL)
    if of_surprisal and not judge:
        return "no surprisals: name them by --surprisal (of what was read) or --scores."
    if not of_surprisal:
        answers = _answers_with_column(data, comparison, compared, measure)
    elif measure is READING:
        answers = _words_with_surprisal(data.inputs, comparison, judge)
    else:
        answers = _answers_with_surprisal(data, comparison, judge)
    if isinstance(answers, str):
        return answers
    x, y = answers["x"].astype(float), answers[measure.value].astype(float)
    used = x.notna() & y.notna() & answers["participant"].notna()
    answers, x, y = answers[used], x[used], y[used]
    if answers.empty:
        return f"no answers have a value of {compared.variable}."
    person, unit = (codes(answers[name].astype(str))[0] for name in ("participant", "unit"))
    people = answers["participant"].astype(str)
    covariates, trials = comparison.declaration.covariates, answers
    if of_surprisal and measure is READING:
        trials = answers.drop(columns="position").rename(columns={"trial": "position"})
    held = covariates_of_trials(data.inputs, trials, covariates)
    if of_surprisal and measure is READING:
        held = held.assign(**{f"word {name}": answers[name].to_numpy() for name in BASELINE})
    # Differences between participants are no part of the slope.
    x_within, y_within = (
        (values - values.groupby(people).transform("mean")).to_numpy() for values in (x, y)
    )
    held_within = (held - held.groupby(people.to_numpy()).transform("mean")).to_numpy(dtype=float)
    design = np.column_stack([held_within, x_within])
    numbers_of = {
        "n_observations": len(answers),
        "n_participants": int(people.nunique()),
        "n_frames": int(answers["unit"].nunique()),
    }

    def estimate(level: float) -> Row:
        line = slope(y_within, design, [person, unit], level)
        return {
            "estimate": line.estimate, "low": line.low, "high": line.high, "p": line.p,
        } | numbers_of  # fmt: skip

    return estimate


def is_own_column(inputs: FindingInputs, name: str) -> bool:
    """Return whether the items have a column of this name."""
    return f"{PREFIX}{name}" in inputs.run.items


def _answers_with_column(
    data: MeasuredAnswers, comparison: PlannedComparison, compared: Slope, measure: Measure
) -> pd.DataFrame | str:
    """Return the answers with the value of an own column of their items as ``x``."""
    items, column = data.inputs.run.items, f"{PREFIX}{compared.variable}"
    if column not in items:
        return f'the items have no column "{compared.variable}".'
    numbers = dict(zip(items["item_id"].astype(str), items[column], strict=True))
    if measure is READING:
        rows, keys = data.inputs.data.judgments, ["participant", "position"]
        rows = rows[rows["construction"].astype(str).isin(comparison.constructions)]
        read_times = data.measured(comparison.measure)
        answers = sum_regions(
            read_times.assign(cell="", unit=read_times["unit"].astype(str)),
            comparison.declaration.regions,
        )
        read = rows[keys].assign(participant=rows["participant"].astype(str))
        answers = answers.merge(read, on=keys)
    else:
        answers = _answers_of_sentences(data, comparison)
    values = pd.to_numeric(answers["item_id"].astype(str).map(numbers), errors="coerce")
    return answers.assign(x=values)


def _answers_of_sentences(data: MeasuredAnswers, comparison: PlannedComparison) -> pd.DataFrame:
    measured = data.measured(comparison.measure)
    measured = measured[measured["construction"].astype(str).isin(comparison.constructions)]
    return measured.assign(unit=measured["frame"].astype(str))


def _words_with_surprisal(
    inputs: FindingInputs, comparison: PlannedComparison, model: str
) -> pd.DataFrame:
    """Return the words read in the comparison's regions, with a model's surprisal as ``x``."""
    words = inputs.scored_readings.by_model[model]
    words = words[words["construction"].astype(str).isin(comparison.constructions)]
    if regions := comparison.declaration.regions:
        words = words[words[RELATIVE_REGION].isin(regions)]
    return words.assign(x=words[BITS]).reset_index(drop=True)


def _answers_with_surprisal(
    data: MeasuredAnswers, comparison: PlannedComparison, model: str
) -> pd.DataFrame | str:
    """Return the answers to single sentences, with a model's surprisal of the sentence as ``x``."""
    if comparison.measure == "accuracy" or comparison.measure.startswith(SHARE_OF):
        return "a choice is between several versions, so it has no surprisal of its own."
    [scores] = [
        model_scores for model_scores in data.inputs.as_read if model_scores.facts.model == model
    ]
    versions = zip(
        scores.frame["item_id"].astype(str), scores.frame["variant"].astype(str), strict=True
    )
    bits = dict(zip(versions, -scores.frame["logprob_nats"] / np.log(2), strict=True))
    answers = _answers_of_sentences(data, comparison)
    shown = zip(answers["item_id"].astype(str), answers["version"].astype(str), strict=True)
    return answers.assign(x=[bits.get(version, np.nan) for version in shown])
