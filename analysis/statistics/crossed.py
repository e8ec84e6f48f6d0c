"""Mixed models of choices and ratings with crossed, correlated intercepts and slopes.

``logit P(point <= k) = threshold_k - (fixed effects + random effects)``; a choice is a scale of two
points, whose intercept is minus its threshold. Models are fitted by maximum likelihood, with
Laplace's approximation over all random effects and its exact derivatives. Bates, D., Maechler, M.,
Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects models using lme4. Journal of
Statistical Software, 67(1); Christensen, R. H. B. (2018). Cumulative link models for ordinal
regression with the R package ordinal.

A fixed rule handles singular fits, so that no choice is made after seeing the data. The first fit
has every intercept, slope and correlation that the design allows. If the fit is singular (a
variance is zero, or a correlation is perfect), the correlations are removed; if it is still
singular, slopes with zero variance are removed. Intercepts stay. Bates, D., Kliegl, R., Vasishth,
S. & Baayen, H. (2015). Parsimonious mixed models. arXiv:1506.04967.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm

from analysis.statistics.laplace import Laplace, Parameters, RandomTerm
from analysis.statistics.resample import LEVEL, Floats

_START_SD = 0.5
# Step of differences of exact gradients: a trade-off of rounding and truncation errors.
_DIFFERENCE_STEP = 1e-4
_AT_BOUND = 1e-4
_STOP = {"ftol": 1e-13, "gtol": 1e-5, "maxiter": 400, "maxfun": 1200}


@dataclass(frozen=True, slots=True)
class CrossedModel:
    """A fitted model with crossed random effects.

    Attributes:
        coefficients: One row per fixed effect: term, estimate (logits; positive: the expected
            choice, or higher points), std_error, low, high (Wald, 95%), z, p. For choices, the
            intercept comes first.
        random: One row per random effect: unit, effect, sd (logits), and ``correlation`` with the
            intercept of its unit (NaN for the intercept, or if not estimated).
        thresholds: Shape ``(points used - 1,)``, rising.
        loglik: The log-likelihood by Laplace's approximation.
        n_rows: The number of fitted answers.
        formula: Fixed and random effects in R's notation, except for the names of terms.
        singular: Whether a standard deviation is estimated as zero, or a correlation as perfect.
    """

    coefficients: pd.DataFrame
    random: pd.DataFrame
    thresholds: Floats
    loglik: float
    n_rows: int
    formula: str
    singular: bool


@dataclass(frozen=True, slots=True)
class Optimum:
    """The maximum of the likelihood; standard errors are computed separately, at similar cost.

    Attributes:
        random: As in ``CrossedModel``.
        singular: The same.
    """

    random: pd.DataFrame
    singular: bool
    _problem: Laplace
    _at: Floats
    _loglik: float
    _names: Sequence[str]

    @property
    def thresholds(self) -> Floats:
        """The thresholds, rising; of choices minus the intercept."""
        return self._problem.layout.thresholds(self._at)

    @property
    def loglik(self) -> float:
        """The log-likelihood by Laplace's approximation."""
        return self._loglik

    def find_effects(self) -> list[tuple[Floats, Floats]]:
        """Return each term's random effects and their variances (see ``Laplace``)."""
        return self._problem.find_effects(self._at)

    def model(self) -> CrossedModel:
        """Return the model with the standard errors of its estimates."""
        problem, layout = self._problem, self._problem.layout
        free = np.flatnonzero(~layout.is_diagonal | (self._at > _AT_BOUND))
        covariance = _compute_covariance(problem, self._at, free)
        return CrossedModel(
            coefficients=_tabulate_coefficients(list(self._names), layout, self._at, covariance),
            random=self.random,
            thresholds=layout.thresholds(self._at),
            loglik=self._loglik,
            n_rows=len(problem.answer),
            formula=" + ".join(["effects", *(term.name for term in problem.terms)]),
            singular=self.singular,
        )


def optimum(
    answers: NDArray[np.generic], fixed: pd.DataFrame, terms: Sequence[RandomTerm]
) -> Optimum:
    """Return the maximum-likelihood estimates for fixed effects and crossed random effects.

    Args:
        answers: Shape ``(n,)``: a choice (0 or 1) or the point of a scale.
        fixed: The fixed effects' columns, without an intercept.
        terms: The random effects and their units.

    Raises:
        ValueError: All answers are the same.
    """
    points, answer = np.unique(answers, return_inverse=True)
    if len(points) < 2:
        raise ValueError("all answers are the same")
    problem = Laplace(answer.astype(np.intp), fixed.to_numpy(dtype=float), terms)
    layout = problem.layout
    start = layout.start(answer, _START_SD)
    result = minimize(
        problem.negative, start, jac=True, method="L-BFGS-B", bounds=layout.bounds, options=_STOP
    )
    best = np.asarray(result.x, dtype=float)
    return Optimum(
        random=pd.concat(list(_tabulate_random_effects(terms, layout, best)), ignore_index=True),
        singular=_is_singular(terms, layout, best),
        _problem=problem,
        _at=best,
        _loglik=-float(result.fun),
        _names=list(fixed.columns),
    )


