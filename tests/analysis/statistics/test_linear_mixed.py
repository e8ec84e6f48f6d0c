"""The linear mixed model gives what lme4 gives, and the held-out gain what was put in."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.laplace import RandomTerm
from analysis.statistics.linear_mixed import LinearMixedModel, fit_linear, fit_linear_by_rule
from analysis.statistics.reading_regression import delta_loglik, slope
from tests import prerequisites


def rows(people: int = 40, frames: int = 24) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    cells = [(p, i, rng.choice([-0.5, 0.5])) for p in range(people) for i in range(frames)]
    data = pd.DataFrame(cells, columns=["p", "i", "c"])
    of_p = rng.normal(0, 0.2, (people, 2)) @ np.array([[1, 0.3], [0, 0.4]])
    of_i = rng.normal(0, 0.1, (frames, 2))
    data["y"] = (
        6 + 0.05 * data.c + of_p[data.p, 0] + of_p[data.p, 1] * data.c + of_i[data.i, 0]
        + of_i[data.i, 1] * 0.5 * data.c + rng.normal(0, 0.3, len(data))
    )  # fmt: skip
    return data


def terms(data: pd.DataFrame) -> list[RandomTerm]:
    columns = np.column_stack([np.ones(len(data)), data.c])
    return [RandomTerm(unit, data[unit].to_numpy(), ("1", "c"), columns) for unit in ("p", "i")]


def test_estimates_and_errors_are_those_of_lme4():
    data = rows()
    fitted = fit_linear(data["y"].to_numpy(), data[["c"]], terms(data))
    # lmer(y ~ c + (1 + c | p) + (1 + c | i)), R 4.2, lme4 1.1-31.
    found = fitted.coefficients
    assert found["estimate"].to_numpy() == pytest.approx([5.9724177, 0.0565217], abs=1e-5)
    assert found["std_error"].to_numpy() == pytest.approx([0.0388498, 0.0272867], rel=1e-3)
    assert fitted.residual_sd == pytest.approx(0.3162729, rel=1e-4)
    assert fitted.loglik == pytest.approx(-332.95611, abs=1e-3)
    assert fitted.random["sd"].to_numpy() == pytest.approx(
        [0.2022253, 0.0766597, 0.0956554, 0.0612956], rel=2e-3
    )
    assert fitted.singular


@pytest.fixture(scope="module")
def by_rule() -> LinearMixedModel:
    data = rows()
    return fit_linear_by_rule(data["y"].to_numpy(), data[["c"]], terms(data))


def test_a_singular_fit_loses_correlations_first(by_rule):
    assert by_rule.left_out == "correlations"
    assert not by_rule.singular
    assert by_rule.random["correlation"].isna().all()


@pytest.fixture(scope="module")
def in_r(tmp_path_factory) -> dict[str, list[float]]:
    """What lme4 finds, of both designs in one start of R."""
    prerequisites.LME4.require()
    folder = tmp_path_factory.mktemp("in_r")
    script = "suppressMessages(library(lme4));"
    for name, (data, effects) in DESIGNS.items():
        data().to_csv(folder / f"{name}.csv", index=False)
        script += (
            f"d <- read.csv('{name}.csv');"
            f"m <- lmer(y ~ c + ({effects}| p) + ({effects}| i), d);"
            "cat(fixef(m), sqrt(diag(vcov(m))), as.data.frame(VarCorr(m))$sdcor, logLik(m), '\\n');"
        )
    told = subprocess.run(
        ["Rscript", "-e", script], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = told.stdout.splitlines()
    return {name: [*map(float, one.split())] for name, one in zip(DESIGNS, lines, strict=True)}


def few_rows() -> pd.DataFrame:
    return rows(20, 12)


DESIGNS = {"intercepts": (few_rows, "1 "), "slopes": (rows, "1 + c |")}


def agrees(fitted: LinearMixedModel, theirs: list[float]) -> bool:
    found = [*fitted.coefficients["estimate"], *fitted.coefficients["std_error"]]
    spreads = [*fitted.random["sd"], fitted.residual_sd]
    return [*found, *spreads, fitted.loglik] == pytest.approx(theirs, rel=1e-3)


def test_r_agrees_today_on_intercepts(in_r):
    data = few_rows()
    ones = np.ones((len(data), 1))
    both = [RandomTerm(unit, data[unit].to_numpy(), ("1",), ones) for unit in ("p", "i")]
    assert agrees(fit_linear(data["y"].to_numpy(), data[["c"]], both), in_r["intercepts"])


def test_r_agrees_today_on_slopes(in_r, by_rule):
    assert by_rule.left_out == "correlations"
    assert agrees(by_rule, in_r["slopes"])


def test_what_surprisal_adds_is_found_and_noise_adds_nothing():
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(60), 10)
    bits, length = rng.gamma(2, 3, 600), rng.integers(2, 10, 600).astype(float)
    y = 5.5 + 0.02 * length + 0.03 * bits + rng.normal(0, 0.1, 600)
    base = np.column_stack([np.ones(600), length])
    told = slope(y, np.column_stack([base, bits]), [unit])
    assert told.low < 0.03 < told.high
    assert delta_loglik(y, base, np.column_stack([base, bits]), unit).low > 0.1
    noise = np.column_stack([base, rng.normal(size=600)])
    assert abs(delta_loglik(y, base, noise, unit).estimate) < 0.02
