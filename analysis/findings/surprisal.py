"""Reading times and surprisal: the slope, held-out prediction, and the shape of the relation.

The shape is a smooth, compared with a straight line.
"""

from collections.abc import Mapping
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.data.scored_readings import BITS, BITS_BEFORE, ScoredReadings, count_words
from analysis.data.word_predictors import KEYS
from analysis.figures.designs import shapes_figure
from analysis.figures.drawing import Drawing
from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.statistics.reading_regression import (
    N_KNOTS,
    Slope,
    Smooth,
    delta_loglik,
    delta_smooth,
    fit_smooth,
    slope,
)
from analysis.statistics.resample import Floats, codes
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

BASELINE = ("length", "prev1_length", "position")
_FEWEST_UNITS, _FEWEST_HELD_OUT = 4, 20


def scale_to_thousand_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of models with their log-likelihood gain in nats per 1000 words."""
    parts = {"gain": "loglik", "gain_low": "low", "gain_high": "high"}
    gains = {name: 1000 * table[f"delta_{of}"] for name, of in parts.items()}
    return table.assign(label=table["model"], **gains)


def _run(inputs: FindingInputs) -> Findings:
    rows, left_out = [], []
    scored, words = inputs.scored_readings, dict[str, pd.DataFrame]()
    for model, joined in scored.by_model.items():
        n_units, n_words = joined["unit"].nunique(), count_words(joined[KEYS])
        if n_units < _FEWEST_UNITS or n_words < _FEWEST_HELD_OUT:
            left_out.append(
                f"Surprisal of {model} was left out: {n_words} words in {n_units} frames are too "
                f"few. {scored.note}".rstrip()
            )
            continue
        if joined[BITS].nunique() == 1:
            left_out.append(f"Surprisal of {model} was left out: all words have the same.")
            continue
        words[model] = _average_by_word(joined)
        rows.append({"model": model, **_surprisal_effect(joined, words[model])})
    if not rows:
        return Findings(left_out=tuple(left_out))
    table, pairs = pd.DataFrame(rows), _compare_gains(words)
    tables: tuple[Table, ...] = (_times_table(table, scored, inputs),)
    statistics = {"surprisal_times": table}
    if len(pairs):
        tables += (_pairs_table(pairs, inputs),)
        statistics["surprisal_gains"] = pairs
    return Findings(tables, statistics, tuple(left_out))


def _times_table(table: pd.DataFrame, scored: ScoredReadings, inputs: FindingInputs) -> Table:
    added = (
        "the surprisals of the word and of the one before"
        if scored.with_word_before
        else "the word's surprisal"
    )
    return inputs.context.table(
        "surprisal_times",
        "Surprisal and reading times",
        f"The slowdown of a word per bit of surprisal, and the gain by {added} in the "
        "log-likelihood of held-out words' mean times.",
        scale_to_thousand_words(table),
        (
            Column("label", "", "text"),
            Column("percent", "Per cent per bit", "estimate"),
            Column("gain", "Nats per 1000 words", "estimate"),
            Column("n_words", "Words", "count"),
            Column("n_readings", "Readings", "count"),
        ),
        (
            "The slope: regression of log reading times on length, the length of the word before, "
            "position, and surprisal; 95% interval clustered by participant and by frame. Held "
            "out: ten folds of frames (Goodkind & Bicknell, 2018; Wilcox et al., 2023), words' "
            f"means over participants, the same predictors with and without {added}. A sentence's "
            "first word is left out.",
            *filter(None, [scored.note]),
        ),
        Section.READING,
    )


def _compare_gains(words: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return each difference between two gains: model, than, delta_loglik, its ends, n_words.

    Both gains are over the same regression without surprisals, so that their difference is the gain
    of one regression with surprisals over the other.

    Args:
        words: By model: the words, which are the same for all, with its surprisals.
    """
    rows = []
    for (model, of_model), (than, of_other) in combinations(words.items(), 2):
        gained = _gain(of_model, _predictors_of(of_other), _predictors_of(of_model))
        rows.append({"model": model, "than": than, **_gain_columns(gained, of_model)})
    return pd.DataFrame(rows)


def _pairs_table(pairs: pd.DataFrame, inputs: FindingInputs) -> Table:
    scaled = scale_to_thousand_words(pairs)
    return inputs.context.table(
        "surprisal_gains",
        "Differences between the gains of surprisals",
        "By how much the gain of one table exceeds that of another, for the same held-out words.",
        scaled.assign(label=scaled["model"] + " minus " + scaled["than"]),
        (
            Column("label", "", "text"),
            Column("gain", "Nats per 1000 words", "estimate"),
            Column("n_words", "Words", "count"),
        ),
        (
            "Paired: the mean over words of the difference between their two log-likelihoods, with "
            "a 95% interval clustered by frame, for these participants. The intervals are not "
            "corrected for the number of pairs.",
        ),
        Section.READING,
    )


def _surprisal_effect(joined: pd.DataFrame, words: pd.DataFrame) -> Mapping[str, float]:
    y = joined["log_rt"].to_numpy(dtype=float)
    base = add_intercept(joined, BASELINE)
    person, unit = (codes(joined[name].astype(str))[0] for name in ("participant", "unit"))
    effect = slope(y, np.column_stack([base, joined[BITS]]), [person, unit])
    gained = _gain(words, add_intercept(words, BASELINE), _predictors_of(words))
    percent = {
        "percent": effect.estimate, "percent_low": effect.low, "percent_high": effect.high
    }  # fmt: skip
    return {
        **{name: 100 * float(np.expm1(value)) for name, value in percent.items()},
        **_gain_columns(gained, words),
        "n_readings": float(len(joined)),
    }