def _compute_covariance(problem: Laplace, best: Floats, free: NDArray[np.intp]) -> Floats:
    """Return the parameters' covariance from second derivatives; zero for parameters not free."""
    second = np.empty((len(free), len(free)))
    for row, place in enumerate(free):
        step = np.zeros(len(best))
        step[place] = _DIFFERENCE_STEP
        forward, backward = problem.negative(best + step)[1], problem.negative(best - step)[1]
        second[row] = ((forward - backward) / (2 * _DIFFERENCE_STEP))[free]
    covariance = np.zeros((len(best), len(best)))
    covariance[np.ix_(free, free)] = np.linalg.pinv((second + second.T) / 2)
    return covariance


def _tabulate_coefficients(
    terms: list[str], layout: Parameters, best: Floats, covariance: Floats
) -> pd.DataFrame:
    estimate, variance = best[layout.fixed], np.diag(covariance)[layout.fixed]
    if layout.n_cuts == 1:
        terms = ["Intercept", *terms]
        estimate = np.concatenate([-best[:1], estimate])
        variance = np.concatenate([covariance[:1, 0], variance])
    error = np.sqrt(np.maximum(variance, 0.0))
    half = norm.ppf((1 + LEVEL) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimate / error
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


def _tabulate_random_effects(
    terms: Sequence[RandomTerm], layout: Parameters, best: Floats
) -> "Sequence[pd.DataFrame]":
    frames = []
    for term, loading in zip(terms, layout.loadings(best), strict=True):
        covariance = loading @ loading.T
        sd = np.sqrt(np.diag(covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            with_first = covariance[:, 0] / (sd * sd[0])
        if not term.correlated:
            with_first = np.full(len(sd), np.nan)
        with_first[0] = np.nan
        frames.append(
            pd.DataFrame(
                {
                    "unit": term.unit,
                    "effect": list(term.effects),
                    "sd": sd,
                    "correlation": with_first,
                }
            )
        )
    return frames


def _is_singular(terms: Sequence[RandomTerm], layout: Parameters, best: Floats) -> bool:
    """Return whether some unit's random effects have a direction with zero variance."""
    from_scale = []
    for term, loading in zip(terms, layout.loadings(best), strict=True):
        # Each effect in logits: scaled by its column.
        effect_sizes = loading * np.sqrt((term.columns**2).mean(axis=0))[:, None]
        from_scale.append(float(np.linalg.svd(effect_sizes, compute_uv=False).min()))
    return min(from_scale) < SINGULAR


# In logits, for a typical answer.
SINGULAR = 1e-2


AS_DECLARED = ""
NO_CORRELATIONS = "the full model is singular, so correlations are left out"
NO_SLOPES = "the full model is singular, so correlations and slopes that vary by nothing are out"


def fit_by_rule(
    answers: NDArray[np.generic], fixed: pd.DataFrame, terms: Sequence[RandomTerm]
) -> tuple[CrossedModel, str]:
    """Return the largest non-singular model, and the terms left out, in words.

    The last step's model may still be singular if an intercept has zero variance.

    Args:
        answers: As for ``crossed.optimum``.
        fixed: As for ``crossed.optimum``.
        terms: The random effects of the full model.

    Raises:
        ValueError: All answers are the same.
    """
    full = optimum(answers, fixed, terms)
    if not full.singular or all(len(term.effects) == 1 for term in terms):
        return full.model(), AS_DECLARED
    uncorrelated_terms = [replace(term, correlated=False) for term in terms]
    simpler = optimum(answers, fixed, uncorrelated_terms)
    if not simpler.singular:
        return simpler.model(), NO_CORRELATIONS
    reduced = [_drop_zero_variance_effects(term, simpler) for term in uncorrelated_terms]
    return optimum(answers, fixed, reduced).model(), NO_SLOPES


def _drop_zero_variance_effects(term: RandomTerm, fitted: Optimum) -> RandomTerm:
    rows = fitted.random[fitted.random["unit"] == term.unit]
    effect_sizes = rows["sd"].to_numpy() * np.sqrt((term.columns**2).mean(axis=0))
    places = np.flatnonzero((effect_sizes >= SINGULAR) | (np.arange(len(effect_sizes)) == 0))
    effects = tuple(term.effects[index] for index in places)
    return replace(term, effects=effects, columns=term.columns[:, places])
