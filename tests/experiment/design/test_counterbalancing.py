"""On which side the good option stands."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from experiment.design.counterbalancing import option_orders, target_positions
from experiment.records import Side

lists_of_constructions = st.lists(st.sampled_from("abcde"), min_size=1, max_size=80)


def is_half(part: int, whole: int) -> bool:
    return part in (whole // 2, whole - whole // 2)


@given(lists_of_constructions, st.integers(), st.integers(0, 9), st.integers(0, 9))
def test_half_of_the_trials_and_half_of_each_construction_have_good_first(
    constructions: list[str], seed: int, list_: int, place: int
):
    sides = target_positions(constructions, seed, list_, place)
    assert is_half(sides.count(Side.FIRST), len(constructions))
    firsts = Counter(
        construction
        for construction, side in zip(constructions, sides, strict=True)
        if side is Side.FIRST
    )
    for construction, n in Counter(constructions).items():
        assert is_half(firsts[construction], n)


@given(lists_of_constructions, st.integers(), st.integers(0, 4))
def test_a_pair_of_places_has_opposite_sides(constructions: list[str], seed: int, pair: int):
    even = target_positions(constructions, seed, 0, 2 * pair)
    odd = target_positions(constructions, seed, 0, 2 * pair + 1)
    assert all(a is not b for a, b in zip(even, odd, strict=True))


@given(lists_of_constructions, st.integers())
def test_over_ten_places_each_item_has_good_first_five_times(constructions: list[str], seed: int):
    places = [target_positions(constructions, seed, 3, place) for place in range(10)]
    for sides in zip(*places, strict=True):
        assert sides.count(Side.FIRST) == 5


def test_lists_pairs_and_seeds_differ_in_their_sides():
    constructions = ["a"] * 40
    drawn = [
        tuple(target_positions(constructions, seed, list_, place))
        for seed in (1, 2)
        for list_ in (0, 1)
        for place in (0, 2)
    ]
    assert len(set(drawn)) == len(drawn)


def test_the_same_place_has_the_same_sides_again():
    constructions = ["a", "b"] * 10
    assert target_positions(constructions, 7, 1, 2) == target_positions(constructions, 7, 1, 2)


@given(lists_of_constructions, st.integers(), st.integers(0, 9), st.integers(2, 5))
def test_good_stands_in_each_of_several_places_about_equally_often(
    constructions: list[str], seed: int, place: int, n: int
):
    versions = [("good", *(f"other{k}" for k in range(1, n)))] * len(constructions)
    orders = option_orders(versions, constructions, seed, 0, place)
    places = Counter(
        (name, order.index("good")) for name, order in zip(constructions, orders, strict=True)
    )
    for name, number in Counter(constructions).items():
        found = [places[name, k] for k in range(n)]
        assert sum(found) == number
        assert max(found) - min(found) <= 1


@given(lists_of_constructions, st.integers(), st.integers(0, 3), st.integers(2, 5))
def test_over_as_many_places_as_options_each_stands_once_in_each(
    constructions: list[str], seed: int, turn: int, n: int
):
    versions = [("good", *(f"other{k}" for k in range(1, n)))] * len(constructions)
    places = [
        option_orders(versions, constructions, seed, 1, place)
        for place in range(turn * n, (turn + 1) * n)
    ]
    for orders in zip(*places, strict=True):
        for column in zip(*orders, strict=True):
            assert sorted(column) == sorted(versions[0])


@given(lists_of_constructions, st.integers(), st.data())
def test_half_of_each_condition_has_good_first_where_conditions_are_given(
    constructions: list[str], seed: int, data
):
    conditions = data.draw(
        st.lists(st.sampled_from("xyz"), min_size=len(constructions), max_size=len(constructions))
    )
    sides = target_positions(constructions, seed, 0, 0, conditions)
    assert is_half(sides.count(Side.FIRST), len(constructions))
    cells = list(zip(constructions, conditions, strict=True))
    firsts = Counter(cell for cell, side in zip(cells, sides, strict=True) if side is Side.FIRST)
    for cell, number in Counter(cells).items():
        assert is_half(firsts[cell], number)
