"""Linear mixed models with crossed, correlated intercepts and slopes, by REML or by ML.

``y = X b + Z L u + e`` with ``u ~ N(0, s^2 I)`` and ``e ~ N(0, s^2 I)``: the profiled deviance of
Bates, D., Maechler, M., Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects models using
lme4. Journal of Statistical Software, 67(1), equations 34 and 41. It is minimised over the entries
of ``L`` alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.stats import norm

from analysis.statistics.laplace import RandomTerm
from analysis.statistics.resample import LEVEL, Floats

SINGULAR = 1e-4
_STOP = {"ftol": 1e-14, "gtol": 1e-6, "maxiter": 200}


@dataclass(frozen=True, slots=True)
class LinearMixedModel:
    """A fitted linear mixed model.

    Attributes:
        coefficients: One row per fixed effect, the intercept first: term, estimate, std_error, low,
            high (Wald, 95%), t, p (normal).
        random: One row per random effect: unit, effect, sd, and correlation with the intercept of
            its unit (NaN for the intercept, or if not estimated).
        residual_sd: The residual standard deviation.
        loglik: The log-likelihood, or the restricted log-likelihood.
        n_rows: The number of fitted rows.
        singular: Whether a variance is zero, or a correlation is perfect.
        left_out: The random effects left out because the full model was singular.
    """

    coefficients: pd.DataFrame
    random: pd.DataFrame
    residual_sd: float
    loglik: float
    n_rows: int
    singular: bool
    left_out: str = ""


class _Solution(NamedTuple):
    """The deviance and the effects at some loadings.

    Attributes:
        deviance: The profiled deviance, perhaps the restricted one.
        beta: The fixed effects.
        rx: Their unscaled factor, lower triangular.
        squares: The penalised residual sum of squares.
        loaded: ``L'Z'Z``.
        lower: The lower triangular factor of ``L'Z'ZL + I``.
        rzx: ``lower`` times this is ``L'Z'X``.
        cu: ``lower`` times this is ``L'Z'y``.
    """

    deviance: float
    beta: Floats
    rx: Floats
    squares: float
    loaded: Floats
    lower: Floats
    rzx: Floats
    cu: Floats


class _Profiled:
    """The deviance of a model as a function of the relative loadings.

    Args:
        y: Shape ``(n,)``.
        x: Shape ``(n, p)``, with the intercept.
        terms: The random effects.
        reml: Whether to use the restricted deviance.
    """

    def __init__(self, y: Floats, x: Floats, terms: Sequence[RandomTerm], *, reml: bool) -> None:
        self.p, self.reml, self.terms = x.shape[1], reml, terms
        self.free = len(y) - self.p if reml else len(y)
        blocks = [_make_design_columns(term) for term in terms]
        z = np.hstack(blocks)
        self.sizes = [block.shape[1] for block in blocks]
        self.zz, self.zx, self.zy = z.T @ z, z.T @ x, z.T @ y
        self.xx, self.xy, self.yy = x.T @ x, x.T @ y, float(y @ y)
        self.entries = [(k, *entry) for k, term in enumerate(terms) for entry in term.places]

    @property
    def start(self) -> Floats:
        """The starting values: no correlations, and variances equal to the residual variance."""
        return np.array([1.0 if row == column else 0.0 for _, row, column in self.entries])

    def loadings(self, theta: Floats) -> list[Floats]:
        """Return each term's relative loading, lower triangular."""
        loadings = [np.zeros((len(term.effects),) * 2) for term in self.terms]
        for value, (k, row, column) in zip(theta, self.entries, strict=True):
            loadings[k][row, column] = value
        return loadings

    def turn(self, theta: Floats) -> Floats:
        """Return the loadings with no negative standard deviation: the sign of a column is free."""
        sign = {
            (k, column): np.sign(value) or 1.0
            for value, (k, row, column) in zip(theta, self.entries, strict=True)
            if row == column
        }
        signs: Floats = np.array([sign[k, column] for k, _, column in self.entries])
        return theta * signs

    def solve(self, theta: Floats) -> "_Solution":
        """Return the deviance and the effects at some loadings."""
        times = self._make_multiplier(theta)
        loaded = times(self.zz)
        inner = times(loaded.T)
        inner[np.diag_indices_from(inner)] += 1.0
        lower = cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        rzx = solve_triangular(lower, times(self.zx), lower=True, check_finite=False)
        cu = solve_triangular(lower, times(self.zy[:, None])[:, 0], lower=True, check_finite=False)
        rx = cholesky(self.xx - rzx.T @ rzx, lower=True)
        cb = solve_triangular(rx, self.xy - rzx.T @ cu, lower=True)
        beta = solve_triangular(rx.T, cb)
        squares = max(self.yy - float(cu @ cu) - float(cb @ cb), 1e-300)
        deviance = 2 * np.log(np.diag(lower)).sum() + self.free * (
            1 + np.log(2 * np.pi * squares / self.free)
        )
        if self.reml:
            deviance += 2 * np.log(np.diag(rx)).sum()
        return _Solution(float(deviance), beta, rx, squares, loaded, lower, rzx, cu)

    def deviance_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the deviance and its derivatives by the entries of the loadings.

        The effects minimise the penalised squares, so only the loadings' own part of these counts.
        """
        at = self.solve(theta)
        # The random effects, and those of each column of x.
        u, c = (
            solve_triangular(at.lower, right, lower=True, trans="T", check_finite=False)
            for right in (at.cu - at.rzx @ at.beta, at.rzx)
        )
        inverse = dpotri(at.lower, lower=True)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        residual = self.zy - self.zx @ at.beta - at.loaded.T @ u
        slopes, begin = [], 0
        for term, size in zip(self.terms, self.sizes, strict=True):
            own, k = slice(begin, begin + size), len(term.effects)
            by_level = at.loaded[:, own].reshape(-1, k).T @ inverse[:, own].reshape(-1, k)
            of_squares = residual[own].reshape(-1, k).T @ u[own].reshape(-1, k)
            slope = by_level - self.free / at.squares * of_squares
            if self.reml:
                of_x = (self.zx - at.loaded.T @ c)[own]
                by_covariance = cho_solve((at.rx, True), c[own].T).T
                slope -= np.einsum(
                    "lrj,lcj->rc",
                    of_x.reshape(-1, k, self.p),
                    by_covariance.reshape(-1, k, self.p),
                )
            slopes.append(2 * slope)
            begin += size
        gradient = np.array([slopes[k][row, column] for k, row, column in self.entries])
        return at.deviance, gradient

    def _make_multiplier(self, theta: Floats) -> Callable[[Floats], Floats]:
        """Return a function that left-multiplies a matrix by all levels' transposed loadings."""
        loadings, sizes = self.loadings(theta), self.sizes

        def times(matrix: Floats) -> Floats:
            product, begin = np.empty_like(matrix), 0
            for loading, size in zip(loadings, sizes, strict=True):
                block = matrix[begin : begin + size].reshape(-1, len(loading), matrix.shape[1])
                product[begin : begin + size] = np.einsum("ji,ljc->lic", loading, block).reshape(
                    size, -1
                )
                begin += size
            return product

        return times


