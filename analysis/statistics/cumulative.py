"""Cumulative-link mixed models of ratings: ordered points, with participants and units varying.

``logit P(rating <= k) = threshold_k - (fixed effects + participant + unit)``, by maximum likelihood
with Laplace's approximation over both random intercepts. Christensen, R. H. B. (2018). Cumulative
link models for ordinal regression with the R package ordinal.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from analysis.statistics.resample import LEVEL, Floats, codes

Codes = NDArray[np.intp]

_START_SD, _LEAST_SD = 0.5, 1e-3
_NEWTON_STEPS, _CONVERGED = 50, 1e-9
_BOUNDS_LOG_SD = (-8.0, 4.0)
# Second differences of a smooth function: smaller steps drown in rounding.
_STEP = 1e-3
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class CumulativeModel:
    """A fitted model.

    Attributes:
        coefficients: One row per fixed effect: term, estimate (logits, positive: higher points),
            std_error, low, high (Wald, 95%), z, p.
        thresholds: Shape ``(points used - 1,)``, rising.
        sd_participant: The standard deviation of participants' intercepts in logits.
        sd_unit: The same of units.
        loglik: The log-likelihood by Laplace's approximation.
        n_rows: Ratings fitted.
        singular: Whether one of both is estimated to be none.
    """

    coefficients: pd.DataFrame
    thresholds: Floats
    sd_participant: float
    sd_unit: float
    loglik: float
    n_rows: int
    singular: bool


def fit_cumulative(rows: pd.DataFrame, design: pd.DataFrame) -> CumulativeModel:
    """Fit ratings by a cumulative logit with random intercepts of participants and units.

    Args:
        rows: One row per rating: rating, participant, unit.
        design: Its fixed effects' columns, without an intercept.

    Raises:
        ValueError: All ratings are one point.
    """
    problem = _Problem(rows, design.to_numpy(dtype=float))
    bounds = [(None, None)] * (problem.n_cuts + problem.n_fixed) + [_BOUNDS_LOG_SD] * 2
    options = {"ftol": 1e-12, "gtol": 1e-5, "maxiter": 500}
    found = minimize(
        problem.negative, problem.start(), method="L-BFGS-B", bounds=bounds, options=options
    )
    best = np.asarray(found.x)
    sds = np.exp(best[-2:])
    # A variance of nothing has no curvature; the others' errors are those without it.
    free = np.concatenate([np.ones(len(best) - 2, bool), sds > _LEAST_SD])
    covariance = np.linalg.pinv(_curvature(problem, best, np.flatnonzero(free)))
    fixed = slice(problem.n_cuts, problem.n_cuts + problem.n_fixed)
    return CumulativeModel(
        coefficients=_described(list(design.columns), best[fixed], np.diag(covariance)[fixed]),
        thresholds=problem.thresholds(best),
        sd_participant=float(sds[0] * (sds[0] > _LEAST_SD)),
        sd_unit=float(sds[1] * (sds[1] > _LEAST_SD)),
        loglik=-float(found.fun),
        n_rows=len(rows),
        singular=bool((~free).any()),
    )


def _described(terms: list[str], estimate: Floats, variance: Floats) -> pd.DataFrame:
    error = np.sqrt(np.maximum(variance, 0.0))
    z = estimate / error
    half = norm.ppf((1 + LEVEL) / 2) * error
    return pd.DataFrame(
        {
            "term": terms,
            "estimate": estimate,
            "std_error": error,
            "low": estimate - half,
            "high": estimate + half,
            "z": z,
            "p": 2 * norm.sf(np.abs(z)),
        }
    )


def _curvature(problem: "_Problem", at: Floats, free: Codes) -> Floats:
    """Return the second derivatives of the negative log-likelihood by the free parameters."""
    n = len(free)
    steps = np.eye(len(at))[free] * _STEP
    found = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            one, two = steps[i], steps[j]
            found[i, j] = found[j, i] = (
                problem.negative(at + one + two) - problem.negative(at + one - two)
                - problem.negative(at - one + two) + problem.negative(at - one - two)
            ) / (4 * _STEP**2)  # fmt: skip
    return found


@dataclass
class _Problem:
    """The likelihood of ratings; parameters are cuts, fixed effects, two logarithms of SDs."""

    rows: pd.DataFrame
    fixed: Floats
    _modes: Floats = field(init=False)

    def __post_init__(self) -> None:
        points, self._rating = np.unique(self.rows["rating"].to_numpy(), return_inverse=True)
        if len(points) < 2:
            raise ValueError("all ratings are one point of the scale")
        self._person, n_people = codes(self.rows["participant"])
        self._unit, n_units = codes(self.rows["unit"])
        self._sizes = n_people, n_units
        self.n_cuts, self.n_fixed = len(points) - 1, self.fixed.shape[1]
        self._modes = np.zeros(n_people + n_units)

    def start(self) -> Floats:
        """Return where to begin: the marginal cuts and no effect."""
        below = np.cumsum(np.bincount(self._rating))[:-1] / len(self._rating)
        cuts = np.log(below / (1 - below))
        sds = np.full(2, np.log(_START_SD))
        steps = np.log(np.maximum(np.diff(cuts), _LEAST_SD))
        return np.concatenate([cuts[:1], steps, np.zeros(self.n_fixed), sds])

    def thresholds(self, parameters: Floats) -> Floats:
        """Return the cuts in rising order: the first, and the exponentials of the steps."""
        first, steps = parameters[0], np.exp(parameters[1 : self.n_cuts])
        return np.concatenate([[first], first + np.cumsum(steps)])

    def negative(self, parameters: Floats) -> float:
        """Return the negative log-likelihood; the last modes are where the next search begins."""
        cuts = np.concatenate([[-np.inf], self.thresholds(parameters), [np.inf]])
        upper, lower = cuts[self._rating + 1], cuts[self._rating]
        fixed = self.fixed @ parameters[self.n_cuts : self.n_cuts + self.n_fixed]
        sds = np.exp(parameters[-2:])
        modes = self._modes
        value, gradient, weight = self._joint(upper - fixed, lower - fixed, modes, sds)
        for _ in range(_NEWTON_STEPS):
            factor = cho_factor(self._information(weight, sds))
            step = cho_solve(factor, self._scores(gradient, sds) - modes)
            modes, value, gradient, weight = self._stepped(
                upper - fixed, lower - fixed, modes, step, sds, value
            )
            if float(np.max(np.abs(step))) < _CONVERGED:
                break
        self._modes = modes
        diagonal = np.diag(cho_factor(self._information(weight, sds))[0])
        return -(value - float(np.sum(np.log(diagonal))))

    def _stepped(
        self, upper: Floats, lower: Floats, modes: Floats, step: Floats, sds: Floats, value: float
    ) -> tuple[Floats, float, Floats, Floats]:
        """Return the modes after a step that is halved until it does not lead downhill."""
        size = 1.0
        while True:
            tried = modes + size * step
            found = self._joint(upper, lower, tried, sds)
            if found[0] >= value - _CONVERGED or size < _STEP:
                return tried, *found
            size /= 2

    def _joint(
        self, upper: Floats, lower: Floats, modes: Floats, sds: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the joint log-density, and each rating's first and minus second derivative."""
        people, units = modes[: self._sizes[0]], modes[self._sizes[0] :]
        varying = sds[0] * people[self._person] + sds[1] * units[self._unit]
        above, below = expit(upper - varying), expit(lower - varying)
        probability = np.maximum(above - below, _LEAST)
        f_above, f_below = above * (1 - above), below * (1 - below)
        gradient = (f_below - f_above) / probability
        bend = (f_above * (1 - 2 * above) - f_below * (1 - 2 * below)) / probability
        value = float(np.sum(np.log(probability)) - modes @ modes / 2)
        return value, gradient, gradient**2 - bend

    def _scores(self, gradient: Floats, sds: Floats) -> Floats:
        people, units = self._sizes
        return np.concatenate(
            [
                sds[0] * np.bincount(self._person, gradient, people),
                sds[1] * np.bincount(self._unit, gradient, units),
            ]
        )

    def _information(self, weight: Floats, sds: Floats) -> Floats:
        people, units = self._sizes
        both = np.bincount(self._person * units + self._unit, weight, people * units)
        table = both.reshape(people, units)
        found = np.eye(people + units)
        found[:people, :people] += np.diag(sds[0] ** 2 * table.sum(axis=1))
        found[people:, people:] += np.diag(sds[1] ** 2 * table.sum(axis=0))
        found[:people, people:] = sds[0] * sds[1] * table
        found[people:, :people] = found[:people, people:].T
        return found
