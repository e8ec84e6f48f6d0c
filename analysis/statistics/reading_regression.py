"""A smooth of one predictor plus linear ones: a penalised cubic regression spline by REML.

``y = Z g + f(x) + e``, where ``f`` is a natural cubic spline through knots at quantiles of ``x``
and its penalty the integral of its squared second derivative. The basis is that of section 5.3.1 of
Wood, S. N. (2017). Generalized Additive Models, 2nd edition (R's mgcv: ``s(x, bs = "cr")``), and
the smoothing parameter minimises the restricted likelihood of Wood, S. N. (2011). Fast stable
restricted maximum likelihood ... Journal of the Royal Statistical Society B, 73(1), equation 4, as
``gam(..., method = "REML")`` does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from analysis.statistics.clustered import several_way_variance, student_interval, student_quantile
from analysis.statistics.resample import LEVEL, Floats, combined_codes

N_KNOTS = 6
# Bounds of the smoothing parameter, relative to the cross-products: from no smoothing to a line.
_SPAN = (-20.0, 25.0)


@dataclass(frozen=True, slots=True)
class Smooth:
    """A fitted smooth curve.

    Attributes:
        edf: The effective degrees of freedom of the smooth; 1 is a straight line.
        reml: Minus the restricted log-likelihood.
        knots: Shape ``(k,)``, rising.
        beta: Shape ``(p + k - 1,)``: the linear coefficients, then the spline's.
        covariance: Their Bayesian posterior covariance, of shape ``(p + k - 1,) * 2``.
        variance: The residual variance.
        centring: Shape ``(k, k - 1)``: the transformation that makes the spline sum to zero over
            the data.
    """

    edf: float
    reml: float
    knots: Floats
    beta: Floats
    covariance: Floats
    variance: float
    centring: Floats

    def curve(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the smooth at the given values, and the ends of its pointwise 95% interval.

        Args:
            at: Shape ``(m,)``; beyond the knots the curve is linear.
        """
        rows = basis(at, self.knots) @ self.centring
        n = rows.shape[1]
        middle = rows @ self.beta[-n:]
        sd = np.sqrt(np.einsum("ij,jk,ik->i", rows, self.covariance[-n:, -n:], rows))
        half = norm.ppf((1 + LEVEL) / 2) * sd
        return middle, middle - half, middle + half

    def predict(self, linear: Floats, x: Floats) -> Floats:
        """Return the expected values for rows with these linear and smooth predictors."""
        return np.hstack([linear, basis(x, self.knots) @ self.centring]) @ self.beta


def fit_smooth(y: Floats, linear: Floats, x: Floats, n_knots: int = N_KNOTS) -> Smooth:
    """Fit numbers by linear predictors and one smooth predictor.

    Args:
        y: Shape ``(n,)``.
        linear: Shape ``(n, p)``, with an intercept.
        x: Shape ``(n,)``, with at least ``n_knots`` different values.
        n_knots: The number of knots of the spline.

    Raises:
        ValueError: There are fewer different values than knots.
    """
    values = np.unique(x)
    if len(values) < n_knots:
        raise ValueError(f"{len(values)} different values, fewer than {n_knots} knots")
    knots = np.quantile(values, np.linspace(0, 1, n_knots))
    rows, penalty = basis(x, knots), _make_penalty_matrix(knots)
    # The spline sums to zero over the data, since the intercept is a separate term.
    centring = qr(rows.sum(axis=0)[:, None])[0][:, 1:]
    design = np.hstack([linear, rows @ centring])
    full_penalty = np.zeros((design.shape[1],) * 2)
    n_linear = linear.shape[1]
    full_penalty[n_linear:, n_linear:] = centring.T @ penalty @ centring
    cross, right = design.T @ design, design.T @ y
    size = np.linalg.norm(cross[n_linear:, n_linear:]) / np.linalg.norm(full_penalty)
    eigen = np.linalg.eigvalsh(full_penalty[n_linear:, n_linear:])
    # A straight line is not penalised: it takes one of the spline's columns.
    bent = eigen[1:]
    n_free = n_linear + len(eigen) - len(bent)

    def parts(log_weight: float) -> tuple[float, Floats, float, Floats]:
        weight = size * np.exp(log_weight)
        inside = cross + weight * full_penalty
        beta = np.linalg.solve(inside, right)
        residual = y - design @ beta
        lack = float(residual @ residual + weight * beta @ full_penalty @ beta)
        scale = lack / (len(y) - n_free)
        determinants = np.linalg.slogdet(inside)[1] - float(np.log(weight * bent).sum())
        restricted = (len(y) - n_free) * (1 + np.log(2 * np.pi * scale)) + determinants
        return restricted / 2, beta, scale, inside

    best = minimize_scalar(
        lambda exponent: parts(exponent)[0], bounds=_SPAN, method="bounded", options={"xatol": 1e-8}
    )
    reml, beta, scale, inside = parts(float(best.x))
    inverse = np.asarray(np.linalg.inv(inside), dtype=np.float64)
    edf = float(np.trace((inverse @ cross)[n_linear:, n_linear:]))
    return Smooth(edf, reml, knots, beta, inverse * scale, scale, centring)


