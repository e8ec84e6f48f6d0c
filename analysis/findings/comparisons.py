"""The study's comparisons, answered: the questions that a report answers first."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.data.own_columns import PREFIX, make_items
from analysis.data.readings import RELATIVE
from analysis.findings.compared_measures import SENSITIVITY, measure_of
from analysis.findings.comparison_words import ALPHA, NAME, comparisons_table, statements
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design import Crossing, crossed_designs
from analysis.findings.design_model import covariates_of_trials
from analysis.findings.differences import split_tied_models
from analysis.findings.effects import Measure
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.findings.measures import READ
from analysis.findings.surprisal import BASE, times_with_surprisal
from analysis.findings.surprisal import VALUE as BITS
from analysis.statistics.contrasts import Weights, contrasts, hold_constant
from analysis.statistics.detection import sensitivity_contrast
from analysis.statistics.paired import models_against_models, people_against_models
from analysis.statistics.reading_regression import slope
from analysis.statistics.resample import LEVEL, codes
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
from experiment.studies.analysis_plan import SHARE_OF, Comparison

Row = dict[str, Any]


class _Answers:
    """The answers that comparisons share: each table is made once.

    Attributes:
        inputs: The inputs of findings.
    """

    def __init__(self, inputs: FindingInputs) -> None:
        self.inputs = inputs
        self._measured: dict[str, pd.DataFrame] = {}

    @cached_property
    def designs(self) -> list[tuple[str, pd.DataFrame, Crossing]]:
        """Each construction's answers with their cells, and the crossing of the cells."""
        return list(crossed_designs(self.inputs))

    def measured(self, name: str) -> pd.DataFrame:
        """Return all answers with the value of a measure."""
        if name not in self._measured:
            self._measured[name] = measure_of(name).answers(self.inputs)
        return self._measured[name]


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
        Primary comparisons are corrected among themselves by Bonferroni's method, an exploratory
        one with several models for their number, interval and p alike, so that an interval excludes
        0 exactly when its p is below .05.
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
    n_primary = sum(len(judges) for part, judges in parts if part.declaration.is_primary)
    data, rows, unplanned = _Answers(inputs), [], inputs.options.comparisons
    for comparison, judges in parts:
        family = n_primary if comparison.declaration.is_primary else len(judges)
        for judge in judges:
            result = _estimate(data, comparison, judge, family)
            if isinstance(result, str):
                unanswered.append(f"{comparison.declaration.name}: {result}")
            else:
                rows.append(_describe_comparison(comparison, judge, family, unplanned) | result)
    return pd.DataFrame(rows), tuple(unanswered)


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
        return [""] if _is_own_column(inputs, SURPRISAL) else list(models) or [""]
    if not isinstance(compared, JudgeDifference):
        return [""]
    if compared.second == MODELS:
        return list(split_tied_models(inputs.data.decisions)[0])
    return [compared.second]


def _estimate(data: _Answers, comparison: PlannedComparison, judge: str, family: int) -> Row | str:
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


Estimator = Callable[[float], Row]


def _make_estimator(data: _Answers, comparison: PlannedComparison, judge: str) -> Estimator | str:
    """Return a function from an interval's level to the result, or why there is no result."""
    compared = comparison.compared
    if isinstance(compared, JudgeDifference):
        return _judge_estimator(data.inputs, comparison, compared, judge)
    measure = measure_of(comparison.measure)
    if isinstance(compared, Contrast):
        return _contrast_estimator(data, comparison, compared, measure)
    if measure is SENSITIVITY:
        return "d' is a number of many answers, so it has no slope."
    return _slope_estimator(data, comparison, compared, measure, judge)


def _contrast_estimator(
    data: _Answers, comparison: PlannedComparison, compared: Contrast, measure: Measure
) -> Estimator | str:
    parts: list[pd.DataFrame] = []
    weights: dict[str, float] = {}
    same: list[str] = []
    last, of_first = compared.differences[-1], set[str]()
    answers, named_factors = data.measured(comparison.measure), set(compared.named_factors)
    for name, rows, cross in data.designs:
        if name not in comparison.constructions or not named_factors <= set(cross.factors):
            continue
        if measure is SENSITIVITY:
            pooled_names, cross = cross.pooled(named_factors)
            rows = rows.assign(cell=rows["cell"].astype(str).map(pooled_names))
        of_cells = compared.weights(cross.factors, cross.cells)
        if not of_cells or not measure.is_compared(rows, cross):
            continue
        in_cells = measure.in_cells(answers, rows, data.inputs.run.study)
        if measure is READ:
            in_cells = _sum_regions(in_cells, comparison.declaration.regions)
            if in_cells.empty:
                continue
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
        means = answers[measure.value].astype(float).groupby(cell).mean()
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


