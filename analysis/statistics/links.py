"""Links from models' scores to people's judgments: fitted on other frames, compared in pairs.

A link predicts a judgment from scores: a logistic curve for choices and yes or no, a line for
ratings. No judgment contributes to its own prediction, so that a link with more parameters has no
advantage, and nobody chooses a score after seeing which one fits best.
"""

from collections.abc import Mapping
from enum import StrEnum
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis.statistics.clustered import student_interval, two_way_variance
from analysis.statistics.paired import add_adjusted_p
from analysis.statistics.resample import Codes, Floats
from analysis.statistics.withheld import too_few_units

N_FOLDS = 10
# Fewer texts or frames would fit single texts.
FEWEST_TEXTS, FEWEST_FRAMES = 24, 10
# The logistic curve's coefficients are normal with this standard deviation, for standardised
# scores: they stay finite where a score separates all choices.
_PRIOR_SD = 5.0
_STEPS, _LONGEST_STEP, _SMALLEST_STEP = 100, 2.0, 1e-10
_LEAST = 1e-12


class Curve(StrEnum):
    """The shape of a link."""

    LOGISTIC = "logistic"
    LINE = "line"


def assign_folds(unit: Codes, rng: np.random.Generator) -> Codes:
    """Return the fold of each text; texts of one unit share a fold.

    Args:
        unit: Shape ``(texts,)``: the frame of each text, from 0 without gaps.
        rng: The source of randomness.
    """
    n_units = int(unit.max()) + 1
    folds: Codes = rng.permutation(np.arange(n_units) % min(N_FOLDS, n_units))[unit]
    return folds


def predict_by_fold(scores: Floats, total: Floats, n: Floats, fold: Codes, curve: Curve) -> Floats:
    """Return each text's predicted judgment, by a link fitted on the texts of other folds.

    Args:
        scores: Shape ``(texts, scores)``; with no score, the prediction is the other folds' mean.
        total: Shape ``(texts,)``: the sum of each text's judgments.
        n: Shape ``(texts,)``: the number of its judgments.
        fold: Shape ``(texts,)``.
        curve: The shape of the link.
    """
    predictions = np.full(len(total), np.nan)
    for held_out in np.unique(fold):
        training = fold != held_out
        middle = scores[training].mean(axis=0)
        spread = scores[training].std(axis=0)
        scaled = (scores - middle) / np.where(spread > 0, spread, 1)
        design = np.column_stack([np.ones(len(scaled)), scaled])
        if curve is Curve.LOGISTIC:
            weights = _fit_logistic(design[training], total[training], n[training])
            predictions[~training] = expit(design[~training] @ weights)
        else:
            root = np.sqrt(n[training])
            weights, *_ = np.linalg.lstsq(
                design[training] * root[:, None], total[training] / root, rcond=None
            )
            predictions[~training] = design[~training] @ weights
    return predictions


def _fit_logistic(design: Floats, total: Floats, n: Floats) -> Floats:
    """Return the coefficients with the highest posterior density, by Newton's method."""
    weights = np.zeros(design.shape[1])
    prior = np.eye(len(weights)) / _PRIOR_SD**2
    for _ in range(_STEPS):
        chance = expit(design @ weights)
        slope = design.T @ (total - n * chance) - prior @ weights
        curvature = (design * (n * chance * (1 - chance))[:, None]).T @ design + prior
        step = np.linalg.solve(curvature, slope)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _LEAST))
        weights += step
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return weights


def losses(outcome: Floats, predicted: Floats, curve: Curve) -> Floats:
    """Return the loss of each judgment: minus its log-probability, or its squared error.

    Args:
        outcome: Shape ``(judgments,)``: 0 or 1, or ratings.
        predicted: Shape ``(judgments,)``.
        curve: The shape of the link.
    """
    if curve is Curve.LINE:
        return squared_errors(outcome, predicted)
    kept = np.clip(predicted, _LEAST, 1 - _LEAST)
    surprise: Floats = -np.log(np.where(outcome > 0, kept, 1 - kept))
    return surprise


def squared_errors(outcome: Floats, predicted: Floats) -> Floats:
    """Return the squared error of each judgment's prediction."""
    errors: Floats = (outcome - predicted) ** 2
    return errors


def compare_links(
    of_links: Mapping[str, Floats], without: Floats, participant: Codes, unit: Codes
) -> pd.DataFrame:
    """Return each pair of links compared on the same judgments.

    The difference is that of the shares of the loss without a model that the two links explain. Its
    variance is the two-way clustered one of participants and frames (``two_way_variance``), with
    the influence ``(d - D l) / sum l`` of a judgment: d is the difference of its two losses, l its
    loss without a model. The fitted links are taken as known.

    Args:
        of_links: Shape ``(judgments,)`` each: the losses of each link.
        without: Shape ``(judgments,)``: the losses without a model.
        participant: Shape ``(judgments,)``, from 0; the same for all if unknown.
        unit: Shape ``(judgments,)``: the frames, from 0.

    Returns:
        first, second, difference (positive: the second explains more), low, high, p, p_holm and
        p_fdr (over all pairs).
    """
    rows = [
        {"first": first, "second": second}
        | _explained_difference(of_links[first] - of_links[second], without, participant, unit)
        for first, second in combinations(of_links, 2)
    ]
    return add_adjusted_p(pd.DataFrame(rows)) if rows else pd.DataFrame()


def _explained_difference(
    gained: Floats, without: Floats, participant: Codes, unit: Codes
) -> dict[str, float]:
    difference = float(gained.sum() / without.sum())
    influence = (gained - difference * without) / without.sum()
    n_people = len(np.unique(participant))
    row = {"difference": difference, "low": np.nan, "high": np.nan, "p": np.nan}
    if too_few_units(n_people if n_people > 1 else 0, len(np.unique(unit))):
        return row
    variance = two_way_variance(influence, participant, unit, np.zeros(len(gained), np.intp))
    return row | student_interval(difference, float(variance.total[0]), float(variance.freedom[0]))
