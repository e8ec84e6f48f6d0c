import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from analysis.statistics.mixed_model import fit
from analysis.statistics.one_scale import compare_on_one_scale
from tests.analysis.known_choices import equally_accurate, known_choices


def test_an_equally_accurate_model_is_not_called_worse_by_the_scale():
    rng = np.random.default_rng(5)
    found, terms = [], []
    for _ in range(8):
        rows = equally_accurate(rng)
        model = fit(rows, "judge + (1 | participant) + (1 | item)")
        found.append(compare_on_one_scale(model, rows).iloc[0])
        terms.append(model.coefficients["estimate"][1])
    each = pd.DataFrame(found)
    error = each["marginal"].std() / np.sqrt(8)
    assert abs(each["marginal"].mean()) < 3 * error
    assert abs(each["conditional"].mean()) < 3 * error * 1.6
    # The coefficient alone, which sets it against a typical participant, calls it worse.
    assert np.mean(terms) < -3 * np.std(terms) / np.sqrt(8)
    assert (each["p"] < 0.05).sum() <= 3


def test_shares_and_both_scales_agree_on_which_is_higher():
    rows = known_choices(np.random.default_rng(1))
    found = compare_on_one_scale(fit(rows), rows)
    assert found["construction"].tolist() == ["", "a", "b"]
    for row in found.to_dict("records"):
        assert row["marginal"] == pytest.approx(logit(row["people"]) - logit(row["model"]))
        assert np.sign(row["marginal"]) == np.sign(row["conditional"])
        assert abs(row["conditional"]) > abs(row["marginal"])
        assert row["marginal_low"] < row["marginal"] < row["marginal_high"]
    people = rows[rows["judge"] == "people"]["chose_good"].mean()
    assert found.loc[0, "people"] == pytest.approx(people, abs=0.02)