def _predictors_of(words: pd.DataFrame) -> Floats:
    """Return the predictors of words, surprisals last: shape ``(words, 1 + predictors)``."""
    surprisals = [name for name in (BITS, BITS_BEFORE) if name in words]
    return add_intercept(words, (*BASELINE, *surprisals))


def _gain(words: pd.DataFrame, base: Floats, other: Floats) -> Slope:
    unit = codes(words["unit"].astype(str))[0]
    return delta_loglik(words["log_rt"].to_numpy(dtype=float), base, other, unit)


def _average_by_word(joined: pd.DataFrame) -> pd.DataFrame:
    """Return one row per word: its mean log time over participants, predictors and unit."""
    names = (*BASELINE[:2], BITS, BITS_BEFORE, "unit")
    firsts = {name: (name, "first") for name in names if name in joined}
    return joined.groupby(KEYS, sort=True).agg(log_rt=("log_rt", "mean"), **firsts).reset_index()


def _gain_columns(gained: Slope, words: pd.DataFrame) -> dict[str, float]:
    """Return a held-out gain in nats per word, and the number of words, by the table's columns."""
    return {
        "delta_loglik": gained.estimate,
        "delta_low": gained.low,
        "delta_high": gained.high,
        "n_words": float(len(words)),
    }


def add_intercept(frame: pd.DataFrame, names: tuple[str, ...]) -> Floats:
    """Return the columns as predictors of shape ``(rows, 1 + names)``, the intercept first."""
    return np.column_stack([np.ones(len(frame)), frame[list(names)].to_numpy(dtype=float)])


SURPRISAL_TIMES = Finding(
    "surprisal_times",
    Section.READING,
    _run,
    needs=(Need.SURPRISAL,),
)


# With fewer words, a fold's smooth would overfit single words.
_FEWEST_WORDS, _POINTS = 40, 60
# The report prints a note that two tables have once, far from both.
_SAME_WORDS = 'All rows are about the words of the table "Surprisal and reading times".'


def _run_shape(inputs: FindingInputs) -> Findings:
    rows, curves, left_out = [], list[pd.DataFrame](), []
    scored = inputs.scored_readings
    before = (BITS_BEFORE,) if scored.with_word_before else ()
    for model, joined in scored.by_model.items():
        words = _average_by_word(joined)
        x, unit = words[BITS].to_numpy(float), codes(words["unit"].astype(str))[0]
        if len(words) < _FEWEST_WORDS or len(np.unique(x)) < 2 * N_KNOTS or unit.max() < 1:
            left_out.append(
                f"The smooth of {model}'s surprisal was left out: {len(words)} words are too few."
            )
            continue
        y, linear = words["log_rt"].to_numpy(float), add_intercept(words, (*BASELINE, *before))
        smooth = fit_smooth(y, linear, x)
        gained = delta_smooth(y, linear, x, unit)
        rows.append({"model": model, "edf": smooth.edf, **_gain_columns(gained, words)})
        curves.append(_make_curve_rows(model, smooth, x))
    if not rows:
        return Findings(left_out=tuple(left_out))
    table, curve_rows = pd.DataFrame(rows), pd.concat(curves, ignore_index=True)
    report_table = inputs.context.table(
        "surprisal_shape",
        "The shape of surprisal's effect",
        "Effective degrees of freedom of a smooth of surprisal (1 is a straight line), and how "
        "much it improves the log-likelihood of held-out words over a straight line.",
        scale_to_thousand_words(table),
        (
            Column("label", "", "text"),
            Column("edf", "Degrees of freedom", "number"),
            Column("gain", "Nats per 1000 words", "estimate"),
            Column("n_words", "Words", "count"),
        ),
        (
            "Words' mean log times by length, the length of the word before, position, "
            + ("the surprisal of the word before, " if before else "")
            + f"and a cubic regression spline ({N_KNOTS} knots) of the word's own surprisal, "
            "penalised by restricted maximum likelihood (Wood, 2011), as R's mgcv fits it. Ten "
            "folds of frames. Below zero, the line predicts better.",
            *([_SAME_WORDS] if scored.note else []),
        ),
        Section.READING,
    )
    drawing = Drawing(
        "surprisal_shape",
        "Reading times by surprisal",
        "Log reading time by surprisal around its mean: a smooth with its pointwise 95% band.",
        Section.READING,
        partial(shapes_figure, curve_rows, simulated=inputs.context.origin.simulated),
    )
    statistics = {"surprisal_shape": table, "surprisal_curves": curve_rows}
    return Findings((report_table,), statistics, tuple(left_out), drawings=(drawing,))


def _make_curve_rows(model: str, smooth: Smooth, x: Floats) -> pd.DataFrame:
    at = np.linspace(float(x.min()), float(x.max()), _POINTS)
    middle, low, high = smooth.curve(at)
    return pd.DataFrame(
        {"model": model, "surprisal_bits": at, "log_rt": middle, "low": low, "high": high}
    )


SURPRISAL_SHAPE = Finding(
    "surprisal_shape",
    Section.READING,
    _run_shape,
    needs=(Need.SURPRISAL,),
)
