"""A smooth beside linear predictors: R's mgcv fits it again, and it is held against a line."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.reading_regression import basis, delta_loglik, delta_smooth, fit_smooth
from tests.prerequisites import MGCV

_R = """library(mgcv)
rows <- read.csv("rows.csv")
fit <- gam(y ~ z + s(x, bs = "cr", k = 6), data = rows, method = "REML")
at <- data.frame(x = c(1, 5, 10, 30), z = 0)
told <- predict(fit, at, type = "terms", terms = "s(x)", se.fit = TRUE)
write.csv(data.frame(told$fit, told$se.fit), "curve.csv", row.names = FALSE)
write.csv(c(summary(fit)$edf, fit$gcv.ubre, coef(fit)[2], fit$sig2), "rest.csv", row.names = FALSE)
"""
SHAPES = {"bent": lambda x: 0.2 * np.log1p(x), "wave": lambda x: 0.2 * np.sin(x)}


def drawn(shape, n=400, seed=3):
    rng = np.random.default_rng(seed)
    x, z = rng.gamma(3, 2, n), rng.normal(size=n)
    y = 1 + 0.1 * z + shape(x) + rng.normal(size=n) * 0.2
    return y, np.column_stack([np.ones(n), z]), x


@pytest.mark.parametrize("name", SHAPES)
def test_a_smooth_is_fitted_as_mgcv_fits_it(tmp_path, name):
    script = MGCV.require()
    y, linear, x = drawn(SHAPES[name])
    pd.DataFrame({"y": y, "x": x, "z": linear[:, 1]}).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "model.R").write_text(_R)
    subprocess.run([script, "model.R"], cwd=tmp_path, check=True, capture_output=True)
    own = fit_smooth(y, linear, x)
    edf, reml, slope, variance = pd.read_csv(tmp_path / "rest.csv").iloc[:, 0]
    assert [own.edf, own.reml, own.beta[1], own.variance] == pytest.approx(
        [edf, reml, slope, variance], rel=1e-4
    )
    theirs = pd.read_csv(tmp_path / "curve.csv")
    middle, low, high = own.curve(np.array([1.0, 5.0, 10.0, 30.0]))
    # Beyond the data, too, where the curve is a line.
    assert middle == pytest.approx(theirs.iloc[:, 0].to_numpy(), abs=1e-4)
    assert (high - low) / 2 / 1.959964 == pytest.approx(theirs.iloc[:, 1].to_numpy(), rel=1e-3)


def test_a_straight_line_needs_one_degree_of_freedom():
    y, linear, x = drawn(lambda x: 0.03 * x)
    assert fit_smooth(y, linear, x).edf == pytest.approx(1, abs=0.01)


def test_the_spline_goes_through_its_values_at_the_knots():
    knots = np.array([0.0, 1.0, 3.0, 4.0, 9.0])
    assert basis(knots, knots) == pytest.approx(np.eye(5), abs=1e-12)


def test_held_out_words_tell_a_bend_from_a_line():
    unit = np.arange(400) // 10
    y, linear, x = drawn(SHAPES["wave"])
    bent = delta_smooth(y, linear, x, unit)
    assert bent.low > 0
    y, linear, x = drawn(lambda x: 0.03 * x)
    straight = delta_smooth(y, linear, x, unit)
    assert abs(straight.estimate) < 0.01 < bent.estimate
    assert delta_loglik(y, linear, np.column_stack([linear, x]), unit).low > 0


def test_fewer_values_than_knots_are_refused():
    with pytest.raises(ValueError, match="3 different values, fewer than"):
        fit_smooth(np.zeros(9), np.ones((9, 1)), np.arange(9) % 3.0)
