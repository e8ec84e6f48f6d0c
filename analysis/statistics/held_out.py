"""What surprisal tells of reading times: its slope, and what it adds where times are held out.

Goodkind, A. & Bicknell, K. (2018). Predictive power of word surprisal for reading times is a linear
function of language model quality. CMCL. Wilcox, E. G., Pimentel, T., Meister, C., Cotterell, R. &
Levy, R. P. (2023). Testing the predictions of surprisal theory in 11 languages. TACL, 11.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.clustered import quantile, several_way
from analysis.statistics.resample import Floats

Codes = NDArray[np.intp]
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Slope:
    """A coefficient with its 95% interval."""

    estimate: float
    low: float
    high: float


def slope(y: Floats, x: Floats, clusters: list[Codes]) -> Slope:
    """Return the coefficient of the last column of a linear regression, clustered in several ways.

    Args:
        y: Shape ``(n,)``.
        x: Shape ``(n, p)``, with an intercept.
        clusters: What repeats: each of shape ``(n,)``, numbered from 0.
    """
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ (x.T @ y)
    influence = (y - x @ beta) * (x @ inverse[:, -1])
    variance, freedom = several_way(influence, clusters)
    half = float(quantile(np.array([freedom]))[0] * np.sqrt(variance))
    estimate = float(beta[-1])
    return Slope(estimate, estimate - half, estimate + half)


def delta_loglik(y: Floats, base: Floats, more: Floats, unit: Codes) -> Slope:
    """Return by how much predictors raise the log-likelihood of a word that was held out.

    Words are divided into folds by unit, so that no word of a sentence is in both parts. Both
    models are fitted to the words of the other folds, their residual variance too.

    Args:
        y: Shape ``(n,)``: the mean log reading time of each word.
        base: Shape ``(n, p)``: the predictors of both models, with an intercept.
        more: Shape ``(n, k)``: those of the second model besides.
        unit: Shape ``(n,)``: the sentence, or what its conditions share, from 0 without gaps.

    Returns:
        The mean over words in nats, with Student's interval clustered by unit.
    """
    n_units = int(unit.max()) + 1
    fold = (unit * min(FOLDS, n_units)) // n_units
    gained = np.empty(len(y))
    for one in range(int(fold.max()) + 1):
        out = fold == one
        both = [_loglik(y[~out], x[~out], y[out], x[out]) for x in (np.hstack([base, more]), base)]
        gained[out] = both[0] - both[1]
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
