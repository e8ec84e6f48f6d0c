"""The numbers that decide what is printed: levels, degrees of freedom, adjustments."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.clustered import (
    clustered_intervals,
    jackknife_variance,
    two_way_variance,
    wilson,
)
from analysis.statistics.paired import add_adjusted_p
from analysis.statistics.resample import percentile_interval, wilson_interval


def test_a_bootstrap_interval_is_the_middle_95_percent():
    found = percentile_interval(np.arange(1001.0))
    assert (found.low, found.high) == pytest.approx((25, 975))


def test_a_share_s_interval_is_wilson_s_at_95_percent():
    # Newcombe, R. G. (1998). Statistics in Medicine 17, 857-872, table I: 81 of 263.
    found = wilson_interval(81, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_holm_s_adjusted_values_never_fall_where_the_values_rise():
    found = add_adjusted_p(pd.DataFrame({"p": [0.9, 0.022, np.nan, 0.01, 0.02]}))
    expected = [0.9, 0.06, np.nan, 0.04, 0.06]
    assert found["p_holm"].tolist() == pytest.approx(expected, nan_ok=True)


def test_holm_s_adjusted_values_end_at_one():
    assert add_adjusted_p(pd.DataFrame({"p": [0.6, 0.7]}))["p_holm"].tolist() == [1, 1]


@pytest.mark.parametrize(("n_people", "n_items"), [(3, 5), (5, 3), (1, 4), (4, 1)])
def test_degrees_of_freedom_are_those_of_what_varies(n_people, n_items):
    person, item = (each.ravel() for each in np.indices((n_people, n_items)))
    drawn, one = np.random.default_rng(1), np.zeros(n_people * n_items, dtype=int)
    of_people, of_items = drawn.normal(size=n_people), drawn.normal(size=n_items)
    fewest = min(n - 1 for n in (n_people, n_items) if n > 1)
    for values, levels, place in ((of_people, n_people, person), (of_items, n_items, item)):
        if levels > 1:
            found = two_way_variance((values - values.mean())[place], person, item, one).freedom[0]
            # The other levels vary by chance alone where they are more, and add their own.
            assert found == levels - 1 if levels == fewest + 1 else fewest <= found <= levels - 1
    of_nothing = two_way_variance(drawn.normal(size=len(one)), person, item, one).freedom[0]
    assert fewest <= of_nothing <= len(one) - 1


def test_a_jackknife_takes_the_fewer_clusters_less_one():
    changes = (np.arange(float(n)) for n in (3, 5, 15))
    assert jackknife_variance(*changes)[1] == 2


def test_the_printed_interval_of_an_accuracy_takes_them_at_95_percent():
    person, item = (each.ravel() for each in np.indices((10, 40)))
    easy = np.random.default_rng(2).normal(1, 1, 10)[person]
    correct = (np.random.default_rng(3).random(400) < 1 / (1 + np.exp(-easy))).astype(float)
    group = np.zeros(400, dtype=int)
    found = clustered_intervals(correct, person, item, group)
    freedom = two_way_variance((correct - correct.mean()) / 400, person, item, group).freedom
    low, high = wilson(found.accuracy, found.n_effective, student.ppf(0.975, freedom))
    assert (found.low[0], found.high[0]) == pytest.approx((low[0], high[0]))


@pytest.mark.parametrize("easy", [True, False])
def test_an_accuracy_of_few_items_reaches_further_from_the_nearer_end(easy):
    person, item = (each.ravel() for each in np.indices((60, 6)))
    difficult = np.array([0.5, 0.7, 0.95, 0.97, 0.99, 0.99])[item]
    right = np.random.default_rng(4).random(360) < (difficult if easy else 1 - difficult)
    correct, group = right.astype(float), np.zeros(360, dtype=int)
    found = clustered_intervals(correct, person, item, group)
    p, t = found.accuracy, student.ppf(0.975, 5)
    low, high = wilson(p, found.n_effective, np.array([t]))
    assert 0 < found.low[0] < found.accuracy[0] < found.high[0] < 1
    if easy:
        assert found.low[0] < low[0] and found.high[0] == pytest.approx(high[0], rel=0.02)
    else:
        assert found.high[0] > high[0] and found.low[0] == pytest.approx(low[0], rel=0.05)