def basis(x: Floats, knots: Floats) -> Floats:
    """Return the columns of the cubic regression spline, parametrised by its values at the knots.

    Args:
        x: Shape ``(n,)``.
        knots: Shape ``(k,)``, rising.

    Returns:
        Shape ``(n, k)``.
    """
    bend = np.zeros((len(knots),) * 2)
    differences, bands = _make_bands(knots)
    bend[1:-1] = np.linalg.solve(bands, differences)
    inside = np.clip(x, knots[0], knots[-1])
    cell = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    step = np.diff(knots)[cell]
    left, right = knots[cell + 1] - inside, inside - knots[cell]
    rows = np.zeros((len(x), len(knots)))
    at = np.arange(len(x))
    rows[at, cell] += left / step
    rows[at, cell + 1] += right / step
    rows += ((left**3 / step - step * left) / 6)[:, None] * bend[cell]
    rows += ((right**3 / step - step * right) / 6)[:, None] * bend[cell + 1]
    beyond = x - inside
    for end, side in ((0, beyond < 0), (-1, beyond > 0)):
        rows[side] += beyond[side, None] * _end_slope(knots, bend, end)
    return rows


def _end_slope(knots: Floats, bend: Floats, end: int) -> Floats:
    """Return the first derivative at the first or the last knot, as a row."""
    first, second = (0, 1) if end == 0 else (len(knots) - 2, len(knots) - 1)
    step = knots[second] - knots[first]
    row = np.zeros(len(knots))
    row[[first, second]] = -1 / step, 1 / step
    inner = bend[1] if end == 0 else bend[-2]
    slope_row: Floats = row + (-step if end == 0 else step) / 6 * inner
    return slope_row


def _make_bands(knots: Floats) -> tuple[Floats, Floats]:
    step, n = np.diff(knots), len(knots)
    differences, bands = np.zeros((n - 2, n)), np.zeros((n - 2, n - 2))
    for i in range(n - 2):
        differences[i, i : i + 3] = 1 / step[i], -1 / step[i] - 1 / step[i + 1], 1 / step[i + 1]
        bands[i, i] = (step[i] + step[i + 1]) / 3
        if i + 1 < n - 2:
            bands[i, i + 1] = bands[i + 1, i] = step[i + 1] / 6
    return differences, bands


def _make_penalty_matrix(knots: Floats) -> Floats:
    differences, bands = _make_bands(knots)
    penalty_matrix: Floats = differences.T @ np.linalg.solve(bands, differences)
    return penalty_matrix


Codes = NDArray[np.intp]
RowMask = NDArray[np.bool_]
N_FOLDS = 10


@dataclass(frozen=True, slots=True)
class Slope:
    """A coefficient with its interval, of 95% by default, and the p value of no slope."""

    estimate: float
    low: float
    high: float
    p: float = float("nan")


