"""Mixed models and held-out words computed once more: densely, by brute force, fold by fold."""

from dataclasses import replace
from math import log, pi, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from analysis.statistics import crossed
from analysis.statistics.crossed import optimum
from analysis.statistics.laplace import Laplace, Parameters, RandomTerm
from analysis.statistics.linear_mixed import (
    _Profiled,
    _tabulate_random_effects,
    fit_linear,
    fit_linear_by_rule,
)
from analysis.statistics.reading_regression import delta_loglik, delta_smooth, fit_smooth, slope

PEOPLE, FRAMES = 6, 4
PERSON, FRAME = (each.ravel() for each in np.indices((PEOPLE, FRAMES)))
N = PEOPLE * FRAMES


def design(seed: int, *, correlated: bool = True) -> tuple[np.ndarray, list[RandomTerm]]:
    """A predictor, and terms: people's intercepts and slopes, frames' intercepts."""
    x = np.random.default_rng(seed).choice([-0.5, 0.5], N)
    both = np.column_stack([np.ones(N), x])
    person = RandomTerm("person", PERSON, ("1", "x"), both, correlated)
    return x, [person, RandomTerm("frame", FRAME, ("1",), np.ones((N, 1)))]


def loaded(terms: list[RandomTerm], loadings: list[np.ndarray]) -> np.ndarray:
    """Return what each independent effect adds to each answer, shape ``(n, effects)``."""
    columns = []
    for term, loading in zip(terms, loadings, strict=True):
        own = term.columns @ loading
        for level in range(term.level.max() + 1):
            columns += [column * (term.level == level) for column in own.T]
    return np.column_stack(columns)


@pytest.mark.parametrize("points", [2, 4])
def test_laplaces_approximation_is_the_one_by_brute_force(points):
    x, terms = design(1)
    rng = np.random.default_rng(2)
    answer = rng.permutation(np.arange(N) % points)
    at = np.array([-0.6, *([0.1, -0.4][: points - 2]), 0.7, 0.8, -0.3, 0.5, 0.6])
    cuts = np.cumsum([at[0], *np.exp(at[1 : points - 1])])
    ends = np.array([-np.inf, *cuts, np.inf])
    z = loaded(terms, [np.array([[0.8, 0], [-0.3, 0.5]]), np.array([[0.6]])])

    def each(eta: np.ndarray) -> np.ndarray:
        return np.log(expit(ends[answer + 1] - eta) - expit(ends[answer] - eta))

    def minus(u: np.ndarray) -> float:
        return float(u @ u / 2 - each(x * 0.7 + z @ u).sum())

    mode = minimize(minus, np.zeros(z.shape[1]), options={"gtol": 1e-8}).x
    eta, step = x * 0.7 + z @ mode, 1e-4
    curve = -(each(eta + step) - 2 * each(eta) + each(eta - step)) / step**2
    determinant = np.linalg.slogdet(z.T @ (curve[:, None] * z) + np.eye(z.shape[1]))[1]
    found, _ = Laplace(answer, x[:, None], terms).negative(at)
    assert found == pytest.approx(minus(mode) + determinant / 2, abs=2e-5)


def test_the_parameters_of_a_cumulative_model_by_hand():
    _, terms = design(1)
    layout = Parameters(2, 1, terms)
    # Half of ten below the first cut, six below the second.
    found = layout.start(np.repeat([0, 1, 2], [5, 1, 4]), 0.3)
    assert found == pytest.approx([0, log(log(0.6 / 0.4)), 0, 0.3, 0, 0.3, 0.3])
    free, held = (None, None), (0.0, None)
    assert layout.bounds == [free, free, free, held, free, held, held]
    assert layout.thresholds(np.array([-1.0, log(2), 9])).tolist() == pytest.approx([-1, 1])
    assert layout.cut_slopes(np.array([-1.0, log(2), 9])).ravel() == pytest.approx([1, 0, 1, 2])
    first, second = layout.loadings(np.array([0, 0, 0, 1.0, 2, 3, 4]))
    assert (first.tolist(), second.tolist()) == ([[1, 0], [2, 3]], [[4]])
    alone = design(1, correlated=False)[1]
    assert [one.name for one in (*terms, alone[0])] == [
        "(1 + x | person)", "(1 | frame)", "(1 + x || person)",
    ]  # fmt: skip
    assert alone[0].places == [(0, 0), (1, 1)]


def test_the_covariance_is_the_inverse_of_second_derivatives_of_what_is_free():
    second = np.array([[4.0, 1, 9], [1, 2, 9], [9, 9, 9]])

    class Quadratic:
        def negative(self, at):
            return 0.0, second @ at

    found = crossed._compute_covariance(Quadratic(), np.ones(3), np.array([0, 1]))
    assert found.ravel() == pytest.approx([2 / 7, -1 / 7, 0, -1 / 7, 4 / 7, 0, 0, 0, 0])


