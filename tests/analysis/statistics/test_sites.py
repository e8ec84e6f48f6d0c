"""Sites of one language; every value is worked out by hand, with errors of 1."""

import numpy as np
import pytest

from analysis.statistics.sites import compare_with_others, join_sites

LANGUAGES = np.array([0, 0, 1, 1])
ERRORS = np.ones(4)


def join(*estimates: float):
    return join_sites(np.array(estimates), ERRORS, LANGUAGES)


def test_sites_that_differ_as_their_errors_do_count_as_independent():
    # Q is 2 squared / 2, with 2 degrees of freedom.
    joined = join(0, 2, 5, 5)
    assert joined.estimate.tolist() == [1, 5] and joined.sd == 0
    assert joined.error == pytest.approx([2**-0.5] * 2)
    assert joined.half == pytest.approx([1.95996 * 2**-0.5] * 2, rel=1e-5)
    assert joined.p_equal == pytest.approx(np.exp(-1))


def test_sites_that_do_not_differ_share_their_error():
    assert join(1, 1, 5, 5).error == pytest.approx([1, 1])
    # Q is 1, half of its expectation: half of the error's variance is in common.
    assert join(0, 2**0.5, 5, 5).error == pytest.approx([(0.5 / 2 + 0.5) ** 0.5] * 2)


def test_a_difference_between_sites_widens_the_interval_of_each_language():
    # 8 / (1 + 3) = 2; Student's t with 2 degrees of freedom is 4.30265.
    joined = join(0, 4, 5, 5)
    assert joined.sd == pytest.approx(3**0.5)
    assert joined.error == pytest.approx([2**0.5] * 2)
    assert joined.half == pytest.approx([4.30265 * 2**0.5] * 2, rel=1e-5)


def test_a_site_is_compared_with_the_mean_of_its_languages_other_sites():
    difference, error = compare_with_others(
        np.array([0.0, 3.0, 6.0, 7.0]), ERRORS, np.array([0, 0, 0, 1])
    )
    assert difference[:3] == pytest.approx([-4.5, 0, 4.5]) and np.isnan(difference[3])
    assert error[:3] == pytest.approx([1.5**0.5] * 3)
