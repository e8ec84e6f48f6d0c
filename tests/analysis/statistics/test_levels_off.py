"""Levels that cancel in a difference do not widen its interval; others do."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.clustered import several_way_variance
from analysis.statistics.contrasts import contrasts
from analysis.statistics.variance_parts import contrast_variance
from tests.analysis.statistics.dense_variance import dense, dense_with_levels

PEOPLE, FRAMES = 20, 16


def square(rng, conditions=2, level=3.0, slope=0.0):
    person, frame = np.divmod(np.arange(PEOPLE * FRAMES), FRAMES)
    cell = (person + frame) % conditions
    value = level * (rng.normal(size=PEOPLE)[person] + rng.normal(size=FRAMES)[frame])
    value += slope * rng.normal(size=PEOPLE)[person] * (cell == 0)
    return value + rng.normal(size=len(cell)), cell, person, frame


def weights(cell, of):
    return np.asarray(of)[cell] / np.bincount(cell)[cell]


@pytest.mark.parametrize("of", [[1.0, -1.0], [1.0, -1.0, -1.0, 1.0]])
@pytest.mark.parametrize("slope", [0.0, 2.0])
def test_it_is_what_dense_algebra_gives(of, slope):
    value, cell, person, frame = square(np.random.default_rng(1), len(of), slope=slope)
    weight = weights(cell, of)
    found = contrast_variance(value, weight, cell, (person, frame))
    assert found == pytest.approx(dense(value, weight, cell, person, frame), rel=1e-5)


def test_levels_do_not_matter_where_they_cancel_and_the_effects_slope_does():
    def variance(**how):
        value, cell, person, frame = square(np.random.default_rng(2), **how)
        return contrast_variance(value, weights(cell, [1.0, -1.0]), cell, (person, frame))[0]

    assert variance(level=30.0) == pytest.approx(variance(level=0.0), rel=1e-3)
    assert variance(slope=3.0) > 3 * variance()


def test_levels_that_do_not_cancel_are_kept():
    """Two groups of participants: how participants differ is all that a difference rests on."""
    value, _, person, frame = square(np.random.default_rng(3), level=3.0)
    group = person % 2
    found, freedom = contrast_variance(value, weights(group, [1.0, -1.0]), group, (person, frame))
    of_person = pd.Series(value).groupby(person).mean()
    apart = of_person.groupby(np.arange(PEOPLE) % 2).var().sum() / (PEOPLE / 2)
    assert found == pytest.approx(apart, rel=0.02)
    assert 15 < freedom < 25


def test_what_stops_early_leaves_comes_back():
    """Without the end of some sessions levels cancel no more: the variance must say so."""
    value, cell, person, frame = square(np.random.default_rng(4), level=3.0)
    there = (person % 3 > 0) | (frame < 5)
    cut = [one[there] for one in (value, cell, person, frame)]
    weight = weights(cut[1], [1.0, -1.0])
    found = contrast_variance(cut[0], weight, cut[1], cut[2:])[0]
    still = sum(float(np.sum(np.bincount(way, weight) ** 2)) for way in cut[2:])
    assert still > 0
    assert found > 9 * still * 0.3


def test_levels_that_do_not_cancel_quite_add_their_variance():
    """Of one way: the levels' variance beyond their noise, times the squares of what is left."""
    rng = np.random.default_rng(7)
    person = np.repeat(np.arange(30), np.arange(30) % 3 + 2)
    cell = np.concatenate([np.arange(n) % 2 for n in np.arange(30) % 3 + 2])
    value = 3 * rng.normal(size=30)[person] + rng.normal(size=len(cell))
    weight = weights(cell, [1.0, -1.0])
    design = np.hstack([np.eye(30)[person], np.eye(2)[cell]])
    left = np.eye(len(cell)) - design @ np.linalg.pinv(design)
    noise = float(value @ left @ value) / (len(cell) - 31)
    n = np.bincount(person)
    effect = np.linalg.lstsq(design, value, rcond=None)[0][-2:] @ [1, -1]
    levels = np.bincount(person, value - effect * (cell == 0)) / n
    moved = (levels.var(ddof=1) - noise * np.mean(1 / n)) * np.sum(np.bincount(person, weight) ** 2)
    own = weight[:, None] * np.eye(30)[person]
    share = np.trace(own.T @ left @ own) / np.sum(own**2)
    by_person = np.sum(np.bincount(person, weight * (left @ value)) ** 2) / share
    found = contrast_variance(value, weight, cell, (person, np.zeros_like(person)))
    assert found == pytest.approx((by_person + moved, 30 * share), rel=1e-5)


def test_intervals_are_no_wider_than_needed_where_only_levels_differ():
    rng, widths = np.random.default_rng(5), []
    for _ in range(20):
        value, cell, person, frame = square(rng)
        weight = weights(cell, [1.0, -1.0])
        centred = value - np.array([value[cell == one].mean() for one in (0, 1)])[cell]
        new, old = contrast_variance(value, weight, cell, (person, frame))[0], several_way_variance(
            weight * centred, [person, frame]
        )[0]  # fmt: skip
        widths.append((new, old))
    new, old = np.mean(widths, axis=0)
    right = 4 / (PEOPLE * FRAMES)
    assert right * 0.9 < new < right * 1.5
    assert old > 3 * new


