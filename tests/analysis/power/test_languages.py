"""Power of the mean effect over several languages."""

import pandas as pd
import pytest
from scipy.stats import norm

from analysis.power.base import PowerOptions
from analysis.power.languages import describe_languages, pooled_power
from analysis.power.simulated_choices import Assumptions


def options(languages: int, sd_languages: float) -> PowerOptions:
    return PowerOptions(
        Assumptions(0.5, 0.5, 0.02, 0.1), (4,), 1000, 1, None, None, 0.2, None, None, None, None,
        None, "", 3.0, languages=languages, sd_languages=sd_languages,
    )  # fmt: skip


def summary(truth: float, half_width: float = norm.ppf(0.975)) -> pd.DataFrame:
    row = {"construction": "a minus b", "measure": "accuracy", "per_list": 4, "kept": 30.0}
    return pd.DataFrame([row | {"truth": truth, "half_width": half_width}])


@pytest.mark.parametrize("truth", [0.28, -0.28])
def test_equal_languages_have_the_power_of_their_mean(truth: float):
    [row] = pooled_power(summary(truth), options(100, 0.0), n_lists=2, n_primary=1).to_dict(
        "records"
    )
    # The mean of 100 estimates with an error of 1 has one of .1: 2.8 of them, hence .80.
    assert row["power"] == pytest.approx(0.8, abs=0.05)
    assert row["half_width"] == pytest.approx(0.196, rel=0.1)
    assert row["own"] == pytest.approx(norm.sf(1.96 - 0.28), abs=0.01)
    assert (row["participants"], row["kept"]) == (800, 3000)


def test_languages_that_differ_leave_a_bound_that_no_participants_lift():
    tiny_errors = summary(0.3, 1e-6)
    [few] = pooled_power(tiny_errors, options(5, 1.0), n_lists=2, n_primary=1)["power"]
    [many] = pooled_power(tiny_errors, options(20, 1.0), n_lists=2, n_primary=1)["power"]
    # Of a t test of the mean of n effects that differ by their size: noncentral t, sqrt(n).
    assert few == pytest.approx(0.40, abs=0.06)
    assert many == pytest.approx(0.989, abs=0.02)


def test_the_sentence_names_participants_and_cost_of_all_languages():
    pooled = pooled_power(summary(1.0), options(100, 0.0), n_lists=2, n_primary=1)
    assert list(describe_languages(pooled, options(100, 0.0))) == [
        "a minus b, the mean of 100 languages: 800 participants (4 per list in each language) for "
        "a power of .80, at a cost of 2,400.00."
    ]