def test_coefficients_random_effects_and_singular_loadings_by_hand():
    _, terms = design(1)
    layout = Parameters(1, 1, terms)
    best = np.array([-0.4, 0.9, 0.5, 0.3, 0.4, 0.2])
    table = crossed._tabulate_coefficients(["x"], layout, best, np.diag([0.04, 0.09, 1, 1, 1, 1]))
    assert table["term"].tolist() == ["Intercept", "x"]
    assert table["estimate"].tolist() == pytest.approx([0.4, 0.9])
    assert table["std_error"].tolist() == pytest.approx([0.2, 0.3])
    assert table["z"].tolist() == pytest.approx([2, 3])
    assert table["p"].tolist() == pytest.approx([0.0455003, 0.0026998], rel=1e-4)
    assert table["low"].tolist() == pytest.approx([0.4 - 0.391993, 0.9 - 0.587989], abs=1e-5)
    assert table["high"].tolist() == pytest.approx([0.4 + 0.391993, 0.9 + 0.587989], abs=1e-5)
    random = pd.concat(crossed._tabulate_random_effects(terms, layout, best))
    assert random["sd"].tolist() == pytest.approx([0.5, 0.5, 0.2])
    assert random["correlation"].tolist() == pytest.approx([np.nan, 0.6, np.nan], nan_ok=True)
    alone = design(1, correlated=False)[1]
    apart = pd.concat(
        crossed._tabulate_random_effects(alone, Parameters(1, 1, alone), best[[0, 1, 2, 4, 5]])
    )
    assert apart["correlation"].isna().all() and apart["sd"].tolist() == [0.5, 0.4, 0.2]
    # A slope of sd s moves a typical answer by s / 2 where its column is -.5 and .5.
    for sds, expected in (((0.5, 0.019, 0.2), True), ((0.5, 0.021, 0.2), False),
                          ((0.5, 0.4, 0.009), True)):  # fmt: skip
        at = np.array([0, 0, *sds])
        assert crossed._is_singular(alone, Parameters(1, 1, alone), at) is expected


def test_a_fit_of_choices_reaches_the_top_of_its_likelihood():
    x, terms = design(3)
    answer = (np.random.default_rng(4).random(N) < expit(0.5 + x)).astype(int)
    model = optimum(answer, pd.DataFrame({"x": x}), terms[1:]).model()
    problem = Laplace(answer, x[:, None], terms[1:])
    at = np.array([-model.coefficients["estimate"][0], model.coefficients["estimate"][1],
                   model.random["sd"].item()])  # fmt: skip
    value, gradient = problem.negative(at)
    assert model.loglik == pytest.approx(-value)
    assert np.abs(gradient[:2]).max() < 1e-3
    assert (model.n_rows, model.formula) == (N, "effects + (1 | frame)")


def test_the_errors_of_a_fit_count_that_standard_deviations_are_estimated():
    person, _ = (each.ravel() for each in np.indices((12, 6)))
    rng = np.random.default_rng(15)
    x = rng.choice([-0.5, 0.5], 72)
    chance = expit(0.8 + 2 * x + 1.5 * rng.normal(size=12)[person])
    answer = (rng.random(72) < chance).astype(int)
    terms = [RandomTerm("person", person, ("1",), np.ones((72, 1)))]
    model = optimum(answer, pd.DataFrame({"x": x}), terms).model()
    problem, sd = Laplace(answer, x[:, None], terms), model.random["sd"].item()
    at = np.array([*(model.coefficients["estimate"] * [-1, 1]), sd])
    steps = 1e-4 * np.eye(3)
    second = np.array([problem.negative(at + one)[1] - problem.negative(at - one)[1]
                       for one in steps]) / 2e-4  # fmt: skip
    whole = np.sqrt(np.diag(np.linalg.inv(second)))[:2]
    without = np.sqrt(np.diag(np.linalg.inv(second[:2, :2])))
    assert 0.1 < sd < 1 and np.abs(without / whole - 1).max() > 0.01
    assert model.coefficients["std_error"].to_numpy() == pytest.approx(whole, rel=1e-3)


