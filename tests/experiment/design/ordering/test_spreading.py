"""A group that is spread between others: its ways are counted, its bound holds, draws are even."""

import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import pytest

from experiment.design.ordering import spreading
from experiment.design.ordering.constraints import MinDistance, Spread, keeps
from experiment.design.ordering.order import draw_order, is_counted
from experiment.design.ordering.spreading import (
    count_placements,
    draw_freely,
    placement_bounds,
    propose_spread,
    share_of_orders_accepted,
    stretch_lengths,
)
from tests.experiment.design.ordering.every_draw import exact, weighted


def placements(n_others: int, n_spread: int) -> Iterator[tuple[int, ...]]:
    """Yield the gaps that spread trials take, for each way to give each stretch one of them."""
    total = n_others + n_spread
    stretches = [range(i * total // n_spread, (i + 1) * total // n_spread) for i in range(n_spread)]
    for positions in product(*stretches):
        if all(b - a > 1 for a, b in pairwise(positions)):
            yield tuple(position - number for number, position in enumerate(positions))


SHAPES = [(n_others, n_spread) for n_spread in range(1, 5) for n_others in range(n_spread, 10)]


@pytest.mark.parametrize(("n_others", "n_spread"), SHAPES)
def test_ways_are_those_of_all_placements_and_never_above_the_bound(n_others: int, n_spread: int):
    bounds = placement_bounds(stretch_lengths(n_others + n_spread, n_spread))
    ways: dict[tuple[int, ...], int] = defaultdict(int)
    for gaps in placements(n_others, n_spread):
        inner = [gap for gap in gaps if 0 < gap < n_others]
        for size in range(len(inner) + 1):
            for alike in combinations(inner, size):
                ways[alike] += 1
    for size in range(min(n_spread, n_others - 1) + 1):
        for alike in combinations(range(1, n_others), size):
            counted = sum(count_placements(alike, n_others, n_spread)[0].values())
            assert counted == ways[alike] <= bounds[size]


def sequences(sizes: tuple[int, ...], n_spread: int) -> set[tuple[int, ...]]:
    """Return every sequence without alike neighbours and with one -1 in each stretch."""
    trials = [-1] * n_spread + [group for group, n in enumerate(sizes) for _ in range(n)]
    lengths = stretch_lengths(len(trials), n_spread)
    found = set()
    for each in set(permutations(trials)):
        rest = iter(each)
        counts = [[next(rest) for _ in range(length)].count(-1) for length in lengths]
        if counts == [1] * n_spread and all(a != b for a, b in pairwise(each)):
            found.add(each)
    return found


GROUPS = [(2, 1), (3,), (2, 2), (3, 1), (3, 2), (4, 1)]


@pytest.mark.parametrize("n_spread", [1, 2, 3])
@pytest.mark.parametrize("sizes", GROUPS)
def test_each_proposal_is_each_sequence_with_the_same_probability(
    sizes: tuple[int, ...], n_spread: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spreading, "draw_weighted", weighted)
    found = exact(lambda rng: tuple(propose_spread(sizes, n_spread, rng) or ()))
    rejected = found.pop((), Fraction(0))
    expected = sequences(sizes, n_spread)
    assert set(found) == expected
    assert set(found.values()) == ({(1 - rejected) / len(expected)} if expected else set())


@pytest.mark.parametrize(("n_others", "n_spread"), [(2, 1), (2, 2), (3, 2), (2, 3), (4, 2)])
def test_a_group_that_is_only_spread_takes_each_place_with_the_same_probability(
    n_others: int, n_spread: int
):
    found = exact(lambda rng: tuple(draw_freely(n_others, n_spread, rng)))
    lengths = stretch_lengths(n_others + n_spread, n_spread)
    assert len(set(found.values())) == 1
    ways = len(set(permutations(range(n_others))))
    for length in lengths:
        ways *= length
    assert len(found) == ways


def test_the_share_that_is_accepted_is_foretold():
    rng = random.Random(1)
    accepted = sum(propose_spread((20, 20, 20), 6, rng) is not None for _ in range(400))
    assert accepted / 400 == pytest.approx(share_of_orders_accepted((20, 20, 20), 6), abs=0.08)


def test_where_next_to_no_proposal_would_be_accepted_a_chain_gives_the_order():
    sizes = (30, 45, 45, 40)
    labels = tuple(group for group, n in enumerate(sizes) for _ in range(n))
    constraints = [MinDistance("construction", labels), Spread("catch", frozenset(range(30)))]
    assert share_of_orders_accepted(sizes[1:], 30) < 1 / 1000
    assert not is_counted(len(labels), constraints)
    assert keeps(draw_order(len(labels), constraints, random.Random(1)), constraints)