def _make_design_columns(term: RandomTerm) -> Floats:
    """Return a term's columns, with those of one level next to each other."""
    n, k = term.columns.shape
    design = np.zeros((n, (int(term.level.max()) + 1) * k))
    for effect in range(k):
        design[np.arange(n), term.level * k + effect] = term.columns[:, effect]
    return design


def fit_linear(
    y: Floats, fixed: pd.DataFrame, terms: Sequence[RandomTerm], *, reml: bool = True
) -> LinearMixedModel:
    """Fit a linear model with fixed effects and crossed random effects.

    Args:
        y: Shape ``(n,)``.
        fixed: The fixed effects' columns, without an intercept.
        terms: The random effects and their units.
        reml: Whether to use restricted maximum likelihood, like lme4; otherwise maximum likelihood.
    """
    x = np.column_stack([np.ones(len(y)), fixed.to_numpy(dtype=float)])
    problem = _Profiled(np.asarray(y, dtype=float), x, terms, reml=reml)

    # Without bounds: at a standard deviation of exactly 0, every slope is 0, and none leads away.
    best = minimize(
        problem.deviance_and_gradient,
        problem.start,
        jac=True,
        method="L-BFGS-B",
        options=_STOP,
    )
    theta = problem.turn(best.x)
    solution = problem.solve(theta)
    beta, rx, variance = solution.beta, solution.rx, solution.squares / problem.free
    inverse = solve_triangular(rx, np.eye(len(beta)), lower=True)
    error = np.sqrt(variance * (inverse**2).sum(axis=0))
    return LinearMixedModel(
        coefficients=_tabulate_coefficients(["Intercept", *map(str, fixed.columns)], beta, error),
        random=_tabulate_random_effects(terms, problem.loadings(theta), float(np.sqrt(variance))),
        residual_sd=float(np.sqrt(variance)),
        loglik=-solution.deviance / 2,
        n_rows=len(y),
        singular=any(_is_singular(is_sd) for is_sd in problem.loadings(theta)),
    )


