"""The numbers that decide what is printed: levels, degrees of freedom, adjustments."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.clustered import clustered_intervals, jackknifed, two_way, wilson
from analysis.statistics.paired import adjusted
from analysis.statistics.resample import percentile_interval, wilson_interval


def test_a_bootstrap_interval_is_the_middle_95_percent():
    found = percentile_interval(np.arange(1001.0))
    assert (found.low, found.high) == pytest.approx((25, 975))


def test_a_share_s_interval_is_wilson_s_at_95_percent():
    # Newcombe, R. G. (1998). Statistics in Medicine 17, 857-872, table I: 81 of 263.
    found = wilson_interval(81, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_holm_s_adjusted_values_never_fall_where_the_values_rise():
    found = adjusted(pd.DataFrame({"p": [0.9, 0.022, np.nan, 0.01, 0.02]}))
    expected = [0.9, 0.06, np.nan, 0.04, 0.06]
    assert found["p_holm"].tolist() == pytest.approx(expected, nan_ok=True)


def test_holm_s_adjusted_values_end_at_one():
    assert adjusted(pd.DataFrame({"p": [0.6, 0.7]}))["p_holm"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("n_people", "n_items", "freedom"), [(3, 5, 2), (5, 3, 2), (1, 4, 3), (4, 1, 3)]
)
def test_degrees_of_freedom_are_the_fewer_clusters_less_one(n_people, n_items, freedom):
    person, item = (each.ravel() for each in np.indices((n_people, n_items)))
    influence = np.random.default_rng(1).normal(size=len(person))
    found = two_way(influence, person, item, np.zeros(len(person), dtype=int))
    assert found.freedom.tolist() == [freedom]
    if n_people > 1 and n_items > 1:
        changes = (np.arange(float(n)) for n in (n_people, n_items, len(person)))
        assert jackknifed(*changes)[1] == freedom


def test_the_printed_interval_of_an_accuracy_takes_them_at_95_percent():
    person, item = (each.ravel() for each in np.indices((3, 8)))
    correct = (np.random.default_rng(2).random(24) < 0.7).astype(float)
    found = clustered_intervals(correct, person, item, np.zeros(24, dtype=int))
    low, high = wilson(found.accuracy, found.n_effective, np.array([student.ppf(0.975, 2)]))
    assert (found.low[0], found.high[0]) == pytest.approx((low[0], high[0]))
