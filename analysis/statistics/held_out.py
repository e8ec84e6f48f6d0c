"""The effect of surprisal on reading times: its slope, and its held-out predictive gain.

Goodkind, A. & Bicknell, K. (2018). Predictive power of word surprisal for reading times is a linear
function of language model quality. CMCL. Wilcox, E. G., Pimentel, T., Meister, C., Cotterell, R. &
Levy, R. P. (2023). Testing the predictions of surprisal theory in 11 languages. TACL, 11.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.clustered import quantile, several_way
from analysis.statistics.resample import Floats
from analysis.statistics.smooth import fit_smooth

Codes = NDArray[np.intp]
Kept = NDArray[np.bool_]
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Slope:
    """A coefficient with its 95% interval."""

    estimate: float
    low: float
    high: float


def slope(y: Floats, x: Floats, clusters: list[Codes]) -> Slope:
    """Return the last coefficient of a linear regression, with clustering in several ways.

    Args:
        y: Shape ``(n,)``.
        x: Shape ``(n, p)``, with an intercept.
        clusters: The clusters in each way, of shape ``(n,)``, numbered from 0.
    """
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ (x.T @ y)
    influence = (y - x @ beta) * (x @ inverse[:, -1])
    variance, freedom = several_way(influence, clusters)
    half = float(quantile(np.array([freedom]))[0] * np.sqrt(variance))
    estimate = float(beta[-1])
    return Slope(estimate, estimate - half, estimate + half)


def delta_loglik(y: Floats, base: Floats, more: Floats, unit: Codes) -> Slope:
    """Return the gain in held-out log-likelihood per word from additional predictors.

    Words are divided into folds by unit, so that training and test words never share a sentence.
    Both models, including their residual variance, are fitted to the words of the other folds.

    Args:
        y: Shape ``(n,)``: the mean log reading time of each word.
        base: Shape ``(n, p)``: the predictors of both models, with an intercept.
        more: Shape ``(n, k)``: the additional predictors of the second model.
        unit: Shape ``(n,)``: the sentence, or the unit that its conditions share, from 0 without
            gaps.

    Returns:
        The mean over words in nats, with Student's interval clustered by unit.
    """
    whole = np.hstack([base, more])

    def gain(out: Kept) -> Floats:
        both = [_loglik(y[~out], x[~out], y[out], x[out]) for x in (whole, base)]
        return both[0] - both[1]

    return _mean_gain(gain, unit)


def delta_smooth(y: Floats, linear: Floats, x: Floats, unit: Codes) -> Slope:
    """Return the held-out gain of a smooth of a predictor over its straight line.

    Args:
        y: Shape ``(n,)``: the mean log reading time of each word.
        linear: Shape ``(n, p)``: the predictors of both models, with an intercept.
        x: Shape ``(n,)``: the predictor.
        unit: Shape ``(n,)``: as for ``delta_loglik``.

    Returns:
        The mean over words in nats, with Student's interval clustered by unit.
    """
    straight = np.column_stack([linear, x])

    def gain(out: Kept) -> Floats:
        smooth = fit_smooth(y[~out], linear[~out], x[~out])
        left = y[out] - smooth.predicted(linear[out], x[out])
        bent = -0.5 * (np.log(2 * np.pi * smooth.variance) + left**2 / smooth.variance)
        found: Floats = bent - _loglik(y[~out], straight[~out], y[out], straight[out])
        return found

    return _mean_gain(gain, unit)


def _mean_gain(gain: Callable[[Kept], Floats], unit: Codes) -> Slope:
    n_units = int(unit.max()) + 1
    fold = (unit * min(FOLDS, n_units)) // n_units
    gained = np.empty(len(unit))
    for one in range(int(fold.max()) + 1):
        out = fold == one
        gained[out] = gain(out)
    mean = float(gained.mean())
    variance, freedom = several_way((gained - mean) / len(gained), [unit])
    half = float(quantile(np.array([freedom]))[0] * np.sqrt(variance))
    return Slope(mean, mean - half, mean + half)


def _loglik(y: Floats, x: Floats, held_y: Floats, held_x: Floats) -> Floats:
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    free = max(len(y) - x.shape[1], 1)
    variance = max(float(((y - x @ beta) ** 2).sum()) / free, 1e-12)
    left = held_y - held_x @ beta
    found: Floats = -0.5 * (np.log(2 * np.pi * variance) + left**2 / variance)
    return found