def _sum_regions(answers: pd.DataFrame, regions: Sequence[int]) -> pd.DataFrame:
    """Return each trial's summed reading time in the comparison's regions.

    Without regions: of the critical region if it is known, or else of the whole sentence.
    """
    has_critical = RELATIVE in answers and answers[RELATIVE].notna().any()
    if regions or has_critical:
        if not has_critical:
            return answers.iloc[:0]
        regions = regions or (0,)
        answers = answers[answers[RELATIVE].isin(regions)]
    trial = ["participant", "position"]
    kept = [name for name in ("cell", "unit", "group", "also", "construction") if name in answers]
    # A sentence is complete if all regions that its version has in any trial are there.
    text = [name for name in ("item_id", "version") if name in answers]
    sums = answers.groupby(trial, sort=False, observed=True).agg(
        rt_ms=("rt_ms", "sum"),
        n_regions=("region", "size"),
        **{name: (name, "first") for name in (*kept, *text)},
    )
    by_text = sums["n_regions"].groupby([sums[name].astype(str) for name in text or ["cell"]])
    n_expected = len(regions) or by_text.transform("max")
    sums = sums[sums["n_regions"] == n_expected].reset_index()
    return sums.assign(log_rt=np.log(sums["rt_ms"].astype(float)))


def _slope_estimator(
    data: _Answers, comparison: PlannedComparison, compared: Slope, measure: Measure, judge: str
) -> Estimator | str:
    of_surprisal = compared.variable == SURPRISAL and not _is_own_column(data.inputs, SURPRISAL)
    if of_surprisal and not judge:
        return "no surprisals: name them by --surprisal (of what was read) or --scores."
    if not of_surprisal:
        answers = _answers_with_column(data, comparison, compared, measure)
    elif measure is READ:
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
    if of_surprisal and measure is READ:
        trials = answers.drop(columns="position").rename(columns={"trial": "position"})
    held = covariates_of_trials(data.inputs, trials, covariates)
    if of_surprisal and measure is READ:
        held = held.assign(**{f"word {name}": answers[name].to_numpy() for name in BASE})
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


def _is_own_column(inputs: FindingInputs, name: str) -> bool:
    return f"{PREFIX}{name}" in inputs.run.items


def _answers_with_column(
    data: _Answers, comparison: PlannedComparison, compared: Slope, measure: Measure
) -> pd.DataFrame | str:
    """Return the answers with the value of an own column of their items as ``x``."""
    items, column = data.inputs.run.items, f"{PREFIX}{compared.variable}"
    if column not in items:
        return f'the items have no column "{compared.variable}".'
    numbers = dict(zip(items["item_id"].astype(str), items[column], strict=True))
    if measure is READ:
        rows, keys = data.inputs.data.judgments, ["participant", "position"]
        rows = rows[rows["construction"].astype(str).isin(comparison.constructions)]
        read_times = data.measured(comparison.measure)
        answers = _sum_regions(
            read_times.assign(cell="", unit=read_times["unit"].astype(str)),
            comparison.declaration.regions,
        )
        read = rows[keys].assign(participant=rows["participant"].astype(str))
        answers = answers.merge(read, on=keys)
    else:
        answers = _answers_of_sentences(data, comparison)
    values = pd.to_numeric(answers["item_id"].astype(str).map(numbers), errors="coerce")
    return answers.assign(x=values)


def _answers_of_sentences(data: _Answers, comparison: PlannedComparison) -> pd.DataFrame:
    measured = data.measured(comparison.measure)
    measured = measured[measured["construction"].astype(str).isin(comparison.constructions)]
    return measured.assign(unit=measured["frame"].astype(str))


def _words_with_surprisal(
    inputs: FindingInputs, comparison: PlannedComparison, model: str
) -> pd.DataFrame:
    """Return the words read in the comparison's regions, with a model's surprisal as ``x``."""
    words = dict(times_with_surprisal(inputs))[model]
    words = words[words["construction"].astype(str).isin(comparison.constructions)]
    if regions := comparison.declaration.regions:
        words = words[words[RELATIVE].isin(regions)]
    return words.assign(x=words[BITS]).reset_index(drop=True)


def _answers_with_surprisal(
    data: _Answers, comparison: PlannedComparison, model: str
) -> pd.DataFrame | str:
    """Return the answers to single sentences, with a model's surprisal of the sentence as ``x``."""
    if comparison.measure == "accuracy" or comparison.measure.startswith(SHARE_OF):
        return "a choice is between several versions, so it has no surprisal of its own."
    [scores] = [one for one in data.inputs.as_read if one.facts.model == model]
    versions = zip(
        scores.frame["item_id"].astype(str), scores.frame["variant"].astype(str), strict=True
    )
    bits = dict(zip(versions, -scores.frame["logprob_nats"] / np.log(2), strict=True))
    answers = _answers_of_sentences(data, comparison)
    shown = zip(answers["item_id"].astype(str), answers["version"].astype(str), strict=True)
    return answers.assign(x=[bits.get(version, np.nan) for version in shown])


def _judge_estimator(
    inputs: FindingInputs, comparison: PlannedComparison, compared: JudgeDifference, judge: str
) -> Estimator | str:
    if comparison.measure != "accuracy":
        return (
            "people and models are compared by accuracy, in choices between versions; of other "
            "answers the report has correlations."
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