@pytest.mark.parametrize("reml", [True, False])
def test_the_profiled_deviance_is_that_of_the_dense_normal_distribution(reml):
    x, terms = design(5)
    y = 0.05 * (np.random.default_rng(6).normal(size=N) + x)
    problem = _Profiled(y, np.column_stack([np.ones(N), x]), terms, reml=reml)
    assert problem.start.tolist() == [1, 0, 1, 1]
    solution = problem.solve(np.array([0.8, -0.3, 0.5, 0.6]))
    found, beta, rx = solution.deviance, solution.beta, solution.rx
    variance = solution.squares / problem.free
    z = loaded(terms, [np.array([[0.8, 0], [-0.3, 0.5]]), np.array([[0.6]])])
    v, fixed = z @ z.T + np.eye(N), np.column_stack([np.ones(N), x])
    inverse = np.linalg.inv(v)
    information = fixed.T @ inverse @ fixed
    own = np.linalg.solve(information, fixed.T @ inverse @ y)
    free = N - 2 if reml else N
    square = (y - fixed @ own) @ inverse @ (y - fixed @ own) / free
    expected = np.linalg.slogdet(v)[1] + free * (1 + log(2 * pi * square))
    expected += np.linalg.slogdet(information)[1] if reml else 0
    assert (found, variance) == pytest.approx((expected, square))
    assert beta == pytest.approx(own)
    assert rx @ rx.T == pytest.approx(information)


@pytest.mark.parametrize("reml", [True, False])
def test_a_linear_fit_has_the_errors_ends_and_ps_of_its_covariance(reml):
    x, terms = design(7)
    rng = np.random.default_rng(8)
    y = 2 + x + rng.normal(size=PEOPLE)[PERSON] + rng.normal(0, 0.4, N)
    fitted = fit_linear(y, pd.DataFrame({"x": x}), terms[1:], reml=reml)
    sd, spread = fitted.random["sd"].item(), fitted.residual_sd
    v = sd**2 * (FRAME[:, None] == FRAME) + spread**2 * np.eye(N)
    fixed = np.column_stack([np.ones(N), x])
    errors = np.sqrt(np.diag(np.linalg.inv(fixed.T @ np.linalg.inv(v) @ fixed)))
    found = fitted.coefficients
    assert found["std_error"].to_numpy() == pytest.approx(errors)
    assert found["t"].to_numpy() == pytest.approx(found["estimate"] / errors)
    assert found["low"].to_numpy() == pytest.approx(found["estimate"] - 1.959964 * errors)
    assert found["high"].to_numpy() == pytest.approx(found["estimate"] + 1.959964 * errors)
    assert found["p"].to_numpy() == pytest.approx(2 * norm.sf(np.abs(found["t"])))


def test_what_varies_between_levels_is_told_from_the_loadings():
    loadings = [np.array([[0.5, 0], [0.3, 0.4]]), np.array([[0.2]])]
    random = _tabulate_random_effects(design(1)[1], loadings, 2.0)
    assert random["sd"].tolist() == pytest.approx([1, 1, 0.4])
    assert random["correlation"].tolist() == pytest.approx([np.nan, 0.6, np.nan], nan_ok=True)
    assert (
        _tabulate_random_effects(design(1, correlated=False)[1], loadings, 2.0)["correlation"]
        .isna()
        .all()
    )


def test_slopes_that_vary_by_nothing_are_left_out_after_the_correlations():
    x = np.where((PERSON + FRAME) % 2 == 0, 0.5, -0.5)
    terms = [replace(design(9)[1][0], columns=np.column_stack([np.ones(N), x])), design(9)[1][1]]
    rng = np.random.default_rng(10)
    y = x + rng.normal(size=PEOPLE)[PERSON] + rng.normal(size=FRAMES)[FRAME]
    y += rng.normal(0, 0.3, N)
    by_slope = np.bincount(PERSON, (y - y.mean()) * x) / np.bincount(PERSON, x**2)
    flat = y - (by_slope - by_slope.mean())[PERSON] * x
    fitted = fit_linear_by_rule(flat, pd.DataFrame({"x": x}), terms)
    assert fitted.left_out == "correlations and slopes of no variance"
    assert fitted.random[["unit", "effect"]].to_numpy().tolist() == [
        ["person", "1"],
        ["frame", "1"],
    ]
    whole = fit_linear_by_rule(flat, pd.DataFrame({"x": x}), [terms[1]])
    assert whole.left_out == ""


def test_a_clustered_slope_leaves_each_cluster_out_in_turn():
    rng = np.random.default_rng(11)
    unit = np.repeat(np.arange(8), 3)
    x = np.column_stack([np.ones(24), rng.normal(size=24)])
    y = 1 + 0.5 * x[:, 1] + rng.normal(size=24) + rng.normal(size=8)[unit]
    beta, *_ = np.linalg.lstsq(x, y, rcond=None)
    left = [np.linalg.lstsq(x[unit != one], y[unit != one])[0][1] for one in range(8)]
    error = sqrt(7 / 8 * np.sum((np.array(left) - beta[1]) ** 2))
    found = slope(y, x, [unit])
    half = student.ppf(0.975, 7) * error
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (beta[1], beta[1] - half, beta[1] + half)
    )