def slope(y: Floats, x: Floats, clusters: list[Codes], level: float = LEVEL) -> Slope:
    """Return the last coefficient of a linear regression, with clustering in one or two ways.

    The variance of two ways is that of each, by the jackknife, less that of their intersections; it
    is at least that of ``several_way_variance``, and that of one way.

    Args:
        y: Shape ``(n,)``.
        x: Shape ``(n, p)``, with an intercept.
        clusters: The clusters in each way, of shape ``(n,)``, numbered from 0.
        level: The level of the interval.
    """
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ (x.T @ y)
    influence = (y - x @ beta) * (x @ inverse[:, -1])
    total, freedom = several_way_variance(influence, clusters)
    several = [way for way in clusters if way.max() > 0]
    jackknifed = [_jackknife_variance(y, x, way) for way in several]
    shared = several_way_variance(influence, [combined_codes(several)])[0] if several else 0.0
    between = sum(jackknifed) - (len(several) - 1) * shared
    variance = max(total, between, *jackknifed)
    estimate = float(beta[-1])
    return Slope(estimate, **student_interval(estimate, variance, freedom, level))


def _jackknife_variance(y: Floats, x: Floats, way: Codes) -> float:
    """Return the jackknife's variance of the last coefficient, each cluster left out in turn.

    The sandwich's variance is too low with few clusters (Bell, R. M. & McCaffrey, D. F. (2002).
    Bias reduction in standard errors for linear regression with multi-stage samples. Survey
    Methodology, 28(2), 169-181).
    """
    n, columns = int(way.max()) + 1, range(x.shape[1])
    squares = np.stack(
        [[np.bincount(way, x[:, i] * x[:, j], n) for j in columns] for i in columns], axis=-1
    )
    products = np.stack([np.bincount(way, x[:, i] * y, n) for i in columns], axis=-1)
    grams = x.T @ x - squares.transpose(1, 0, 2)
    coefficients_without = np.linalg.pinv(grams, hermitian=True) @ (x.T @ y - products)[:, :, None]
    moves = coefficients_without[:, -1, 0] - float(np.linalg.lstsq(x, y, rcond=None)[0][-1])
    return float((n - 1) / n * np.sum(moves**2))


def delta_loglik(y: Floats, base: Floats, other: Floats, unit: Codes) -> Slope:
    """Return the gain in held-out log-likelihood per word by other predictors.

    Words are divided into folds by unit, so that training and test words never share a sentence.
    Both models, including their residual variance, are fitted to the words of the other folds.

    Args:
        y: Shape ``(n,)``: the mean log reading time of each word.
        base: Shape ``(n, p)``: the predictors of the first model, with an intercept.
        other: Shape ``(n, q)``: those of the second model, which may include the first ones.
        unit: Shape ``(n,)``: the sentence, or the unit that its conditions share, from 0 without
            gaps.

    Returns:
        The mean over words in nats, with Student's interval clustered by unit.
    """

    def gain(out: RowMask) -> Floats:
        logliks = [_compute_loglik(y[~out], x[~out], y[out], x[out]) for x in (other, base)]
        return logliks[0] - logliks[1]

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

    def gain(out: RowMask) -> Floats:
        smooth = fit_smooth(y[~out], linear[~out], x[~out])
        residual = y[out] - smooth.predict(linear[out], x[out])
        bent = -0.5 * (np.log(2 * np.pi * smooth.variance) + residual**2 / smooth.variance)
        gains: Floats = bent - _compute_loglik(y[~out], straight[~out], y[out], straight[out])
        return gains

    return _mean_gain(gain, unit)


def _mean_gain(gain: Callable[[RowMask], Floats], unit: Codes) -> Slope:
    n_units = int(unit.max()) + 1
    fold = (unit * min(N_FOLDS, n_units)) // n_units
    gained = np.empty(len(unit))
    for number in range(int(fold.max()) + 1):
        out = fold == number
        gained[out] = gain(out)
    mean = float(gained.mean())
    variance, freedom = several_way_variance((gained - mean) / len(gained), [unit])
    half = float(student_quantile(np.array([freedom]))[0] * np.sqrt(variance))
    return Slope(mean, mean - half, mean + half)


def _compute_loglik(y: Floats, x: Floats, held_y: Floats, held_x: Floats) -> Floats:
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    free = max(len(y) - x.shape[1], 1)
    variance = max(float(((y - x @ beta) ** 2).sum()) / free, 1e-12)
    residual = held_y - held_x @ beta
    logliks: Floats = -0.5 * (np.log(2 * np.pi * variance) + residual**2 / variance)
    return logliks