def test_few_answers_have_no_interval_but_their_estimate():
    value, cell, person, frame = square(np.random.default_rng(6))
    rows = pd.DataFrame(
        {"participant": person.astype(str), "unit": frame.astype(str), "cell": cell.astype(str)}
    ).assign(rating=value)
    wanted = {"difference": {"0": 1.0, "1": -1.0}}
    [few] = contrasts(rows[person < 4], "rating", wanted).to_dict("records")
    [enough] = contrasts(rows[person < 5], "rating", wanted).to_dict("records")
    assert few["n_observations"] == 64 and np.isfinite(few["estimate"])
    assert np.isnan([few["low"], few["high"], few["p"]]).all()
    assert np.isfinite([enough["low"], enough["high"], enough["p"]]).all()


def stopped(people, frames, level, seed=8):
    """Everybody's order is turned; every third stops early, or never begins late frames."""
    person, frame = (each.ravel() for each in np.indices((people, frames)))
    there = (person % 3 > 0) | (frame < frames * 2 // 3)
    person, frame = person[there], frame[there]
    rng = np.random.default_rng(seed)
    levels = level * rng.normal(size=people)[person] + level * rng.normal(size=frames)[frame]
    return levels + rng.normal(size=len(person)), (person + frame) % 2, (person, frame)


@pytest.mark.parametrize("level", [0.0, 3.0])
@pytest.mark.parametrize(("people", "frames"), [(12, 8), (8, 12), (2, 12), (12, 2)])
def test_incomplete_orders_are_what_dense_algebra_gives(people, frames, level):
    value, cell, ways = stopped(people, frames, level)
    weight = weights(cell, [1.0, -1.0])
    found = contrast_variance(value, weight, cell, ways)
    expected = dense_with_levels(value, weight, cell, ways)
    assert np.isfinite(expected[0]) == (min(people, frames) > 2)
    assert found == pytest.approx(expected, rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("frames", ["of one group", "of both"])
def test_where_one_way_or_both_stay_dense_algebra_gives_the_same(frames):
    value, _, (person, frame) = stopped(12, 8, 1.0)
    cell = person % 2 if frames == "of both" else (person % 2) * (frame % 2)
    weight = weights(cell, [1.0, -1.0])
    found = contrast_variance(value, weight, cell, (person, frame))
    assert found == pytest.approx(dense_with_levels(value, weight, cell, (person, frame)), rel=1e-5)


@pytest.mark.parametrize(
    ("person", "cell"),
    [
        ([0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 1]),  # one answer more than constants
        ([0, 0, 1, 2], [0, 1, 0, 1]),  # half of the weights have no opposite: levels stay
    ],
)
def test_of_one_way_with_next_to_no_answers_left(person, cell):
    person, cell = np.array(person), np.array(cell)
    value = np.array([1.0, 4.0, 9.0, 13.5, 7.0, 2.0])[: len(cell)]
    weight = weights(cell, [1.0, -1.0])
    alone = np.zeros_like(person)
    for ways in ((person, alone), (alone, person)):
        found = contrast_variance(value, weight, cell, ways)
        assert found == pytest.approx(dense_with_levels(value, weight, cell, [person]), rel=1e-5)


def test_two_frames_with_three_quarters_of_a_degree_left_have_a_variance():
    """Each frame holds three quarters of one cell's answers and one quarter of the other's."""
    person, cell = np.arange(16), np.arange(16) % 2
    frame = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0])
    value, weight = np.random.default_rng(3).normal(size=16), weights(cell, [1.0, -1.0])
    for ways in ((person, frame), (frame, person)):
        found = contrast_variance(value, weight, cell, ways)
        assert found == pytest.approx(dense_with_levels(value, weight, cell, ways), rel=1e-5)
        assert found[0] > 0


def test_one_answer_may_be_left_beside_the_constants():
    cell, weight = np.array([0, 1, 1]), np.array([0.1, -0.5, -0.5])
    ways, value = (np.array([0, 1, 2]), np.array([0, 1, 0])), np.array([1.0, 4, 2])
    found = contrast_variance(value, weight, cell, ways)
    assert found == pytest.approx(dense_with_levels(value, weight, cell, ways), rel=1e-4)
    assert found[0] > 0


def test_there_is_no_variance_where_cells_are_all_that_a_way_tells():
    value, cell, person, _ = square(np.random.default_rng(9))
    weight, alone = weights(cell, [1.0, -1.0]), np.zeros_like(cell)
    # Two frames, each of one cell; one participant and one frame.
    for ways in ((person, cell), (cell, person), (alone, alone)):
        variance, freedom = contrast_variance(value, weight, cell, ways)
        assert np.isnan(variance) and freedom == 0


def test_participants_are_never_in_memory_by_participants(monkeypatch):
    monkeypatch.setattr("analysis.statistics.variance_parts._UNITS_AT_ONCE", 100)
    people = 2_000
    person, frame = np.divmod(np.arange(people * 4), 4)
    value = np.random.default_rng(5).normal(size=len(person))
    tracemalloc.start()
    contrast_variance(value, weights(frame % 2, [1.0, -1.0]), frame % 2, (person, frame))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < people**2


def test_the_variance_of_a_contrast_takes_few_bytes_an_answer():
    person, frame = np.divmod(np.arange(4_000), 20)
    cell, value = (person + frame) % 2, np.random.default_rng(5).normal(size=len(person))
    weight = weights(cell, [1.0, -1.0])
    contrast_variance(value, weight, cell, (person, frame))
    tracemalloc.start()
    contrast_variance(value, weight, cell, (person, frame))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Ten million answers in 4 GiB, of which 1.5 are for the tables and 0.7 for the arguments.
    assert peak / len(value) < 175
