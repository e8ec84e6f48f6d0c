"""Reading times and surprisal: the slope, held-out prediction, and the shape of the relation.

The shape is a smooth, compared with a straight line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from analysis.data.readings import select_readings
from analysis.data.word_predictors import KEYS, add_predictors, normalise_word
from analysis.errors import AnalysisError
from analysis.figures.designs import shapes_figure
from analysis.figures.drawing import Drawing
from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.findings.measures import keep_right_words
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
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

BITS = "surprisal_bits"
_BITS_BEFORE = f"prev1_{BITS}"
BASELINE = ("length", "prev1_length", "position")
_FEWEST_UNITS, _FEWEST_HELD_OUT = 4, 20


@dataclass(frozen=True, slots=True)
class ScoredReadings:
    """Reading times with the surprisals of several models, all of the same words.

    Attributes:
        by_model: The readings with each model's surprisals and the other predictors. The surprisal
            of the word before is missing if not every table has it for all of these words.
        note: On how many words the models are compared, if a table lacks some; else empty.
    """

    by_model: Mapping[str, pd.DataFrame]
    note: str = ""

    @property
    def with_word_before(self) -> bool:
        """Whether the surprisal of the word before is a predictor."""
        return all(_BITS_BEFORE in frame for frame in self.by_model.values())


def text_ids(frame: pd.DataFrame) -> "pd.Series[str]":
    """Return the text ids of the surprisal tables: item and version."""
    return frame["item_id"].astype(str) + ":" + frame["version"].astype(str)


def times_with_surprisal(inputs: FindingInputs) -> ScoredReadings:
    """Return the readings of the words of which every table has a surprisal.

    ``position`` is the word's, and ``trial`` the trial's place in the session.

    Raises:
        AnalysisError: A table lacks a word that was read, or has another word in its place.
    """
    times = select_readings(inputs.run, inputs.data.judgments)
    frame = keep_right_words(times.frame)
    frame = frame.assign(
        text_id=text_ids(frame), read=frame["text"].astype(str), trial=frame["position"]
    )
    frame = frame.drop(columns=["position", "text"]).rename(columns={"step": "position"})
    return _keep_same_words(
        {
            model: _join_surprisals(frame, surprisal, model)
            for model, surprisal in inputs.options.surprisal.items()
        }
    )


def _keep_same_words(joined: Mapping[str, pd.DataFrame]) -> ScoredReadings:
    """Keep the readings of words that every table scores, without sentences' first words."""
    if not joined:
        return ScoredReadings({})
    is_later = ~np.logical_or.reduce([frame["is_first"].astype(bool) for frame in joined.values()])
    has_bits = {model: is_later & frame[BITS].notna() for model, frame in joined.items()}
    is_kept = np.logical_and.reduce([*has_bits.values()])
    kept = {model: frame[is_kept].reset_index(drop=True) for model, frame in joined.items()}
    lacks_before = any(frame[_BITS_BEFORE].isna().any() for frame in kept.values())
    if is_kept.sum() == is_later.sum() and not lacks_before:
        return ScoredReadings(kept)
    words = next(iter(joined.values()))[KEYS]
    n_words = {model: _count_words(words[has]) for model, has in has_bits.items()}
    note = (
        f"All rows are about the same {_count_words(words[is_kept]):,} of "
        f"{_count_words(words[is_later]):,} words, those of which every table has a surprisal ("
        + ", ".join(f"{model}: {n:,}" for model, n in n_words.items())
        + ")."
    )
    if lacks_before:
        kept = {model: frame.drop(columns=_BITS_BEFORE) for model, frame in kept.items()}
        note += (
            " The surprisal of the word before is no predictor, because not every table has it for "
            "all of these words."
        )
    return ScoredReadings(kept, note)


def _count_words(words: pd.DataFrame) -> int:
    return len(words.drop_duplicates())