@pytest.mark.parametrize("units", [4, 20])
def test_words_held_out_are_told_by_the_other_folds(units):
    """In as many folds as there are units, at most ten."""
    rng = np.random.default_rng(12)
    unit = np.repeat(np.arange(units), 5)
    n = len(unit)
    base = np.column_stack([np.ones(n), rng.normal(size=n)])
    more = rng.normal(size=(n, 1))
    y = base[:, 1] + 0.5 * more[:, 0] + rng.normal(size=n)
    fold = unit // max(units // 10, 1)
    gained = np.empty(n)
    for one in set(fold):
        out, told = fold == one, []
        for x in (np.hstack([base, more]), base):
            beta, *_ = np.linalg.lstsq(x[~out], y[~out], rcond=None)
            left = y[~out] - x[~out] @ beta
            spread = sqrt(left @ left / (len(left) - x.shape[1]))
            told.append(norm.logpdf(y[out], x[out] @ beta, spread))
        gained[out] = told[0] - told[1]
    mean = gained.mean()
    sums = np.bincount(unit, (gained - mean) / n)
    half = student.ppf(0.975, units - 1) * sqrt(units / (units - 1) * np.sum(sums**2))
    found = delta_loglik(y, base, np.hstack([base, more]), unit)
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (mean, mean - half, mean + half)
    )


def test_what_a_smooth_tells_beyond_a_line_is_told_by_the_other_folds():
    rng = np.random.default_rng(13)
    unit = np.repeat(np.arange(5), 20)
    base, x = np.column_stack([np.ones(100), rng.normal(size=100)]), rng.normal(size=100)
    y = np.sin(2 * x) + 0.2 * rng.normal(size=100)
    gained = np.empty(100)
    for one in range(5):
        out = unit == one
        bent = fit_smooth(y[~out], base[~out], x[~out])
        straight = np.column_stack([base, x])
        beta, *_ = np.linalg.lstsq(straight[~out], y[~out], rcond=None)
        left = y[~out] - straight[~out] @ beta
        line = norm.logpdf(y[out], straight[out] @ beta, sqrt(left @ left / (len(left) - 3)))
        curve = norm.logpdf(y[out], bent.predict(base[out], x[out]), sqrt(bent.variance))
        gained[out] = curve - line
    found = delta_smooth(y, base, x, unit)
    assert found.estimate == pytest.approx(gained.mean())
    sums = np.bincount(unit, gained - gained.mean()) / 100
    assert found.high - found.estimate == pytest.approx(
        student.ppf(0.975, 4) * sqrt(5 / 4 * np.sum(sums**2))
    )


def test_slopes_that_fall_where_intercepts_rise_are_fitted_as_well_and_stay():
    """With the predictor turned over, the correlation turns and nothing else does."""
    person, frame = (each.ravel() for each in np.indices((10, 8)))
    x = np.where((person + frame) % 2 == 0, 0.5, -0.5)
    rng = np.random.default_rng(14)
    levels = rng.normal(size=10)
    y = levels[person] + (1.2 * rng.normal(size=10) - 1.2 * levels)[person] * x
    y += rng.normal(0, 0.5, 80)
    found = []
    for own in (x, -x):
        columns = np.column_stack([np.ones(80), own])
        terms = [RandomTerm("person", person, ("1", "x"), columns)]
        found.append(fit_linear_by_rule(y, pd.DataFrame({"x": own}), terms))
    one, two = found
    assert (one.left_out, one.singular) == ("", False)
    assert one.random["correlation"][1] < -0.3
    assert one.loglik == pytest.approx(two.loglik, abs=1e-6)
    assert one.random["correlation"][1] == pytest.approx(-two.random["correlation"][1], abs=1e-3)
    assert one.random["sd"].tolist() == pytest.approx(two.random["sd"].tolist(), rel=1e-3)


@pytest.mark.parametrize("reml", [True, False])
def test_the_gradient_is_that_of_the_profiled_deviance(reml):
    x, terms = design(5)
    y = 0.05 * (np.random.default_rng(6).normal(size=N) + x)
    problem = _Profiled(y, np.column_stack([np.ones(N), x]), terms, reml=reml)
    theta, step = np.array([0.8, -0.3, 0.5, 0.6]), 1e-5
    deviance, gradient = problem.deviance_and_gradient(theta)
    assert deviance == problem.solve(theta).deviance
    differences = [
        (problem.solve(theta + move).deviance - problem.solve(theta - move).deviance) / (2 * step)
        for move in step * np.eye(len(theta))
    ]
    assert gradient == pytest.approx(differences, rel=1e-5, abs=1e-5)
    # A column's sign is free: the standard deviation becomes positive.
    assert problem.turn(np.array([-0.8, -0.3, 0.5, -0.6])) == pytest.approx([0.8, 0.3, 0.5, 0.6])
