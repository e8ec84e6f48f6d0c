"""The mixed models of a design: choices, ratings, yes or no, and reading times.

All have slopes of all factors by participant and by frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from analysis.data.own_columns import PREFIX
from analysis.data.scales import is_slider, rating_ends, write_ends
from analysis.findings.contrasts import fixed_columns
from analysis.findings.design import Crossing, crossed_designs
from analysis.findings.design_scripts import Fitted, write_scripts
from analysis.findings.effects import compared_designs
from analysis.findings.finding import (
    Context,
    Finding,
    FindingInputs,
    Findings,
    full_titles,
    titles_of,
)
from analysis.findings.measures import READING
from analysis.statistics.clustered import FEWEST_CLUSTERS
from analysis.statistics.crossed import CrossedModel, fit_by_rule
from analysis.statistics.laplace import RandomTerm
from analysis.statistics.linear_mixed import LinearMixedModel, fit_linear_by_rule
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.studies.analysis_plan import TRIAL_ORDER
from experiment.studies.study import Study

MOST_CORRELATED = 4
_MOST, _LOOKED_AT = 0.5, 100


def repeated_units(rows: pd.DataFrame, study: Study) -> Iterator[tuple[str, str]]:
    """Yield each repeated unit and its column: participants, frames, and further units."""
    yield from (("participant", "participant"), ("frame", "unit"))
    if (column := f"{PREFIX}{study.analysis.repeats}") in rows:
        yield study.analysis.repeats, column


def covariate_columns(rows: pd.DataFrame, names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the covariates' columns: standardised numbers, or levels."""
    for name in names:
        column = "position" if name == TRIAL_ORDER else f"{PREFIX}{name}"
        if column not in rows or rows[column].nunique() < 2:
            continue
        values = rows[column]
        if pd.api.types.is_numeric_dtype(values):
            filled_values = values.fillna(values.mean())
            yield pd.DataFrame({name: (filled_values - filled_values.mean()) / filled_values.std()})
        else:
            levels = pd.get_dummies(values.astype(str), prefix=name, drop_first=True, dtype=float)
            yield levels - levels.mean()


