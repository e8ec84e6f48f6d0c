"""Counts of orders, worked out by hand or from all of them."""

import random
from itertools import product

import pytest

from experiment.design.lists import ListEntry
from experiment.design.ordering.constraints import Beginning, Distance
from experiment.design.ordering.declared import declared
from experiment.design.ordering.order import draw_order
from experiment.design.ordering.positions import MOST_STATES, _n_states, position_shares
from experiment.design.ordering.spreading import (
    count_placements,
    placement_bounds,
    share_accepted,
    stretch_lengths,
)
from experiment.errors import DesignError
from experiment.records import Kind
from tests.experiment.design.small_studies import make_items, make_study


@pytest.mark.parametrize(
    ("lengths", "bounds"),
    [
        # One trial at any of five positions; a gap within can be taken in one way.
        ((5,), [5, 1]),
        ((1,), [1, 0]),
        ((2,), [2, 0]),
        # Both in stretches of three: 3 x 3 ways less that with one gap for both. The gap on the
        # border can be taken by the first (2 ways for the other) or by the second (2 more).
        ((3, 3), [8, 4, 1]),
        ((2, 2), [3, 2, 0]),
        ((2, 3), [5, 3, 1]),
        # Of two positions side by side both are taken, which no gap allows.
        ((1, 1), [0, 0, 0]),
        ((2, 1), [1, 1, 0]),
    ],
)
def test_the_most_ways_to_take_gaps(lengths: tuple[int, ...], bounds: list[int]):
    assert placement_bounds(lengths) == bounds


@pytest.mark.parametrize(
    ("n_others", "n_spread"), [(n, k) for n, k in product(range(1, 9), range(1, 5)) if n >= k - 1]
)
def test_where_no_gap_is_asked_for_the_bound_is_the_number_of_ways(n_others: int, n_spread: int):
    ways = sum(count_placements((), n_others, n_spread)[0].values())
    assert placement_bounds(stretch_lengths(n_others + n_spread, n_spread))[0] == ways


def test_the_share_of_proposals_that_is_accepted():
    # Of two and two others: abab, baba with 5 ways each; abba, baab, of whose three gaps one is
    # parted in 10 // 3 ways of the 5 x 2, with a bound of 1 each.
    assert share_accepted((2, 2), 1) == (10 + 3) / (10 + 2)
    assert share_accepted((4,), 1) == 1


def test_states_are_counted_before_they_are_made():
    # What is left of two: 3; which group was last: one of two, or none; of two groups of two: 6.
    assert _n_states(2, (2, 2)) == 3 * 3 * 6
    assert _n_states(1, (3, 1, 1)) == 2 * 4 * 4 * 3
    # 2 (n + 1) (n + 1) states of n groups of one and another.
    n = 98
    assert _n_states(1, (1,) * n) == 2 * (n + 1) ** 2 <= MOST_STATES
    assert position_shares((1, *[1] * n), 0) == pytest.approx([1 / (n + 1)] * (n + 1))
    assert position_shares((1, *[1] * (n + 2)), 0) is None


def test_just_half_of_the_trials_are_not_too_many():
    asked = [Distance("letter", tuple("aab")), Beginning("not a", (False, False, True), 1)]
    with pytest.raises(DesignError, match="no order of a session's 3 trials was found"):
        draw_order(3, asked, random.Random(1))


def test_groups_are_spread_in_the_order_of_their_names():
    names = [f"c{n}" for n in range(9)]
    entries = [
        ListEntry(item, Kind.CATCH)
        for name in reversed(names)
        for item in make_items(name, {"N": 1}, ["plain"])
    ]
    design = make_study([{"templates": names}], lists=1, trials_per_list=9, separate="").design
    assert [each.text for each in declared(entries, design)] == [
        f"the 1 trials of {name} come one per stretch" for name in names
    ]
