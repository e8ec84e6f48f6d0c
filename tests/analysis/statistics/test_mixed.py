import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit

from analysis.errors import AnalysisError
from analysis.statistics.mixed_model import Effects, _fit_with_gpboost, fit, readable
from tests.analysis.known_choices import EFFECTS, SD_ITEM, SD_PARTICIPANT, known_choices

INTERCEPTS = "construction + construction:judge + (1 | participant) + (1 | item)"
TERMS = ["Intercept", "construction b", "construction a, judge lstm", "construction b, judge lstm"]


def test_known_parameters_are_found_again_within_their_errors():
    rng = np.random.default_rng(2026)
    errors, covered, spreads = [], [], []
    for _ in range(15):
        found = fit(known_choices(rng), INTERCEPTS)
        rows = found.coefficients
        assert rows["term"].tolist() == TERMS
        errors.append(rows["estimate"] - EFFECTS)
        covered.append((rows["low"] <= EFFECTS) & (rows["high"] >= EFFECTS))
        spreads.append((found.sd("participant"), found.sd("item_id")))
    # Three standard errors of a mean of fifteen, of coefficients whose own are up to .6.
    assert (np.abs(np.mean(errors, axis=0)) < [0.17, 0.17, 0.47, 0.38]).all()
    assert (np.mean(covered, axis=0) >= 0.7).all()
    assert np.mean(covered) >= 0.88
    assert np.mean(spreads, axis=0) == pytest.approx([SD_PARTICIPANT, SD_ITEM], abs=0.1)


def test_without_clusters_the_standard_errors_are_those_of_plain_logistic_regression():
    rng = np.random.default_rng(5)
    n = 3000
    rows = pd.DataFrame(
        {
            "judge": "people",
            "participant": rng.integers(0, 30, n).astype(str),
            "item_id": rng.integers(0, 40, n).astype(str),
            "construction": rng.choice(["a", "b"], n),
            "chose_good": (rng.random(n) < 0.7).astype(float),
        }
    )
    found = fit(rows, "construction").coefficients
    design = sm.add_constant((rows["construction"] == "b").astype(float))
    plain = sm.GLM(rows["chose_good"], design, sm.families.Binomial()).fit()
    assert found["estimate"].to_numpy() == pytest.approx(plain.params.to_numpy(), abs=0.03)
    assert found["std_error"].to_numpy() == pytest.approx(plain.bse.to_numpy(), rel=0.1)


def test_participants_who_differ_widen_the_intercept_and_not_what_is_within_them():
    rows = known_choices(np.random.default_rng(1)).query("judge == 'people'")
    alike = rows.assign(participant=np.arange(len(rows)).astype(str))
    apart, together = (fit(one, "construction").coefficients["std_error"] for one in (alike, rows))
    assert together[0] > 1.3 * apart[0]
    assert together[1] == pytest.approx(apart[1], rel=0.15)


def always_right(rows, judge, construction):
    always = (rows["judge"] == judge) & (rows["construction"] == construction)
    return rows.assign(chose_good=rows["chose_good"].where(~always, 1.0))


@pytest.mark.parametrize(
    ("judge", "construction", "term"),
    [("lstm", "a", "construction a, judge lstm"), ("people", "b", "construction b")],
)
def test_a_judge_who_is_always_right_stays_by_a_penalty(judge, construction, term):
    rows = known_choices(np.random.default_rng(1))
    before = fit(rows).coefficients.set_index("term")
    found = fit(always_right(rows, judge, construction)).coefficients.set_index("term")
    assert found.index.tolist() == TERMS
    assert found["penalised"].tolist() == [one == term for one in TERMS]
    assert before.loc[term, "estimate"] + 1 < found.loc[term, "estimate"] < 9
    assert (found["std_error"] < 3).all()
    assert found.loc["Intercept", "estimate"] == pytest.approx(
        before.loc["Intercept", "estimate"], abs=0.15
    )


def test_people_who_are_always_right_in_the_first_construction_are_no_reference():
    rows = always_right(known_choices(np.random.default_rng(1)), "people", "a")
    found = fit(rows).coefficients.set_index("term")
    assert "construction a" in found.index
    assert "construction b" not in found.index
    assert found["penalised"].to_dict()["construction a"]


