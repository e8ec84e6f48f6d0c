"""A smooth computed once more: SciPy's natural spline, and the likelihood of a mixed model."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from analysis.statistics.reading_regression import basis, fit_smooth


def columns(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """The natural spline of 1 at one knot and 0 at the others, for each; lines beyond."""
    spline = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return spline(inside) + (x - inside)[:, None] * spline(inside, 1)


def penalty(knots: np.ndarray) -> np.ndarray:
    """The integral of two second derivatives: Simpson's rule is exact, for each is a line."""
    bent = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")

    def product(at: np.ndarray) -> np.ndarray:
        second = bent(at, 2)
        return second[:, :, None] * second[:, None, :]

    left, right = knots[:-1], knots[1:]
    parts = product(left) + 4 * product((left + right) / 2) + product(right)
    return np.einsum("i,ijk->jk", (right - left) / 6, parts)


def drawn(n: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, z = rng.gamma(3, 2, n), rng.normal(size=n)
    y = 1 + 0.1 * z + 0.3 * np.sin(x / 2) + rng.normal(size=n) * 0.3
    return y, np.column_stack([np.ones(n), z]), x


class Again:
    """The restricted likelihood of y = X b + Z u + e, with u of the columns that are penalised."""

    def __init__(self, y: np.ndarray, linear: np.ndarray, x: np.ndarray, n_knots: int) -> None:
        self.y, self.knots = y, np.quantile(np.unique(x), np.linspace(0, 1, n_knots))
        rows = columns(x, self.knots)
        # An orthonormal basis of all vectors whose spline sums to zero over the data.
        self.centring = np.linalg.svd(rows.sum(axis=0)[None, :])[2][1:].T
        self.design = np.hstack([linear, rows @ self.centring])
        inner = self.centring.T @ penalty(self.knots) @ self.centring
        self.n_linear = linear.shape[1]
        values, vectors = np.linalg.eigh(inner)
        assert values[0] < 1e-9 * values[1]
        own = self.design[:, self.n_linear :] @ vectors
        self.free = np.hstack([linear, own[:, :1]])
        self.bent = own[:, 1:] / np.sqrt(values[1:])
        self.whole = np.zeros((self.design.shape[1],) * 2)
        self.whole[self.n_linear :, self.n_linear :] = inner

    def restricted(self, log_weight: float) -> tuple[float, float]:
        """Minus the restricted log-likelihood, and the residual variance that maximises it."""
        n, p = self.free.shape
        v = np.eye(n) + self.bent @ self.bent.T * np.exp(-log_weight)
        inverse = np.linalg.inv(v)
        inner = self.free.T @ inverse @ self.free
        left = self.y - self.free @ np.linalg.solve(inner, self.free.T @ inverse @ self.y)
        variance = float(left @ inverse @ left) / (n - p)
        logs = np.linalg.slogdet(v)[1] + np.linalg.slogdet(inner)[1]
        return ((n - p) * (np.log(2 * np.pi * variance) + 1) + logs) / 2, variance

    def found(self, at: np.ndarray) -> dict[str, object]:
        best = minimize_scalar(
            lambda one: self.restricted(one)[0], bounds=(-15, 20), method="bounded",
            options={"xatol": 1e-9},
        )  # fmt: skip
        reml, variance = self.restricted(float(best.x))
        inverse = np.linalg.inv(self.design.T @ self.design + np.exp(best.x) * self.whole)
        beta = inverse @ self.design.T @ self.y
        own = slice(self.n_linear, None)
        rows = columns(at, self.knots) @ self.centring
        middle = rows @ beta[own]
        half = 1.959964 * np.sqrt(variance * np.diag(rows @ inverse[own, own] @ rows.T))
        return {
            "reml": reml,
            "variance": variance,
            "edf": float(np.trace((inverse @ self.design.T @ self.design)[own, own])),
            "linear": beta[: self.n_linear],
            "curve": np.stack([middle, middle - half, middle + half]),
            "fitted": self.design @ beta,
        }


@pytest.mark.parametrize(("n", "n_knots"), [(60, 6), (120, 4), (45, 9)])
def test_a_smooth_is_the_mixed_model_of_its_bends(n, n_knots):
    y, linear, x = drawn(n)
    at = np.array([-3.0, x.min(), 1.5, 4.0, 7.7, x.max(), 40.0])
    again = Again(y, linear, x, n_knots)
    wanted, own = again.found(at), fit_smooth(y, linear, x, n_knots)
    assert own.knots == pytest.approx(again.knots)
    assert own.reml == pytest.approx(wanted["reml"], rel=1e-9)
    assert own.variance == pytest.approx(wanted["variance"], rel=1e-5)
    assert own.edf == pytest.approx(wanted["edf"], rel=1e-4)
    assert 1.5 < own.edf < n_knots - 1
    assert own.beta[:2] == pytest.approx(wanted["linear"], rel=1e-4)
    assert np.stack(own.curve(at)) == pytest.approx(wanted["curve"], rel=1e-4, abs=1e-5)
    assert own.predict(linear, x) == pytest.approx(wanted["fitted"], rel=1e-4)


def test_the_spline_is_scipys_natural_one_and_a_line_beyond_its_ends():
    knots = np.array([0.0, 1.0, 3.0, 4.0, 9.0, 9.5])
    at = np.linspace(-6, 15, 300)
    assert basis(at, knots) == pytest.approx(columns(at, knots), abs=1e-9)
    assert basis(at, knots[:3]) == pytest.approx(columns(at, knots[:3]), abs=1e-9)


def test_as_many_values_as_knots_are_enough():
    x = np.arange(60) % 6.0
    y = x**2 + np.random.default_rng(1).normal(size=60)
    own = fit_smooth(y, np.ones((60, 1)), x)
    assert own.knots == pytest.approx(np.arange(6.0))
    assert own.edf > 2
    with pytest.raises(ValueError, match="5 different values"):
        fit_smooth(y, np.ones((60, 1)), np.minimum(x, 4))