def covariates_of_trials(
    inputs: FindingInputs, rows: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Return the covariates of answers, by their trials: numbers, or a column for each level."""
    keys, judgments = ["participant", "position"], inputs.data.judgments
    columns = [f"{PREFIX}{name}" for name in names if f"{PREFIX}{name}" in judgments]
    trials = judgments[[*keys, *columns]].astype({"participant": str})
    of_rows = rows[keys].astype({"participant": str}).merge(trials, "left", on=keys)
    return pd.concat(
        [pd.DataFrame(index=of_rows.index), *covariate_columns(of_rows, names)], axis=1
    )


def random_term(unit: str, values: pd.Series, effects: pd.DataFrame) -> RandomTerm:
    """Return an intercept and the slopes of all effects that vary within a level of the unit.

    Within a participant, who has one group only, the slopes of a factor and of its interaction with
    the group are the same: the later one is left out.
    """
    level = codes(values)[0]
    n_levels = min(int(level.max()) + 1, _LOOKED_AT)
    rows_of_level = [np.flatnonzero(level == number) for number in range(n_levels)]
    columns, names = np.ones((len(level), 1)), ["1"]
    for name in effects:
        tried_columns = np.column_stack([columns, effects[name].to_numpy()])
        is_estimable = [
            np.linalg.matrix_rank(tried_columns[rows]) == tried_columns.shape[1]
            for rows in rows_of_level
        ]
        if np.mean(is_estimable) > _MOST:
            columns, names = tried_columns, [*names, str(name)]
    return RandomTerm(unit, level, tuple(names), columns, correlated=len(names) <= MOST_CORRELATED)


# Each step inverts a matrix the size of all random effects.
_MOST_ROWS, _MOST_EFFECTS = 20_000, 1_200


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers to fit, and their table's wording; ``always`` fits any crossed cells."""

    key: str
    value: str
    words: str
    section: Section
    kind: str = "Mixed model of the design"
    always: bool = True


_CHOICES = _Answers("design_model", "chose_good", "Logistic regression of people's choices",
                    Section.MIXED_MODEL, always=False)  # fmt: skip
_RATINGS = _Answers("rating_model", "rating", "Ordinal logistic regression of people's ratings",
                    Section.RATINGS, "Cumulative-link mixed model")  # fmt: skip
_YES = _Answers("yes_no_model", "said_yes", "Logistic regression of people's answers yes",
                Section.ANSWERS)  # fmt: skip


def _run(inputs: FindingInputs, answers: _Answers) -> Findings:
    if answers is _RATINGS and is_slider(inputs.run):
        ends = write_ends(rating_ends(inputs.run))
        return Findings(
            left_out=(
                "The cumulative-link model of the ratings is left out: it is of the points of a "
                f"scale, and these ratings are numbers from {ends}.",
            )
        )
    fitted: dict[str, Fitted] = {}
    left_out = []
    titles = titles_of(inputs.run.study)
    for name, rows, cross in crossed_designs(inputs):
        if not answers.always and not cross.has_factors:
            continue
        if reason := _reason_not_to_fit(rows, cross, answers.value):
            left_out.append(
                f"The mixed model of the design of {titles.get(name, name)} was left out: {reason}."
            )
        else:
            fitted[name] = _fit(rows, cross, inputs.run.study, answers.value)
    if not fitted:
        return Findings(left_out=tuple(left_out))
    coefficients = pd.concat(
        [fit.model.coefficients.assign(construction=name) for name, fit in fitted.items()]
    )
    random = pd.concat([fit.model.random.assign(construction=name) for name, fit in fitted.items()])
    table = _make_table(answers, coefficients, fitted, inputs.context)
    statistics = {
        answers.key: coefficients.reset_index(drop=True),
        f"{answers.key}_random": random.reset_index(drop=True),
    }
    folders = {answers.key: partial(write_scripts, fitted=fitted)}
    return Findings((table,), statistics, tuple(left_out), folders=folders)


def _reason_not_to_fit(rows: pd.DataFrame, cross: Crossing, value: str) -> str:
    n_people, n_units = rows["participant"].nunique(), rows["unit"].nunique()
    if min(n_people, n_units) < FEWEST_CLUSTERS:
        return f"fewer than {FEWEST_CLUSTERS} participants or frames are too few"
    by_cell = rows.groupby(rows["cell"].astype(str))[value].nunique()
    if cross.empty:
        return f"no judgments are left in the cell {', '.join(cross.empty[0])}"
    if (by_cell == 1).any():
        return "all judgments of a cell are the same, so its effect has no finite estimate"
    effects = (n_people + n_units) * min(len(cross.cells), MOST_CORRELATED)
    if len(rows) > _MOST_ROWS or effects > _MOST_EFFECTS:
        return f"{len(rows):,} judgments with {effects:,} random effects would take too long"
    return ""


def _fit(rows: pd.DataFrame, cross: Crossing, study: Study, value: str) -> Fitted:
    effects = fixed_columns(rows["cell"], cross, study.analysis)
    fixed = pd.concat([effects, *covariate_columns(rows, study.analysis.covariates)], axis=1)
    terms = [
        random_term(unit, rows[column], effects) for unit, column in repeated_units(rows, study)
    ]
    model, left_out = fit_by_rule(rows[value].to_numpy(), fixed, terms)
    units = pd.DataFrame(
        {unit: rows[column].astype(str) for unit, column in repeated_units(rows, study)}
    )
    return Fitted(model, left_out, rows[value].astype(int), fixed, units)


def _spread_in_words(model: CrossedModel | LinearMixedModel) -> str:
    parts = []
    for unit, rows in model.random.groupby("unit", sort=False):
        spread = ", ".join(
            f"{'intercept' if effect == '1' else effect} {sd:.2f}"
            for effect, sd in zip(rows["effect"], rows["sd"], strict=True)
        )
        has_correlation = rows["correlation"].notna().any()
        parts.append(f"{unit} ({'correlated' if has_correlation else 'not correlated'}): {spread}")
    return "; ".join(parts)


def _make_table(
    answers: _Answers, coefficients: pd.DataFrame, fitted: dict[str, Fitted], context: Context
) -> Table:
    rows = context.by_construction(coefficients)
    titles = full_titles(rows)
    return context.table(
        answers.key,
        answers.kind,
        f"{answers.words}, as R's {'ordinal' if answers is _RATINGS else 'lme4'} fits it: "
        "effects + (1 + effects | participant) + (1 + effects | frame).",
        rows.assign(group=titles, label=rows["term"]),
        (
            Column("label", "", "text"),
            Column("estimate", "Logits", "estimate"),
            Column("std_error", "SE", "number"),
            Column("z", "z", "signed"),
            Column("p", "p", "p"),
        ),
        (*_make_notes(fitted, context), _SLOPES_NOTE),
        answers.section,
    )


_SLOPES_NOTE = (
    "Random slopes: every effect that varies within most participants, or within most frames. If a "
    "fit is singular (a variance of zero, or a perfect correlation), all correlations are removed "
    "first, then the slopes with zero variance; intercepts stay. With more than four effects of a "
    "unit, no correlations are estimated. Laplace's approximation; intervals and p: Wald."
)


def _make_notes(fitted: dict[str, Fitted], context: Context) -> Sequence[str]:
    titles = titles_of(context.study)
    notes = []
    for name, fit in fitted.items():
        model = fit.model
        reduction_note = f" {fit.left_out[0].upper()}{fit.left_out[1:]}." if fit.left_out else ""
        singular = " The fit is still singular." if model.singular else ""
        notes.append(
            f"{titles.get(name, name)}: {model.n_rows:,} judgments, log-likelihood "
            f"{model.loglik:.1f}; standard deviations in logits: {_spread_in_words(model)}."
            f"{reduction_note}{singular}"
        )
    return notes


DESIGN_MODEL = Finding(
    "design_model", Section.MIXED_MODEL, partial(_run, answers=_CHOICES), slow=True
)
RATING_MODEL, YES_NO_MODEL = (
    Finding(answers.key, answers.section, partial(_run, answers=answers), slow=True)
    for answers in (_RATINGS, _YES)
)


def _run_reading(inputs: FindingInputs) -> Findings:
    fitted: dict[tuple[str, int], Fitted] = {}
    left_out: list[tuple[str, object]] = []
    for design in compared_designs(READING, inputs, READING.answers(inputs)):
        name, cross = design.construction, design.cross
        for region, rows in design.answers.groupby("region", sort=True):
            clusters = [rows[unit].nunique() for unit in ("participant", "unit")]
            is_complete = rows["cell"].astype(str).nunique() == len(cross.cells)
            if min(clusters) < FEWEST_CLUSTERS or not is_complete:
                left_out.append((name, region))
                continue
            if len(rows) > _MOST_ROWS or sum(clusters) * len(cross.cells) > _MOST_EFFECTS:
                left_out.append((name, region))
                continue
            fitted[name, int(str(region))] = _fit_times(rows, cross, inputs)
    omissions = (_reading_left_out(left_out),) if left_out else ()
    if not fitted:
        return Findings(left_out=omissions)
    coefficients = pd.concat(
        [
            fit.model.coefficients.assign(construction=name, region=region)
            for (name, region), fit in fitted.items()
        ],
        ignore_index=True,
    )
    by_file = {
        f"{name} region {'minus ' if region < 0 else ''}{abs(region)}": fit
        for (name, region), fit in fitted.items()
    }
    return Findings(
        (_reading_table(coefficients, fitted, inputs.context),),
        {"reading_model": coefficients},
        omissions,
        folders={"reading_model": partial(write_scripts, fitted=by_file)},
    )


def _fit_times(rows: pd.DataFrame, cross: Crossing, inputs: FindingInputs) -> Fitted:
    effects = fixed_columns(rows["cell"], cross, inputs.run.study.analysis)
    units = {"participant": "participant", "frame": "unit"}
    terms = [random_term(unit, rows[column], effects) for unit, column in units.items()]
    names = inputs.run.study.analysis.covariates
    covariates = covariates_of_trials(inputs, rows, names).set_axis(rows.index)
    fixed = pd.concat([effects, covariates], axis=1)
    model = fit_linear_by_rule(rows["log_rt"].to_numpy(dtype=float), fixed, terms)
    texts = {unit: rows[column].astype(str) for unit, column in units.items()}
    return Fitted(model, model.left_out, rows["log_rt"], fixed, pd.DataFrame(texts))


def _reading_left_out(left_out: list[tuple[str, object]]) -> str:
    names = ", ".join(f"{name} {region}" for name, region in left_out)
    return (
        f"The mixed model of reading times was left out for the regions {names}: fewer than "
        f"{FEWEST_CLUSTERS} participants or frames, a cell without times, or too many times to fit."
    )


def _reading_table(
    coefficients: pd.DataFrame, fitted: Mapping[tuple[str, int], Fitted], context: Context
) -> Table:
    rows = context.by_construction(coefficients)
    titles = full_titles(rows)
    label = "Region " + rows["region"].astype(str) + ": " + rows["term"].astype(str)
    notes = [
        f"{name}, region {region}: "
        + (f"the full model is singular, so {fit.left_out} were left out." if fit.left_out else "")
        + (" The fit is still singular." if fit.model.singular else "")
        for (name, region), fit in fitted.items()
        if fit.left_out or fit.model.singular
    ]
    return context.table(
        "reading_model",
        "Mixed model of reading times",
        "Linear regression of the logarithm of each region's reading time, by REML as R's lme4 "
        "fits it: effects + (1 + effects | participant) + (1 + effects | frame).",
        rows.assign(group=titles, label=label),
        (
            Column("label", "", "text"),
            Column("estimate", "log ms", "estimate"),
            Column("std_error", "SE", "number"),
            Column("t", "t", "signed"),
            Column("p", "p", "p"),
        ),
        (*notes, "Intervals and p: Wald, normal."),
        Section.READING,
    )


READING_MODEL = Finding("reading_model", Section.READING, _run_reading, slow=True)
