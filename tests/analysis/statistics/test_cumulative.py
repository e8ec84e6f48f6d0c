"""The cumulative-link mixed model against R's ordinal, and against effects that are known."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.cumulative import fit_cumulative
from tests.analysis.rated_study import latent
from tests.prerequisites import ORDINAL

_R = """
library(ordinal)
rows <- read.csv("rows.csv")
model <- clmm(factor(rating) ~ s + l + sl + (1 | participant) + (1 | unit), data = rows)
write.csv(coef(summary(model)), "coefficients.csv")
write(c(as.numeric(logLik(model)), model$ST$participant, model$ST$unit), "rest.txt")
"""


def rated(seed, n_people=24, frames=12, effects=(-0.5, -0.5, -1.0)):
    rows = latent(np.random.default_rng(seed), n_people, frames, effects)
    structure, length = 0.5 - rows["structure"], 0.5 - rows["length"]
    return rows.assign(
        participant="p" + rows["person"].astype(str),
        unit="f" + rows["frame"].astype(str),
        s=structure,
        l=length,
        sl=structure * length,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_estimates_errors_and_likelihood_are_those_of_ordinal(tmp_path, seed):
    script = ORDINAL.require()
    rows = rated(seed)
    own = fit_cumulative(rows, rows[["s", "l", "sl"]])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "model.R").write_text(_R)
    subprocess.run([script, "model.R"], cwd=tmp_path, check=True, capture_output=True)
    theirs = pd.read_csv(tmp_path / "coefficients.csv", index_col=0)
    loglik, participant, unit = map(float, (tmp_path / "rest.txt").read_text().split())
    fixed = theirs.loc[["s", "l", "sl"]]
    assert own.coefficients["estimate"].to_numpy() == pytest.approx(fixed["Estimate"], abs=0.005)
    assert own.coefficients["std_error"].to_numpy() == pytest.approx(fixed["Std. Error"], rel=0.01)
    assert own.thresholds == pytest.approx(theirs.iloc[:-3]["Estimate"].to_numpy(), abs=0.005)
    assert own.loglik == pytest.approx(loglik, abs=0.01)
    assert (own.sd_participant, own.sd_unit) == pytest.approx((participant, unit), abs=0.01)


def test_higher_ratings_have_positive_effects_and_the_truth_lies_within():
    rows = rated(3, n_people=48, frames=24, effects=(-1.0, -0.5, 0.0))
    found = fit_cumulative(rows, rows[["s", "l", "sl"]]).coefficients.set_index("term")
    truth = {"s": 0.5, "l": 1.0, "sl": 0.0}
    for term, value in truth.items():
        assert abs(found.loc[term, "estimate"] - value) < 3 * found.loc[term, "std_error"]
    assert found.loc["l", "low"] > 0


def test_a_variance_of_nothing_is_named_singular():
    rows = rated(4)
    rng = np.random.default_rng(4)
    rows = rows.assign(rating=rng.integers(1, 6, len(rows)))
    found = fit_cumulative(rows, rows[["s"]])
    assert found.singular
    assert np.isfinite(found.coefficients["std_error"]).all()


def test_ratings_that_never_differ_are_refused():
    rows = rated(5).assign(rating=4)
    with pytest.raises(ValueError, match="one point"):
        fit_cumulative(rows, rows[["s"]])
