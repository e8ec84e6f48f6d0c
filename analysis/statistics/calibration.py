"""Calibration of participants' preferences on log-probabilities, and MORCELA's fitted link."""

import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning
from statsmodels.tools.tools import add_constant

from analysis.data.categorical import find_codes
from analysis.data.declared import clustering_column
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.clustered import jackknife_variance, student_quantile
from analysis.statistics.links import FEWEST_TEXTS, Curve, assign_folds, predict_by_fold
from analysis.statistics.resample import Floats, codes

N_BINS = 10
# A line fits any two items perfectly, so its error cannot be estimated.
_FEWEST_ITEMS = 3


def calibration(items: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Fit ``logit P(person chooses the expected version) = a + b d`` over judgments.

    ``d`` is the model's log-probability difference in nats. A model whose relative probabilities
    equal participants' would have ``a = 0`` and ``b = 1``; ``b`` near 0 means that the size of the
    difference is not informative. Fitted by maximum likelihood; the standard errors are the two-way
    jackknife's over participants and items (``clustered.jackknife_variance``), the quantile
    Student's.

    Args:
        items: One row per item, from ``agreement.with_model_scores``.
        judgments: One row per judgment of these items, from ``analysis.data.join.judgments``. If
            participants are unknown, judgments cluster by item only.

    Returns:
        One row: intercept, intercept_low, intercept_high, slope (logits per nat), slope_low,
        slope_high, n_items; NaN if the difference or the choices do not vary, if the difference
        separates the choices perfectly, or if only two items leave no residual error.
    """
    names = [f"{term}{end}" for term in ("intercept", "slope") for end in ("", "_low", "_high")]
    row = {"n_items": float(len(items))} | dict.fromkeys(names, float("nan"))
    wrong = items["n_judgments"] - items["n_good"]
    d = items["difference_nats"].to_numpy(dtype=float)
    if len(items) < _FEWEST_ITEMS or not np.ptp(d) or not items["n_good"].sum() or not wrong.sum():
        return pd.DataFrame([row])
    counts = np.column_stack([items["n_good"], wrong])
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerfectSeparationWarning)
        try:
            fit = GLM(counts, add_constant(d), Binomial()).fit()
        except PerfectSeparationWarning:
            return pd.DataFrame([row])
    errors, freedom = _compute_standard_errors(fit.params, d, items["item_id"], judgments)
    half = float(student_quantile(np.asarray(freedom))) * errors
    for position, term in enumerate(("intercept", "slope")):
        value = float(fit.params[position])
        row |= {
            term: value,
            f"{term}_low": value - half[position],
            f"{term}_high": value + half[position],
        }
    return pd.DataFrame([row])


def _compute_standard_errors(
    line: Floats, difference: Floats, item_ids: "pd.Series[str]", judgments: pd.DataFrame
) -> tuple[Floats, float]:
    """Return the standard errors of intercept and slope, and their degrees of freedom."""
    item = find_codes(judgments["item_id"], pd.Index(item_ids.tolist())).astype(np.intp)
    design = add_constant(difference)[item]
    chance = expit(design @ line)
    residual = judgments["chose_good"].to_numpy(dtype=float) - chance
    curvature = chance * (1 - chance)
    person, _ = codes(judgments["participant"])
    frame, n_frames = codes(judgments[clustering_column(judgments)])
    cell, _ = codes(person * n_frames + frame)
    changes = [
        _change_without_each_unit(design, residual, curvature, unit)
        for unit in (person, frame, cell)
    ]
    terms = [jackknife_variance(*(change[:, term] for change in changes)) for term in range(2)]
    return np.sqrt([variance for variance, _ in terms]), float(terms[0][1])


def _change_without_each_unit(
    design: Floats, residual: Floats, curvature: Floats, unit: NDArray[np.intp]
) -> Floats:
    """Return the change of the line without each unit's judgments, shape ``(units, 2)``.

    One Newton step from the whole data's line: ``inverse(A - A_u) s_u``, with the unit's
    information ``A_u`` and score ``s_u``. Pregibon, D. (1981). Logistic regression diagnostics.
    Annals of Statistics, 9(4), 705-724.
    """
    n, d = int(unit.max()) + 1, design[:, 1]
    sums = [
        np.bincount(unit, weights, minlength=n)
        for weights in (curvature, curvature * d, curvature * d * d, residual, residual * d)
    ]
    first, cross, second = (weights.sum() - weights for weights in sums[:3])
    score, score_d = sums[3:]
    determinant = first * second - cross**2
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = (
            np.column_stack([second * score - cross * score_d, first * score_d - cross * score])
            / determinant[:, None]
        )
    # Without the only unit that varies, no line can be fitted.
    line_changes: Floats = np.where(determinant[:, None] > 0, -changes, 0.0)
    return line_changes


def calibration_curve(
    items: pd.DataFrame, judgments: pd.DataFrame, fitted: pd.DataFrame
) -> pd.DataFrame:
    """Return participants' share of expected choices in tenths of a model's difference.

    Args:
        items: One row per item, from ``agreement.with_model_scores``.
        judgments: One row per judgment of these items, as for ``calibration``.
        fitted: The result of ``calibration`` for them.

    Returns:
        One row per bin of (nearly) equally many items: bin, difference_nats (mean), share_good,
        low, high (as of ``accuracy.people_accuracy``), n_items, n_judgments, fitted (the curve at
        the mean difference).
    """
    ranks = items["difference_nats"].rank(method="first")
    n_bins = min(N_BINS, len(items))
    binned = items.assign(bin=np.ceil(ranks * n_bins / len(items)).astype(int))
    difference = binned.groupby("bin")["difference_nats"].mean()
    item = find_codes(judgments["item_id"], pd.Index(items["item_id"].tolist()))
    shares = people_accuracy(judgments.assign(bin=binned["bin"].to_numpy()[item]), ["bin"])
    columns = ["bin", "share_good", "low", "high", "n_items", "n_judgments"]
    bins = shares.rename(columns={"accuracy": "share_good"})[columns]
    bins = bins.sort_values("bin", ignore_index=True).join(difference, on="bin")
    [line] = fitted[["intercept", "slope"]].to_numpy()
    return bins.assign(fitted=expit(line[0] + line[1] * bins["difference_nats"].to_numpy()))


def out_of_sample(
    people: Floats, per_token: Floats, unigram_per_token: Floats, tokens: Floats,
    unit: "pd.Series[str]", rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Return each item's predicted acceptability, fitted on items of other units.

    SLOR subtracts the whole unigram log-probability and divides by the length. MORCELA,
    ``(log p - beta log unigram p + gamma) / tokens``, fits the amounts of both corrections: by
    least squares on participants' judgments, in ten folds over units, so that no item contributes
    to its own prediction. Tjuatja, L., Neubig, G., Linzen, T. & Hao, S. (2025). What goes into a LM
    acceptability judgment? Rethinking the impact of frequency and length. NAACL 2025.

    Args:
        people: Shape ``(items,)``: participants' mean judgments.
        per_token: Shape ``(items,)``: log-probabilities over tokens.
        unigram_per_token: Shape ``(items,)``: the same of a unigram model.
        tokens: Shape ``(items,)``: numbers of tokens.
        unit: The unit of each item, which repeats over conditions.
        rng: Assigns the units to folds.

    Returns:
        Shape ``(items,)``; NaN with fewer than ``FEWEST_TEXTS`` items or two units.
    """
    number, n_units = codes(unit)
    if len(people) < FEWEST_TEXTS or n_units < 2:
        return np.full(len(people), np.nan)
    columns = np.column_stack([per_token, unigram_per_token, 1 / tokens])
    fold = assign_folds(number, rng)
    return predict_by_fold(columns, people, np.ones(len(people)), fold, Curve.LINE)
