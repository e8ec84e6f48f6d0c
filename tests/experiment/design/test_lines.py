"""The line along which sides alternate: every order of its groups is equally likely."""

from fractions import Fraction
from itertools import pairwise, permutations

import pytest

from experiment.design.counterbalancing import _draw_contiguous_order
from tests.experiment.design.ordering.every_draw import exact


@pytest.mark.parametrize("constructions", ["aab", "abab", "aabc"])
def test_each_line_of_whole_constructions_is_equally_likely(constructions: str):
    found = exact(lambda rng: tuple(_draw_contiguous_order(constructions, rng)))
    whole = {
        each
        for each in permutations(range(len(constructions)))
        if 1 + sum(constructions[a] != constructions[b] for a, b in pairwise(each))
        == len({*constructions})
    }
    assert found == dict.fromkeys(whole, Fraction(1, len(whole)))


def test_a_construction_s_conditions_stand_together_and_the_groups_in_any_order():
    found = exact(lambda rng: tuple(_draw_contiguous_order("aaab", rng, "yxyx")))
    assert found == dict.fromkeys(
        [(1, 0, 2, 3), (1, 2, 0, 3), (3, 1, 0, 2), (3, 1, 2, 0)], Fraction(1, 4)
    )
