"""Whether reading times rise with surprisal along a line: a smooth beside it, and held out."""

from functools import partial

import numpy as np
import pandas as pd

from analysis.data.word_predictors import KEYS
from analysis.figures.drawing import Drawing
from analysis.figures.reading import shapes_figure
from analysis.findings.finding import Finding, Given, Need
from analysis.findings.findings import Findings
from analysis.findings.surprisal_times import (
    BASE,
    VALUE,
    by_thousand_words,
    joined_readings,
    with_intercept,
)
from analysis.statistics.held_out import delta_smooth
from analysis.statistics.resample import Floats, codes
from analysis.statistics.smooth import KNOTS, Smooth, fit_smooth
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_LINEAR = (*BASE, f"prev1_{VALUE}")
# With fewer, a fold's smooth follows single words.
_FEWEST_WORDS, _POINTS = 40, 60


def _run(given: Given) -> Findings:
    rows, curves, left_out = [], list[pd.DataFrame](), []
    for model, joined in joined_readings(given):
        words = _words(joined)
        x, unit = words[VALUE].to_numpy(float), codes(words["unit"].astype(str))[0]
        if len(words) < _FEWEST_WORDS or len(np.unique(x)) < 2 * KNOTS or unit.max() < 1:
            left_out.append(
                f"The smooth of {model}'s surprisal was left out: {len(words)} words are too few."
            )
            continue
        y, linear = words["log_rt"].to_numpy(float), with_intercept(words, _LINEAR)
        found = fit_smooth(y, linear, x)
        gained = delta_smooth(y, linear, x, unit)
        rows.append(
            {
                "model": model,
                "edf": found.edf,
                "delta_loglik": gained.estimate,
                "delta_low": gained.low,
                "delta_high": gained.high,
                "n_words": float(len(words)),
            }
        )
        curves.append(_curve(model, found, x))
    if not rows:
        return Findings(left_out=tuple(left_out))
    table, drawn = pd.DataFrame(rows), pd.concat(curves, ignore_index=True)
    shown = given.context.table(
        "surprisal_shape",
        "The shape of surprisal's effect",
        "Effective degrees of freedom of a smooth of surprisal (1 is a straight line), and by how "
        "much it raises the log-likelihood of words that were held out above a straight line.",
        by_thousand_words(table),
        (
            Column("label", "", "text"),
            Column("edf", "Degrees of freedom", "number"),
            Column("gain", "Nats per 1000 words", "estimate"),
            Column("n_words", "Words", "count"),
        ),
        (
            "Words' mean log times by length, the length of the word before, position, the "
            f"surprisal of the word before, and a cubic regression spline of {KNOTS} knots of the "
            "word's own surprisal, penalised by restricted maximum likelihood (Wood, 2011), as R's "
            "mgcv fits it. Ten folds of frames. Below nought, the line predicts better.",
        ),
        Section.READING,
    )
    drawing = Drawing(
        "surprisal_shape",
        "Reading times by surprisal",
        "Log reading time by surprisal around its mean: a smooth with its pointwise 95% band.",
        Section.READING,
        partial(shapes_figure, drawn, simulated=given.context.origin.simulated),
    )
    statistics = {"surprisal_shape": table, "surprisal_curves": drawn}
    return Findings((shown,), statistics, tuple(left_out), drawings=(drawing,))


def _words(joined: pd.DataFrame) -> pd.DataFrame:
    first = {name: (name, "first") for name in (*BASE[:2], VALUE, f"prev1_{VALUE}", "unit")}
    return joined.groupby(KEYS, sort=True).agg(log_rt=("log_rt", "mean"), **first).reset_index()


def _curve(model: str, found: Smooth, x: Floats) -> pd.DataFrame:
    at = np.linspace(float(x.min()), float(x.max()), _POINTS)
    middle, low, high = found.curve(at)
    return pd.DataFrame(
        {"model": model, "surprisal_bits": at, "log_rt": middle, "low": low, "high": high}
    )


SURPRISAL_SHAPE = Finding(
    "surprisal_shape",
    Section.READING,
    _run,
    needs=(Need.SURPRISAL,),
    of=("self_paced", "maze"),
)
