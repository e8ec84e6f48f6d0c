"""Crossing times, falls and orders, with values worked out by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from analysis.errors import AnalysisError
from analysis.over_time.crossing import (
    added_variance,
    crossing_times,
    find_crossing,
    find_fall,
    resample_curves,
)
from analysis.over_time.order import (
    kendall,
    kendall_with_interval,
    read_ages,
    why_no_ages,
)

AXIS = np.arange(1.0, 6.0)


@pytest.mark.parametrize(
    ("curve", "time"),
    [
        ([0.5, 0.5, 0.7, 0.9, 0.9], 2.5),
        # One accuracy above the level by chance does not count: the sum below it goes on.
        ([0.5, 0.65, 0.5, 0.7, 0.9], 3.5),
        ([0.5, 0.5, 0.5, 0.6, 0.7], 4.0),
        ([0.5, 0.5, 0.5, 0.5, 0.55], np.inf),
        ([0.7, 0.8, 0.9, 0.9, 0.9], -np.inf),
    ],
)
def test_a_curve_passes_a_level(curve: list[float], time: float):
    assert crossing_times(np.array([curve]), np.array([0.6]), AXIS) == pytest.approx([time])


def answers(*right: int) -> np.ndarray:
    """Return one training's answers to 40 items: the first so many are right."""
    return (np.arange(40)[None, :, None] < np.array(right)[None, None, :]).repeat(1, axis=0)


def curves_of(correct: np.ndarray, n_units: int = 40):
    unit = np.arange(40) % n_units
    return resample_curves(correct, unit, AXIS, np.random.default_rng(1), 400)


def test_an_interval_is_open_where_resamples_never_pass():
    levels = np.full(400, 0.6)
    crossing = find_crossing(curves_of(answers(16, 18, 20, 22, 26)), 0.6, levels)
    # .55 at the fourth checkpoint and .65 at the fifth: half of the way.
    assert crossing.at == pytest.approx(4.5)
    assert 1 < crossing.low < 4.5
    assert crossing.high == np.inf


def test_fewer_units_widen_an_interval():
    levels = np.full(400, 0.6)
    correct = answers(4, 12, 20, 28, 36)[:, np.random.default_rng(3).permutation(40)]
    wide, narrow = (find_crossing(curves_of(correct, n), 0.6, levels).high for n in (5, 40))
    assert wide > narrow > 3.5


def test_trainings_that_differ_widen_an_interval():
    levels = np.full(400, 0.6)
    early, late = answers(12, 24, 32, 36, 38), answers(4, 8, 12, 24, 32)
    same = find_crossing(curves_of(np.concatenate([early, early])), 0.6, levels)
    both = find_crossing(curves_of(np.concatenate([early, late])), 0.6, levels)
    assert both.high > same.high
    # The mean of 24 and 8, 32 and 12 of 40 is .4 and .55, then .75: a quarter of the third step.
    assert both.at == pytest.approx(3.25)


def test_a_u_shape_is_named_and_the_time_is_that_after_it():
    curves = curves_of(answers(20, 34, 14, 30, 38))
    fall = find_fall(curves)
    assert fall is not None
    assert (fall.start, fall.end, fall.recovers) == (1, 2, True)
    # .35 at the third checkpoint and .75 at the fourth: .6 after .625 of the step.
    assert find_crossing(curves, 0.6, np.full(400, 0.6), fall).at == pytest.approx(3.625)


def test_a_rise_has_no_fall_and_a_loss_does_not_recover():
    assert find_fall(curves_of(answers(20, 22, 21, 30, 38))) is None
    loss = find_fall(curves_of(answers(20, 36, 36, 14, 16)))
    assert loss is not None
    assert (loss.end, loss.recovers) == (3, False)


def test_participants_add_their_own_variance():
    right, participant = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1])
    # Two sums of 1/4, times 2, minus four squares of 1/8, times 4/3.
    assert added_variance(right, participant) == pytest.approx(1 / 4 - 1 / 12)
    assert added_variance(right, np.array([0, 1, 0, 1])) == 0
    assert added_variance(right, np.zeros(4, int)) == 0


def test_kendalls_tau_is_that_of_another_program():
    one, two = np.array([1, 2, 3, 4, np.inf, np.inf]), np.array([2, 1, 3, 3, 5, np.inf])
    finite = (np.minimum(one, 99), np.minimum(two, 99))
    [tau] = kendall(one[None], two[None])
    assert tau == pytest.approx(kendalltau(*finite).statistic)
    drawn = np.array([[1.0, 2, 3, 4, 5, 6], [1.0, 2, 3, 4, 6, 5]])
    # Of 15 pairs, one is turned: 13/15; the standard deviation of 1 and 13/15 is 1/15.
    estimate, low, high = kendall_with_interval(drawn[1], drawn[0], drawn, drawn[[0, 0]])
    assert (estimate, high) == (
        pytest.approx(13 / 15),
        pytest.approx(13 / 15 + 1.96 / 15, abs=1e-4),
    )
    assert low == pytest.approx(13 / 15 - 1.96 / 15, abs=1e-4)


def test_ages_are_read_or_refused(tmp_path: Path):
    path = tmp_path / "ages.csv"
    path.write_text("construction,age\nsimple,36\nprep,54.5\n")
    assert read_ages(path) == {"simple": 36, "prep": 54.5}
    path.write_text("construction,age\nsimple,three\n")
    with pytest.raises(AnalysisError, match="the table of ages has a row that cannot be used"):
        read_ages(path)
    with pytest.raises(AnalysisError, match="the table of ages cannot be read"):
        read_ages(tmp_path / "none.csv")


def test_ages_of_too_few_constructions_are_left_out_with_the_reason():
    names = ["", "simple", "prep", "relative", "reflexive"]
    [reason] = why_no_ages({"simple": 36, "Prep": 40}, names)
    assert reason == (
        "The table of ages is left out: it has 1 of the constructions simple, prep, relative, "
        "reflexive, and an order needs at least 4."
    )
    assert not why_no_ages(dict.fromkeys(names, 1), names)
    assert not why_no_ages({}, names)
