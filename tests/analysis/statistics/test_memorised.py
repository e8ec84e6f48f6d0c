"""A study's items are compared with their draws; values worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from analysis.statistics.memorised import (
    FEWEST_DRAWS,
    half_logprobs,
    is_memorised,
    prefer_study,
    subtract_fresh,
)

STUDY = np.array([-1.0, -5.0])
DRAWS = np.array([[-2.0, -1.0, -3.0], [-6.0, -4.0, -9.0]])
FRESH = np.full(DRAWS.shape, True)


def test_p_counts_the_draws_whose_sum_is_at_least_the_studys():
    preference = prefer_study(STUDY, DRAWS, FRESH)
    # The sums are -6, and -8, -5 and -12: one draw of three, and the study itself, of four.
    assert preference.p == pytest.approx(2 / 4)
    assert preference.gain == pytest.approx(-3 + 25 / 6)


def test_ranks_are_shares_of_less_probable_draws_and_ties_count_half():
    preference = prefer_study(STUDY, DRAWS, FRESH)
    # The first item: two lower, one equal; the second: two lower.
    assert preference.rank == pytest.approx((2.5 / 3 + 2 / 3) / 2)
    assert preference.first == 0
    assert prefer_study(STUDY, DRAWS - 5, FRESH).first == 1


def test_items_that_a_draw_leaves_as_they_are_count_for_p_alone():
    draws, fresh = DRAWS.copy(), FRESH.copy()
    draws[0, 2], fresh[0, 2] = STUDY[0], False  # the last sum is -10
    preference = prefer_study(STUDY, draws, fresh)
    assert preference.p == pytest.approx(2 / 4)
    # The first item is .5 above the mean of -2 and -1; the second 4/3 above that of its three.
    assert preference.gain == pytest.approx((0.5 + 4 / 3) / 2)
    assert preference.rank == pytest.approx((1.5 / 2 + 2 / 3) / 2)
    assert preference.least_p == 1 / 4
    # A draw that repeats the whole study counts for every p.
    fresh[1, 2] = False
    assert prefer_study(STUDY, draws, fresh).least_p == 2 / 4


def test_two_tests_share_the_level_of_five_per_cent():
    assert is_memorised(np.array([0.025, 0.9])) and not is_memorised(np.array([0.03, 0.03]))
    assert 1 / (FEWEST_DRAWS + 1) <= 0.025 < 1 / FEWEST_DRAWS


def test_the_second_half_is_that_of_the_tokens():
    tokens = pd.Series([[-1.0, -2.0, -4.0], [-1.0, -2.0, -4.0, -8.0]])
    assert half_logprobs(tokens).tolist() == [-6.0, -12.0]


def test_a_models_difference_is_a_paired_t_test_of_frames():
    own, other = np.array([1.0, 1, 1, 1, 0, 1]), np.array([0.0, 1, 0, 0, 1, 0])
    unit = np.tile(np.arange(6), 2)
    row = subtract_fresh(
        np.concatenate([own, other]), np.repeat([False, True], 6), np.zeros(12, np.intp), unit
    )
    paired = ttest_rel(own, other)
    ends = paired.confidence_interval()
    assert (row["study"], row["fresh"]) == pytest.approx((5 / 6, 2 / 6))
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    assert row["p"] == pytest.approx(paired.pvalue)


def test_few_frames_or_equal_judgments_give_no_interval():
    for n, value in ((4, 0.0), (6, 1.0)):
        correct = np.concatenate([np.ones(n), np.full(n, value)])
        sides, unit = np.repeat([False, True], n), np.tile(np.arange(n), 2)
        row = subtract_fresh(correct, sides, np.zeros(2 * n, np.intp), unit)
        assert np.isnan(row["low"]) and row["difference"] == 1 - value
