"""Effects of several languages; values from closed forms and from draws."""

import numpy as np
import pytest
from scipy.stats import chi2, norm, ttest_1samp

from analysis.statistics.partial_pooling import pool

# Rubin (1981): the effects of coaching in eight schools.
SCHOOLS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def test_with_equal_errors_the_mean_is_tested_by_students_t():
    estimates = np.array([0.1, 0.3, 0.2, 0.5, -0.1])
    result = pool(estimates, np.full(5, 0.01))
    plain = ttest_1samp(estimates, 0)
    ends = plain.confidence_interval()
    assert (result.mean, result.p) == pytest.approx((0.2, plain.pvalue))
    assert (result.low, result.high) == pytest.approx((ends.low, ends.high))


def test_estimates_that_agree_by_chance_keep_their_errors():
    result = pool(np.array([0.1, 0.1]), np.array([0.05, 0.05]))
    # The error of the mean is .05 / sqrt(2), and its z 2.83.
    assert (result.low, result.high) == pytest.approx((0.1 - 0.0693, 0.1 + 0.0693), abs=1e-4)
    assert result.p == pytest.approx(0.00468, abs=1e-5)


def test_with_equal_errors_the_sd_has_a_closed_form():
    estimates, error = np.array([0.1, 0.3, 0.2, 0.5, -0.1]), 0.01
    result = pool(estimates, np.full(5, error))
    spread = 4 * estimates.var(ddof=1)
    assert result.sd**2 == pytest.approx(spread / 4 - error**2)
    ends = np.sqrt(spread / chi2.ppf([0.975, 0.025], 4) - error**2)
    assert (result.sd_low, result.sd_high) == pytest.approx(tuple(ends))
    assert result.p_equal == pytest.approx(chi2.sf(spread / error**2, 4))


def test_partially_pooled_effects_are_those_of_draws_from_the_priors():
    result = pool(SCHOOLS, ERRORS)
    # Q is less than its degrees of freedom, so the mean is that of a common effect.
    weight = 1 / ERRORS**2
    assert result.sd == 0 and result.mean == pytest.approx(weight @ SCHOOLS / weight.sum())
    rng = np.random.default_rng(1)
    n = 200_000
    sd, mean = rng.uniform(0, 80, n), rng.uniform(-60, 80, n)
    likelihood = norm.pdf(SCHOOLS, mean[:, None], np.hypot(sd[:, None], ERRORS)).prod(axis=1)
    chosen = rng.choice(n, n, p=likelihood / likelihood.sum())
    share = sd[chosen, None] ** 2 / (sd[chosen, None] ** 2 + ERRORS**2)
    given = share * SCHOOLS + (1 - share) * mean[chosen, None]
    effects = rng.normal(given, np.sqrt(share) * ERRORS)
    low, high = np.quantile(effects, [0.025, 0.975], axis=0)
    assert result.partly == pytest.approx(effects.mean(axis=0), abs=0.3)
    assert result.partly_low == pytest.approx(low, abs=0.8)
    assert result.partly_high == pytest.approx(high, abs=0.8)
    further = rng.normal(mean[chosen], sd[chosen])
    ends = np.quantile(further, [0.025, 0.975])
    assert (result.next_low, result.next_high) == pytest.approx(tuple(ends), abs=1.5)


def test_precise_estimates_are_kept_and_uncertain_ones_drawn_to_the_mean():
    estimates = np.array([0.1, 0.3, 0.2, 0.5, -0.1])
    assert pool(estimates, np.full(5, 1e-4)).partly == pytest.approx(estimates, abs=1e-5)
    drawn = pool(estimates, np.array([1e-4, 1e-4, 1e-4, 1e-4, 2.0]))
    assert abs(drawn.partly[-1] - drawn.mean) < 0.05
    assert drawn.next_low < drawn.partly_low.min() and drawn.next_high > drawn.partly_high[0]


def test_two_languages_have_a_mean_but_no_partially_pooled_effects():
    result = pool(np.array([0.1, 0.3]), np.array([0.05, 0.05]))
    assert result.mean == pytest.approx(0.2)
    assert np.isnan(result.partly).all() and np.isnan(result.next_low)
