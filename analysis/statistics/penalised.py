"""The mode and curvature of the penalised likelihood of a mixed logistic regression.

Bates, D., Maechler, M., Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects models using
lme4. Journal of Statistical Software, 67(1), section 5.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, diags_array, eye_array, hstack
from scipy.sparse.linalg import splu
from scipy.special import expit

from analysis.statistics.resample import Floats

_MOST_STEPS, _LARGEST_STEP, _SMALL = 100, 3.0, 1e-8


def random_columns(levels: Sequence[NDArray[np.intp]], values: Floats) -> csc_array:
    """Return the random effects' columns, one for each level of each effect.

    Args:
        levels: Each effect's levels of the rows, from 0.
        values: Shape ``(n, effects)``: the effect's value in each row, times its standard
            deviation.
    """
    sizes = [int(one.max()) + 1 for one in levels]
    starts = np.cumsum([0, *sizes])
    columns = np.concatenate([one + start for one, start in zip(levels, starts, strict=False)])
    row = np.tile(np.arange(len(values)), len(levels))
    return coo_array((values.T.ravel(), (row, columns)), (len(values), starts[-1])).tocsc()


def mode(
    x: Floats, z: csc_array, y: Floats, offset: Floats, penalised: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the coefficients and logits that maximise the penalised likelihood.

    A penalised coefficient ``b`` adds ``b - 2 log(1 + exp b)``: the logarithm of a log-F(2,2)
    density, which is the likelihood of one right and one wrong judgment.

    Args:
        x: Shape ``(n, terms)``: the columns of the coefficients to estimate.
        z: Shape ``(n, levels)``: from ``random_columns``.
        y: Shape ``(n,)``: 1 for a right choice, 0 for a wrong one.
        offset: Shape ``(n,)``: the known part of the logits.
        penalised: Shape ``(terms,)``: whether each coefficient is penalised.
    """
    number = x.shape[1]
    columns = hstack([csc_array(x), z]).tocsc()
    found = np.zeros(columns.shape[1])
    for _ in range(_MOST_STEPS):
        chance = expit(offset + columns @ found)
        prior = np.where(penalised, expit(found[:number]), 0.5)
        slope = columns.T @ (y - chance)
        slope[:number] += 1 - 2 * prior
        slope[number:] -= found[number:]
        own = np.concatenate(
            [np.where(penalised, 2 * prior * (1 - prior), _SMALL), np.ones(len(found) - number)]
        )
        weight = chance * (1 - chance)
        curvature = columns.T @ diags_array(weight) @ columns + diags_array(own)
        step = splu(curvature.tocsc()).solve(slope)
        largest = float(np.abs(step).max())
        found += step * min(1.0, _LARGEST_STEP / max(largest, _SMALL))
        if largest < _SMALL:
            break
    return found[:number], offset + columns @ found


def covariance(x: Floats, z: csc_array, logits: Floats, prior: Floats) -> Floats:
    """Return the coefficients' covariance from the curvature of the penalised likelihood.

    ``inverse(X'WX - X'WZ inverse(Z'WZ + I) Z'WX)`` with ``W = p (1 - p)``, with the variances taken
    as known. (GPBoost's own approximation of the Hessian is not always positive definite.)

    Args:
        x: Shape ``(n, terms)``: the fixed effects' columns.
        z: Shape ``(n, levels)``: the random effects' columns, each times its standard deviation.
        logits: Shape ``(n,)``: the fitted logits, random effects included.
        prior: Shape ``(terms,)``: the curvature of each coefficient's penalty.
    """
    chance = expit(logits)
    weight = chance * (1 - chance)
    weighted = x * weight[:, None]
    random = (z.T @ (z * weight[:, None])).tocsc() + eye_array(z.shape[1], format="csc")
    mixed = z.T @ weighted
    information = x.T @ weighted - mixed.T @ splu(random).solve(mixed) + np.diag(prior)
    found: Floats = np.linalg.inv(information)
    return found
