"""Compare participants and models of a mixed model on one scale, marginal or conditional.

A coefficient ``judge`` compares a model's logit with that of a typical participant, whose effect is
0. The share of right choices is an average over participants and is closer to one half: an equally
accurate model then looks worse. Here both are averages over participants and items (marginal), or
both are values of a typical participant with that average (conditional). Zeger, S. L., Liang, K.-Y.
& Albert, P. S. (1988). Models for longitudinal data: a generalized estimating equation approach.
Biometrics, 44(4), 1049-1060.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from analysis.data.load import PEOPLE
from analysis.statistics.mixed_model import MixedModel
from analysis.statistics.resample import LEVEL, Floats

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_MOST_LOGITS = 40.0


def compare_on_one_scale(model: MixedModel, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the difference of participants and each model, overall and by construction.

    The variance is that of the fixed effects (delta method), with the random effects' standard
    deviations taken as known.

    Args:
        model: The fitted model.
        rows: The fitted choices.

    Returns:
        judge, construction (empty: all), people and model (marginal shares of right choices),
        marginal, marginal_low, marginal_high (people minus model in logits of these shares),
        conditional, conditional_low, conditional_high (in logits of a typical participant), p
        (two-sided, of equal shares).
    """
    judge = rows["judge"].to_numpy().astype(str)
    construction = rows["construction"].to_numpy().astype(str)
    groups = [("", np.ones(len(rows), bool))]
    groups += [(name, construction == name) for name in pd.unique(construction)]
    comparisons = []
    for name in [candidate for candidate in pd.unique(judge) if candidate != PEOPLE]:
        for group, in_group in groups:
            sides = in_group & (judge == PEOPLE), in_group & (judge == name)
            if all(side.any() for side in sides):
                row = _compare_judges(model, *sides, *(_random_sd(model, side) for side in sides))
                comparisons.append({"judge": name, "construction": group, **row})
    return pd.DataFrame(comparisons)


def _random_sd(model: MixedModel, side: NDArray[np.bool_]) -> float:
    """Return the standard deviation of the sum of random effects in such rows."""
    return float(np.sqrt(((model.varying.values[side] @ model.loadings) ** 2).sum(axis=1).mean()))


def _compare_judges(
    model: MixedModel,
    people: Floats,
    model_rows: Floats,
    people_spread: float,
    model_spread: float,
) -> dict[str, float]:
    """Return the two shares and their difference on both scales, with intervals."""
    estimate = model.coefficients["estimate"].to_numpy()
    shares, slopes = zip(
        *(
            _compute_marginal_mean(model.fixed[side], estimate, spread)
            for side, spread in ((people, people_spread), (model_rows, model_spread))
        ),
        strict=True,
    )
    row = {"people": shares[0], "model": shares[1]}
    scales = {
        "marginal": [(logit(share), 1 / (share * (1 - share))) for share in shares],
        "conditional": [_find_conditional_logit(share, people_spread) for share in shares],
    }
    for name, ((first, by_first), (second, by_second)) in scales.items():
        slope = by_first * slopes[0] - by_second * slopes[1]
        error = float(np.sqrt(slope @ model.covariance @ slope))
        half = norm.ppf((1 + LEVEL) / 2) * error
        middle = first - second
        row |= {name: middle, f"{name}_low": middle - half, f"{name}_high": middle + half}
        if name == "marginal":
            row["p"] = float(2 * norm.sf(abs(middle) / error))
    return row


def _compute_marginal_mean(fixed: Floats, estimate: Floats, spread: float) -> tuple[float, Floats]:
    """Return the mean probability over rows and random effects, and its gradient."""
    chance = expit((fixed @ estimate)[:, None] + spread * _NODES)
    weights = _WEIGHTS / _WEIGHTS.sum()
    slope = (chance * (1 - chance)) @ weights
    return float((chance @ weights).mean()), (fixed * slope[:, None]).mean(axis=0)


def _find_conditional_logit(share: float, spread: float) -> tuple[float, float]:
    """Return the logit of a typical participant that gives the mean share, and its derivative."""
    weights = _WEIGHTS / _WEIGHTS.sum()

    def mean(middle: float) -> float:
        return float(expit(middle + spread * _NODES) @ weights)

    middle = float(brentq(lambda at: mean(at) - share, -_MOST_LOGITS, _MOST_LOGITS))
    chance = expit(middle + spread * _NODES)
    return middle, float(1 / ((chance * (1 - chance)) @ weights))
