"""Mixed models with correlated slopes against R's ordinal, their own gradient, and the rule."""

import numpy as np
import pytest

from analysis.statistics.crossed import AS_DECLARED, NO_SLOPES, fit_by_rule, optimum
from analysis.statistics.laplace import Laplace, RandomTerm
from analysis.statistics.resample import codes
from tests.analysis.rated_study import latent

# What R 4.2.2 with ordinal 2022.11.16 says of rated(2, n_people=14, frames=10), by
#   clmm(factor(rating) ~ s + l + sl + (1 + l | participant) + (1 | unit))
# It takes R eleven seconds. findings/test_designs_from_csv.py asks ordinal anew.
_ESTIMATES = [1.45280590, -0.35873017, -1.09537708]
_ERRORS = [0.33259573, 0.46033241, 0.63057349]
_THRESHOLDS = [-1.52886677, -0.56083054, 0.25590568, 1.02702235, 1.95815450, 2.99891803]
_LOGLIK = -249.5957


def rated(seed, n_people=24, frames=12, effects=(-0.5, -0.5, -1.0), slope=0.9):
    rng = np.random.default_rng(seed)
    rows = latent(rng, n_people, frames, effects)
    structure, length = 0.5 - rows["structure"], 0.5 - rows["length"]
    moved = rng.normal(0, slope, n_people)[rows["person"]] * length * 2
    rating = np.clip(np.round(rows["rating"] + moved), 1, 7).astype(int)
    return rows.assign(
        participant="p" + rows["person"].astype(str),
        unit="f" + rows["frame"].astype(str),
        rating=rating,
        s=structure,
        l=length,
        sl=structure * length,
    )


def terms(rows, *, slopes=True):
    one = np.ones((len(rows), 1))
    with_slope = np.column_stack([one, rows["l"]]) if slopes else one
    names = ("1", "l") if slopes else ("1",)
    return [
        RandomTerm("participant", codes(rows["participant"])[0], names, with_slope),
        RandomTerm("frame", codes(rows["unit"])[0], ("1",), one),
    ]


def fixed(rows):
    return rows[["s", "l", "sl"]]


@pytest.mark.parametrize("points", [2, 7])
def test_the_gradient_is_the_derivative_of_the_likelihood(points):
    rows = rated(1)
    answer = np.unique(np.minimum(rows["rating"], points), return_inverse=True)[1]
    problem = Laplace(answer.astype(np.intp), fixed(rows).to_numpy(), terms(rows))
    at = problem.layout.start(answer, 0.5) + np.random.default_rng(2).normal(
        0, 0.1, len(problem.layout.is_diagonal)
    )
    _, gradient = problem.negative(at)
    step = 1e-5
    for place, own in enumerate(gradient):
        moved = np.zeros(len(at))
        moved[place] = step
        change = problem.negative(at + moved)[0] - problem.negative(at - moved)[0]
        assert own == pytest.approx(change / (2 * step), abs=1e-4)


def test_ratings_with_a_correlated_slope_are_fitted_as_ordinal_fits_them():
    rows = rated(2, n_people=14, frames=10)
    own = optimum(rows["rating"].to_numpy(), fixed(rows), terms(rows)).model()
    assert not own.singular
    assert own.coefficients["estimate"].to_numpy() == pytest.approx(_ESTIMATES, abs=0.01)
    errors = own.coefficients["std_error"].to_numpy()
    assert errors == pytest.approx(_ERRORS, rel=0.01, abs=0.01)
    assert own.thresholds == pytest.approx(_THRESHOLDS, abs=0.02)
    assert own.loglik == pytest.approx(_LOGLIK, abs=0.1)


def test_a_model_that_is_not_singular_stays_as_declared():
    rows = rated(2)
    model, left_out = fit_by_rule(rows["rating"].to_numpy(), fixed(rows), terms(rows))
    assert left_out == AS_DECLARED
    assert set(model.random["effect"]) == {"1", "l"}


def test_a_slope_that_varies_by_nothing_is_left_out_and_the_model_says_so():
    rows = rated(5, slope=0.0)
    shuffled = rows.assign(rating=np.random.default_rng(3).permutation(rows["rating"]))
    model, left_out = fit_by_rule(shuffled["rating"].to_numpy(), fixed(rows), terms(rows))
    assert left_out == NO_SLOPES
    assert list(model.random["effect"]) == ["1", "1"]


def test_higher_ratings_have_positive_effects_and_the_truth_lies_within():
    rows = rated(3, n_people=48, frames=24, effects=(-1.0, -0.5, 0.0), slope=0.0)
    model = optimum(rows["rating"].to_numpy(), fixed(rows), terms(rows, slopes=False)).model()
    found = model.coefficients.set_index("term")
    for term, value in {"s": 0.5, "l": 1.0, "sl": 0.0}.items():
        assert abs(found.loc[term, "estimate"] - value) < 3 * found.loc[term, "std_error"]
    assert found.loc["l", "low"] > 0


def test_answers_that_are_all_the_same_are_refused():
    rows = rated(1).assign(rating=4)
    with pytest.raises(ValueError, match="all answers are the same"):
        optimum(rows["rating"].to_numpy(), fixed(rows), terms(rows)).model()