def test_people_who_are_always_right_everywhere_are_told_so():
    rows = known_choices(np.random.default_rng(1))
    for construction in ("a", "b"):
        rows = always_right(rows, "people", construction)
    with pytest.raises(AnalysisError, match="always right, or always wrong, in every"):
        fit(rows)


def test_what_the_fitting_library_refuses_names_the_model_and_what_to_do():
    one = Effects(("person",), (np.repeat(np.arange(2), 2),), np.ones((4, 1)))
    with pytest.raises(AnalysisError, match=r"^the mixed model: the fit failed: .*Try fewer terms"):
        _fit_with_gpboost(np.ones((4, 1)), np.full(4, np.nan), one)


def test_a_formula_of_ones_own_is_penalised_where_it_separates_and_nowhere_else():
    rows = known_choices(np.random.default_rng(1))
    rows = rows.assign(chose_good=rows["chose_good"].where(rows["judge"] == "people", 1.0))
    found = fit(rows, "judge + construction").coefficients.set_index("term")
    assert found["penalised"].to_dict() == {
        "Intercept": False, "judge lstm": True, "construction b": False,
    }  # fmt: skip
    assert 1 < found.loc["judge lstm", "estimate"] < 8


def with_slopes(rng, sd=0.8):
    """Judgments of people who differ in how much harder the construction b is to them."""
    rows = known_choices(rng).query("judge == 'people'").reset_index(drop=True)
    person = rows["participant"].astype(int).to_numpy()
    is_b = (rows["construction"] == "b").to_numpy()
    item = rows["item_id"].astype(int).to_numpy()
    logit = 1.2 + rng.normal(0, 0.6, 60)[item] + rng.normal(0, 0.8, 40)[person]
    logit += rng.normal(0, sd, 40)[person] * is_b
    return rows.assign(
        chose_good=(rng.random(len(rows)) < expit(logit)).astype(float), x=is_b.astype(float)
    )


def test_slopes_of_participants_widen_what_is_said_of_constructions():
    rows = with_slopes(np.random.default_rng(4))
    without, usual, slopes = (
        fit(rows, formula)
        for formula in (
            "construction + (1 | participant) + (1 | item)",
            "construction",
            "construction + (1 + x || participant) + (1 | item)",
        )
    )
    errors = [one.coefficients["std_error"][1] for one in (without, usual, slopes)]
    assert errors[0] * 1.1 < min(errors[1:])
    assert slopes.sd("participant, x") == pytest.approx(0.8, abs=0.4)
    assert slopes.random["effect"].tolist() == ["participant", "participant, x", "item_id"]
    assert not slopes.random["singular"].any()


def test_with_a_correlation_it_does_not_matter_from_where_a_slope_is_counted():
    rows = with_slopes(np.random.default_rng(4))
    few = {"participant": [*map(str, range(15)), "lstm"], "item_id": [*map(str, range(24))]}
    rows = rows[rows[list(few)].isin(few).all(axis=1)]
    formula = "x + (1 + x | participant) + (1 | item)"
    here, there = (fit(rows.assign(x=rows["x"] + shift), formula) for shift in (0.0, 2.0))
    slopes = [one.coefficients.loc[1, ["estimate", "std_error"]] for one in (here, there)]
    assert slopes[0].to_numpy(float) == pytest.approx(slopes[1].to_numpy(float), abs=0.02)
    assert here.sd("participant, x") == pytest.approx(there.sd("participant, x"), abs=0.05)
    # Seen from further off, whose slope is steep starts low.
    assert there.random["correlation"][1] < here.random["correlation"][1]
    assert here.random["correlation"].isna().tolist() == [True, False, True]


def test_a_variance_that_cannot_be_told_is_called_singular():
    found = fit(known_choices(np.random.default_rng(1))).random
    assert found["effect"].tolist() == ["participant", "participant:construction", "item_id"]
    assert found["singular"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("judge + frequency", "`frequency` is not present.*fixed effects over the columns"),
        ("judge +", "cannot be used"),
        ("0 + judge", "has no intercept"),
        ("judge + C(judge)", "estimate only 2.*Remove terms that follow from others"),
    ],
)
def test_a_formula_that_cannot_be_used_is_explained(formula, words):
    with pytest.raises(AnalysisError, match=words):
        fit(known_choices(np.random.default_rng(1)), formula)


def test_terms_are_written_without_their_coding():
    assert readable("construction[T.b]:judge[T.5-gram]") == "construction b, judge 5-gram"
