import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from known_choices import EFFECTS, SD_ITEM, SD_PARTICIPANT, known_choices

from analysis.errors import AnalysisError
from analysis.join import decisions, judgments
from analysis.load import load_run, load_scores
from analysis.statistics.mixed import choices, fit, readable, too_few

TERMS = ["Intercept", "construction b", "construction a, judge lstm", "construction b, judge lstm"]


def test_known_parameters_are_found_again_within_their_errors():
    rng = np.random.default_rng(2026)
    errors, covered, spreads = [], [], []
    for _ in range(30):
        found = fit(known_choices(rng))
        rows = found.coefficients
        assert rows["term"].tolist() == TERMS
        errors.append(rows["estimate"] - EFFECTS)
        covered.append((rows["low"] <= EFFECTS) & (rows["high"] >= EFFECTS))
        spreads.append((found.sd_participant, found.sd_item))
    # Three standard errors of a mean of thirty, of coefficients whose own are up to .6.
    assert (np.abs(np.mean(errors, axis=0)) < [0.12, 0.12, 0.34, 0.27]).all()
    assert (np.mean(covered, axis=0) >= 0.8).all()
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


def test_cells_without_variation_are_left_out_and_named():
    rows = known_choices(np.random.default_rng(1))
    always = (rows["judge"] == "lstm") & (rows["construction"] == "a")
    found = fit(rows.assign(chose_good=rows["chose_good"].where(~always, 1.0)))
    assert found.left_out == ("lstm, a",)
    assert found.coefficients["term"].tolist() == [TERMS[0], TERMS[1], TERMS[3]]
    assert not found.coefficients["separated"].any()


def test_a_construction_without_variation_among_people_leaves_with_its_models():
    rows = known_choices(np.random.default_rng(1))
    always = (rows["judge"] == "people") & (rows["construction"] == "b")
    found = fit(rows.assign(chose_good=rows["chose_good"].where(~always, 1.0)))
    assert found.left_out == ("people, b",)
    assert found.coefficients["term"].tolist() == [TERMS[0], "construction a, judge lstm"]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("judge + frequency", "`frequency` is not present"),
        ("judge +", "cannot be used"),
        ("0 + judge", "has no intercept"),
        ("judge + C(judge)", "tell 2 apart"),
    ],
)
def test_a_formula_that_cannot_be_used_is_explained(formula, words):
    with pytest.raises(AnalysisError, match=words):
        fit(known_choices(np.random.default_rng(1)), formula)


def test_choices_hold_people_and_models_on_the_judged_items(export, scores):
    chosen = {"5-gram": decisions(load_scores(scores))}
    rows = choices(judgments(load_run(export)), chosen)
    assert rows.groupby("judge", observed=True).size().to_dict() == {"people": 8, "5-gram": 4}
    assert rows["judge"].cat.categories.tolist() == ["people", "5-gram"]
    assert too_few(rows)
    assert not too_few(known_choices(np.random.default_rng(1)))


def test_terms_are_written_without_their_coding():
    assert readable("construction[T.b]:judge[T.5-gram]") == "construction b, judge 5-gram"
