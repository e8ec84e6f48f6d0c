import numpy as np
import pytest

from analysis.findings.selection import printed_accuracy, true_accuracy


def test_one_error_of_ten_lifts_ninety_percent_to_almost_ninety_five():
    # Nobody's error .9^10, one error 10 x .1 x .9^9.
    none, one = 0.9**10, 10 * 0.1 * 0.9**9
    assert printed_accuracy(0.9, 10, 1) == pytest.approx(1 - 0.1 * one / (none + one))
    assert round(printed_accuracy(0.9, 10, 1), 3) == 0.947


def test_simulated_participants_are_lifted_as_computed():
    errors = np.random.default_rng(1).binomial(10, 0.1, 200_000)
    kept = errors[errors <= 1]
    assert printed_accuracy(0.9, 10, 1) == pytest.approx(1 - kept.mean() / 10, abs=0.001)


@pytest.mark.parametrize("true", [0.0, 0.3, 0.9, 1.0])
def test_where_every_number_of_errors_is_allowed_nothing_is_lifted(true: float):
    assert printed_accuracy(true, 10, 10) == pytest.approx(true)


def test_where_no_error_is_allowed_everything_printed_is_right():
    assert printed_accuracy(0.5, 10, 0) == 1


def test_only_the_trials_that_decide_are_lifted():
    whole, half = printed_accuracy(0.9, 10, 1), printed_accuracy(0.9, 10, 1, share=0.5)
    assert half == pytest.approx((whole + 0.9) / 2)


@pytest.mark.parametrize("true", [0.05, 0.6, 0.9, 0.99])
def test_a_printed_accuracy_is_traced_back_to_the_true_one(true: float):
    printed = printed_accuracy(true, 10, 1, share=0.8)
    assert true_accuracy(printed, 10, 1, share=0.8) == pytest.approx(true, abs=1e-6)


def test_the_ends_are_traced_back_too():
    assert true_accuracy(1.0, 10, 1) == 1
    assert true_accuracy(0.5, 10, 1) is None
    assert printed_accuracy(0, 10, 1) == pytest.approx(0.9)
    assert printed_accuracy(0, 10, 1, share=0.5) == pytest.approx(0.45)
    # So improbable that no number holds it: whoever is kept has the most errors that are allowed.
    assert printed_accuracy(1e-9, 60, 1, share=0.5) == pytest.approx(0.5 * 59 / 60)
    lowest = printed_accuracy(1e-9, 10, 1)
    assert true_accuracy(lowest, 10, 1) == pytest.approx(1e-9)