def fit_linear_by_rule(
    y: Floats, fixed: pd.DataFrame, terms: Sequence[RandomTerm]
) -> LinearMixedModel:
    """Fit the largest non-singular model, by the rule of ``analysis.statistics.crossed``.

    Args:
        y: Shape ``(n,)``.
        fixed: The fixed effects' columns.
        terms: The random effects of the full model.
    """
    full = fit_linear(y, fixed, terms)
    if not full.singular or all(len(term.effects) == 1 for term in terms):
        return full
    uncorrelated_terms = [replace(term, correlated=False) for term in terms]
    simpler = fit_linear(y, fixed, uncorrelated_terms)
    if not simpler.singular:
        return replace(simpler, left_out="correlations")
    reduced = []
    for term in uncorrelated_terms:
        sd = simpler.random.loc[simpler.random["unit"] == term.unit, "sd"].to_numpy()
        has_variance = (sd > SINGULAR * simpler.residual_sd) | (np.arange(len(sd)) == 0)
        effects = tuple(np.asarray(term.effects)[has_variance])
        reduced.append(replace(term, effects=effects, columns=term.columns[:, has_variance]))
    return replace(fit_linear(y, fixed, reduced), left_out="correlations and slopes of no variance")


def _tabulate_coefficients(terms: list[str], beta: Floats, error: Floats) -> pd.DataFrame:
    half, t = norm.ppf((1 + LEVEL) / 2) * error, beta / error
    return pd.DataFrame(
        {
            "term": terms,
            "estimate": beta,
            "std_error": error,
            "low": beta - half,
            "high": beta + half,
            "t": t,
            "p": 2 * norm.sf(np.abs(t)),
        }
    )


def _is_singular(loading: Floats) -> bool:
    return bool((np.abs(np.diag(loading)) < SINGULAR).any())


def _tabulate_random_effects(
    terms: Sequence[RandomTerm], loadings: Sequence[Floats], sd: float
) -> pd.DataFrame:
    rows = []
    for term, loading in zip(terms, loadings, strict=True):
        covariance = loading @ loading.T
        relative_sds = np.sqrt(np.diag(covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = covariance[:, 0] / (relative_sds * relative_sds[0])
        correlation[0] = np.nan
        if not term.correlated:
            correlation[:] = np.nan
        for effect, size, with_first in zip(
            term.effects, relative_sds * sd, correlation, strict=True
        ):
            rows.append((term.unit, effect, size, with_first))
    return pd.DataFrame(rows, columns=["unit", "effect", "sd", "correlation"])
