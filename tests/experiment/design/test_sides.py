"""On which side the good option stands."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from experiment.design.sides import good_sides
from experiment.records import Side

lists_of_constructions = st.lists(st.sampled_from("abcde"), min_size=1, max_size=80)


def is_half(part: int, whole: int) -> bool:
    return part in (whole // 2, whole - whole // 2)


@given(lists_of_constructions, st.integers(), st.integers(0, 9), st.integers(0, 9))
def test_half_of_the_trials_and_half_of_each_construction_have_good_first(
    constructions: list[str], seed: int, list_: int, place: int
):
    sides = good_sides(constructions, seed, list_, place)
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
    even = good_sides(constructions, seed, 0, 2 * pair)
    odd = good_sides(constructions, seed, 0, 2 * pair + 1)
    assert all(a is not b for a, b in zip(even, odd, strict=True))


@given(lists_of_constructions, st.integers())
def test_over_ten_places_each_item_has_good_first_five_times(constructions: list[str], seed: int):
    places = [good_sides(constructions, seed, 3, place) for place in range(10)]
    for sides in zip(*places, strict=True):
        assert sides.count(Side.FIRST) == 5


def test_lists_pairs_and_seeds_differ_in_their_sides():
    constructions = ["a"] * 40
    drawn = [
        tuple(good_sides(constructions, seed, list_, place))
        for seed in (1, 2)
        for list_ in (0, 1)
        for place in (0, 2)
    ]
    assert len(set(drawn)) == len(drawn)


def test_the_same_place_has_the_same_sides_again():
    constructions = ["a", "b"] * 10
    assert good_sides(constructions, 7, 1, 2) == good_sides(constructions, 7, 1, 2)
