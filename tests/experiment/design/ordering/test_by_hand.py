"""Counts of orders, worked out by hand or from all of them."""

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import nextafter

import pytest

from experiment.design.ordering import order, spreading
from experiment.design.ordering.constraints import (
    MinDistance,
    RunLimit,
    SessionStart,
    Spread,
    declare_constraints,
)
from experiment.design.ordering.order import (
    MOST_STATES,
    _n_states,
    draw_order,
    is_counted,
    position_shares,
)
from experiment.design.ordering.spreading import (
    count_layers,
    count_placements,
    draw_sequence,
    placement_bounds,
    propose_spread,
    share_of_orders_accepted,
    stretch_lengths,
)
from experiment.errors import DesignError
from experiment.records import Kind, ListEntry
from tests.experiment.design.ordering.every_draw import exact, weighted
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
    assert share_of_orders_accepted((2, 2), 1) == (10 + 3) / (10 + 2)
    assert share_of_orders_accepted((4,), 1) == 1


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
    asked = [MinDistance("letter", tuple("aab")), SessionStart("not a", (False, False, True), 1)]
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
    assert [each.text for each in declare_constraints(entries, design)] == [
        f"the 1 trials of {name} come one per stretch" for name in names
    ]


def sequences(sizes: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """Return every sequence of the groups, with how many of its neighbours are alike."""
    trials = [group for group, n in enumerate(sizes) for _ in range(n)]
    return {each: sum(a == b for a, b in pairwise(each)) for each in set(permutations(trials))}


SIZES = [(1,), (3,), (1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (1, 1, 2), (2, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize("sizes", SIZES)
def test_counts_are_those_of_all_sequences_and_each_is_drawn_as_often(sizes: tuple[int, ...]):
    alike = sequences(sizes)
    for most in (0, 1, 3):
        counted = Counter(n for n in alike.values() if n <= most)
        assert count_layers(sizes, most)[-1] == counted
    if sum(sizes) > 5:
        return
    for n in (0, 1, 2):
        own = {each for each, found in alike.items() if found == n}
        if own:
            drawn = exact(lambda rng, n=n: tuple(draw_sequence(sizes, n, rng, most_alike=2)))
            assert drawn == dict.fromkeys(own, Fraction(1, len(own)))


@pytest.mark.parametrize("sizes", [(2, 1), (3,), (2, 2)])
def test_each_small_sequence_is_proposed_as_often(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spreading, "draw_weighted", weighted)
    found = exact(lambda rng: tuple(propose_spread(sizes, 2, rng) or ()))
    rejected = found.pop((), Fraction(0))
    trials = [-1, -1, *(group for group, n in enumerate(sizes) for _ in range(n))]
    first = len(trials) // 2
    own = {
        each
        for each in set(permutations(trials))
        if each[:first].count(-1) == 1 and all(a != b for a, b in pairwise(each))
    }
    assert found == dict.fromkeys(own, (1 - rejected) / len(own))


def labelled(text: str) -> MinDistance:
    return MinDistance("letter", tuple(None if each == "." else each for each in text))


S = Spread("s", frozenset({0, 1}))
ALONE = Spread("t", frozenset({2}))


@pytest.mark.parametrize(
    ("n", "asked", "counted"),
    [
        (4, [], True),
        (4, [labelled("aabb")], True),
        (4, [S], True),
        (5, [labelled("ssaab"), S], True),
        # Of two groups one is spread and the other is spread too.
        (5, [S, ALONE], False),
        (5, [MinDistance("letter", tuple("aabbc"), 3)], False),
        (5, [labelled("aabbc"), RunLimit("letter", tuple("aabbc"), 2)], False),
        # Sharing either of two columns makes no groups.
        (3, [labelled("aa."), labelled(".bb")], False),
        # The spread trials are no group of what is kept apart.
        (5, [labelled("aabab"), S], False),
    ],
)
def test_orders_are_counted_where_groups_are_kept_apart_and_one_is_spread(
    n: int, asked: list[MinDistance], counted: bool
):
    assert is_counted(n, asked) is counted


@pytest.mark.parametrize(
    ("share", "counted"), [(1 / 1000, True), (nextafter(1 / 1000, 0), False), (1.0, True)]
)
def test_one_of_a_thousand_proposals_is_enough(
    share: float, counted: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(order, "share_of_orders_accepted", lambda sizes, n_spread: share)
    assert is_counted(5, [labelled("ssaab"), S]) is counted


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ([labelled("aab")], {"aba"}),
        ([labelled("ab.")], {"ab.", "a.b", "ba.", "b.a", ".ab", ".ba"}),
        # Of four, one of the first two and one of the last two.
        ([Spread("a", frozenset({0, 1}))], {"abab", "abba", "baab", "baba"}),
    ],
)
def test_small_orders_are_equally_likely(asked: list[MinDistance], allowed: set[str]):
    texts = {3: "aab" if "aba" in allowed else "ab.", 4: "aabb"}
    text = texts[len(next(iter(allowed)))]
    drawn = exact(lambda rng: tuple(draw_order(len(text), asked, rng)))
    assert {"".join(text[index] for index in each) for each in drawn} == allowed
    assert len(set(drawn.values())) == 1
