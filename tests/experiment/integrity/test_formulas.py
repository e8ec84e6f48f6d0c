"""Figures of a session by numbers computed by hand, and from where on each is told."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from experiment.integrity.certificate import (
    SIGNALS,
    certify,
    find_crossings,
    length_correlation,
    log_rt_sd,
    median_hold_ms,
    path_variation,
    select_mouse_pairs,
    time_autocorrelation,
)
from experiment.integrity.observed import ObservedSession, time_residuals
from tests.experiment.integrity.sessions import observed, told

# The pattern of the log times, and twice two lengths beside it: texts twice as long.
STEPS = (0, 1, 2, 3)
LENGTHS = (40, 40, 80, 80)


def timed(steps: Sequence[int], lengths: Sequence[int], n: int = 24) -> ObservedSession:
    """Log times that go up by 0.3 a step, and texts of so many characters, again and again."""
    return told(
        *(
            {
                "rt_ms": math.exp(6 + 0.3 * steps[place % len(steps)]),
                "n_characters": lengths[place % len(lengths)],
            }
            for place in range(n)
        )
    )


def test_the_same_session_in_another_order_says_the_same():
    session = observed()
    answers = random.Random(3).sample(session.answers, len(session.answers))
    one, other = certify(session), certify(replace(session, answers=tuple(answers)))
    for name in (
        "excess_ms", "unexplained_ms", "path_variation", "length_correlation", "autocorrelation",
    ):  # fmt: skip
        assert getattr(one, name) == getattr(other, name), name


def test_residuals_are_what_length_leaves_of_the_times_in_deviations():
    # Steps 0 1 2 3 beside lengths - - + + have slope 1: 1 2 1 2 is left.
    found = time_residuals(timed(STEPS, LENGTHS))
    assert list(found) == list(range(1, 25))
    assert list(found.values()) == pytest.approx([-math.sqrt(23 / 24), math.sqrt(23 / 24)] * 12)
    assert time_residuals(timed(STEPS, LENGTHS, 23)) == {}
    assert time_residuals(timed((1,), (40,))) == {}


def test_answers_without_a_time_or_a_length_are_not_looked_at():
    session = timed(STEPS, LENGTHS, 26)
    first, second, *others = session.answers
    lacking = (replace(first, rt_ms=None), replace(second, n_characters=0), *others)
    assert list(time_residuals(replace(session, answers=lacking))) == list(range(3, 27))


def test_times_go_with_lengths_by_pearsons_formula():
    # Covariance 1, deviations 1 and the root of 5/4.
    assert length_correlation(timed(STEPS, LENGTHS)) == pytest.approx(2 / math.sqrt(5))
    assert length_correlation(timed(STEPS, LENGTHS, 23)) is None
    assert length_correlation(timed((1,), LENGTHS)) == 0.0
    assert length_correlation(timed(STEPS, (40, 44))) is None, "lengths are next to alike"


def test_times_go_with_the_last_two_by_the_mean_of_both_correlations():
    # 0 with the one before, -1 with the one before that.
    assert time_autocorrelation(timed((0, 1, 0, -1), (40,))) == pytest.approx(-0.5)
    assert time_autocorrelation(timed((1, -1), (40,))) == pytest.approx(0, abs=1e-9)
    assert time_autocorrelation(timed((0, 1, 0, -1), (40,), 23)) is None


def test_the_deviation_of_times_needs_ten_of_them():
    assert log_rt_sd(timed((0, 10), (40,), 10)) == pytest.approx(1.5 * math.sqrt(10 / 9))
    assert log_rt_sd(timed((0, 10), (40,), 9)) is None


def test_a_press_lasts_from_its_beginning_to_its_end():
    presses = [{"rt_ms": 1001.0, "release_ms": 1001.0 + ms} for ms in (80, 90, 120)]
    assert median_hold_ms(told(*presses)) == 90
    assert median_hold_ms(told({"rt_ms": 1001.0})) is median_hold_ms(told({})) is None
    assert median_hold_ms(told({"rt_ms": 1000.0, "release_ms": 1090.0})) is None, "coarse"


def test_a_mouse_crosses_where_it_is_known_to_go_to_the_other_side():
    mouse = {"input_method": "pointer", "pointer_moves": 5, "pointer_path_px": 100.0}
    touch = {**mouse, "input_method": "touch"}
    session = told(
        {**mouse, "side": "first"},
        {**mouse, "side": "second", "pointer_path_px": 0.0},
        {**mouse, "side": "second"},
        {**mouse, "side": "first", "input_method": "key"},
        {**mouse, "side": "second"},
        {**mouse, "side": "first", "pointer_moves": None},
        {**mouse, "side": "second", "pointer_path_px": None},
        {**touch, "side": "first"},
        {**touch, "side": "second"},
        {**mouse, "side": "first"},
        {**mouse, "side": "second"},
    )
    assert [(one.position, other.position) for one, other in select_mouse_pairs(session)] == [
        (1, 2), (2, 3), (10, 11),
    ]  # fmt: skip
    assert [one.position for one in find_crossings(session)] == [2, 11]


@pytest.mark.parametrize(
    ("paths", "variation"),
    [
        # Mean 100, deviation the root of 20,000 / 4.
        ((0.0, 100.0, 100.0, 100.0, 200.0), math.sqrt(0.5)),
        ((0.0, 100.0, 100.0, 200.0), None),
        ((0.0,) * 5, None),
    ],
)
def test_ways_vary_by_their_deviation_over_their_mean(paths, variation):
    way = {"input_method": "pointer", "pointer_moves": 1}
    session = told(
        *(
            {**way, "pointer_path_px": path, "side": ("first", "second")[n % 2]}
            for n, path in enumerate((999.0, *paths))
        )
    )
    assert path_variation(session) == pytest.approx(variation)


@pytest.mark.parametrize(
    ("name", "session", "speaks"),
    [
        ("clock", told({"arrived_ms": 500.0, "rt_ms": 1500.0}), False),
        ("clock", told({"arrived_ms": 500.0, "rt_ms": 1501.0}), True),
        ("clock", told({"arrived_ms": 9000.0, "rt_ms": 100.0}, lockout_ms=150.0), True),
        ("clock", told({"arrived_ms": 9000.0, "rt_ms": 149.0}, lockout_ms=150.0), False),
        ("clock", told({}), None),
        ("device", told({}, device_facts=0), True),
        ("device", told({}, device_facts=1), True),
        ("device", told({}, device_facts=2), False),
        ("copied", told(*[{}] * 10, n_copied=10), True),
        ("copied", told(*[{}] * 10, n_copied=5), False),
        ("copied", told(*[{}] * 9, n_copied=9), None),
    ],
)
def test_a_signal_speaks_from_its_bound_on(name, session, speaks):
    assert SIGNALS[name](session) is speaks