def scale_to_thousand_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of models with their log-likelihood gain in nats per 1000 words."""
    parts = {"gain": "loglik", "gain_low": "low", "gain_high": "high"}
    gains = {name: 1000 * table[f"delta_{of}"] for name, of in parts.items()}
    return table.assign(label=table["model"], **gains)


def _run(inputs: FindingInputs) -> Findings:
    rows, left_out = [], []
    scored = times_with_surprisal(inputs)
    for model, joined in scored.by_model.items():
        n_units, n_words = joined["unit"].nunique(), _count_words(joined[KEYS])
        if n_units < _FEWEST_UNITS or n_words < _FEWEST_HELD_OUT:
            left_out.append(
                f"Surprisal of {model} was left out: {n_words} words in {n_units} frames are too "
                f"few. {scored.note}".rstrip()
            )
            continue
        if joined[BITS].nunique() == 1:
            left_out.append(f"Surprisal of {model} was left out: all words have the same.")
            continue
        rows.append({"model": model, **_surprisal_effect(joined)})
    table = pd.DataFrame(rows)
    if table.empty:
        return Findings(left_out=tuple(left_out))
    added = (
        "the surprisals of the word and of the one before"
        if scored.with_word_before
        else "the word's surprisal"
    )
    report_table = inputs.context.table(
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
    return Findings((report_table,), {"surprisal_times": table}, tuple(left_out))


def _join_surprisals(frame: pd.DataFrame, surprisal: pd.DataFrame, model: str) -> pd.DataFrame:
    """Join readings with predictors, checking that each word is the scored word.

    Raises:
        AnalysisError: A word has no row in the table, or differs from the word there.
    """
    predictors = add_predictors(surprisal, [BITS], 1).rename(columns={"text": "scored"})
    joined = frame.merge(predictors, "left", on=KEYS, validate="m:1")
    location = joined["text_id"].astype(str) + ", step " + joined["position"].astype(str)
    if (unscored := joined["scored"].isna()).any():
        raise _make_mismatch_error(
            f"{int(unscored.sum()):,} reading times have no surprisal; the first: "
            f"{location[unscored].iloc[0]}",
            model,
            "the items of the run, divided into the same steps",
        )
    differs = joined["read"].map(normalise_word) != joined["scored"].map(normalise_word)
    if differs.any():
        read, scored = joined.loc[differs, ["read", "scored"]].iloc[0]
        raise _make_mismatch_error(
            f'"{read}" was read and "{scored}" was scored: {location[differs].iloc[0]}',
            model,
            "the words that were read",
        )
    return joined


def _make_mismatch_error(problem: str, model: str, expected: str) -> AnalysisError:
    return AnalysisError(
        problem,
        where=f"the surprisals of {model}",
        expected=expected,
        remedy="Score them with `parallax reading surprisal MODEL EXPORT`",
    )


def _surprisal_effect(joined: pd.DataFrame) -> Mapping[str, float]:
    y = joined["log_rt"].to_numpy(dtype=float)
    base = add_intercept(joined, BASELINE)
    person, unit = (codes(joined[name].astype(str))[0] for name in ("participant", "unit"))
    effect = slope(y, np.column_stack([base, joined[BITS]]), [person, unit])
    words = _average_by_word(joined)
    surprisals = words[[name for name in (BITS, _BITS_BEFORE) if name in words]].to_numpy(float)
    gained = delta_loglik(
        words["log_rt"].to_numpy(dtype=float), add_intercept(words, BASELINE), surprisals,
        codes(words["unit"].astype(str))[0],
    )  # fmt: skip
    percent = {
        "percent": effect.estimate, "percent_low": effect.low, "percent_high": effect.high
    }  # fmt: skip
    return {
        **{name: 100 * float(np.expm1(value)) for name, value in percent.items()},
        **_gain_columns(gained, words),
        "n_readings": float(len(joined)),
    }


def _average_by_word(joined: pd.DataFrame) -> pd.DataFrame:
    """Return one row per word: its mean log time over participants, predictors and unit."""
    names = (*BASELINE[:2], BITS, _BITS_BEFORE, "unit")
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
    scored = times_with_surprisal(inputs)
    before = (_BITS_BEFORE,) if scored.with_word_before else ()
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
