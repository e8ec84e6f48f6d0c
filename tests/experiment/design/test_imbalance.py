"""How unevenly lists fill, in studies of which each participant's fate is written down."""

import random
from collections.abc import Iterable

import pytest

from experiment.design.frames import CHANCE, COUNTER, Imbalance, expected_imbalance, list_difference
from experiment.errors import DesignError


class Told(random.Random):
    """Says what it was told to, and has no more than that."""

    def __init__(self, values: Iterable[float]) -> None:
        super().__init__(0)
        self._values = iter(values)

    def random(self) -> float:
        return next(self._values)


def of_one(finishing: int) -> Imbalance:
    """One person on two lists, who finishes in so many of the 2,000 studies and leaves in all."""
    fates = [1.0] * finishing + [0.0] * (2000 - finishing)
    return expected_imbalance(2, 1, 0.5, COUNTER, Told(fates))


@pytest.mark.parametrize(
    ("finishing", "low", "high"),
    [(0, 0, 0), (99, 0, 0), (101, 0, 1), (1899, 0, 1), (1901, 1, 1), (2000, 1, 1)],
)
def test_an_end_of_the_range_is_passed_in_one_case_of_twenty(finishing: int, low: int, high: int):
    assert of_one(finishing) == Imbalance(finishing / 2000, low, high)


@pytest.mark.parametrize(("participants", "apart"), [(1, 1), (4, 1), (6, 0), (7, 1)])
def test_numbers_in_a_row_fill_lists_in_turn(participants: int, apart: int):
    found = expected_imbalance(3, participants, 0.0, COUNTER, random.Random(1))
    assert found == Imbalance(apart, apart, apart)


def test_numbers_by_chance_put_two_people_together_as_often_as_not():
    found = expected_imbalance(2, 2, 0.0, CHANCE, random.Random(1))
    assert (found.low, found.high) == (0, 2)
    assert found.mean == pytest.approx(1, abs=5 / 2000**0.5)


def test_lists_without_anybody_count():
    assert list_difference({0: 2, 1: 5}, 2) == 3
    assert list_difference({0: 2, 1: 5}, 3) == 5


@pytest.mark.parametrize(("dropout", "way"), [(1.0, COUNTER), (-0.1, COUNTER), (0.5, "coin")])
def test_what_is_no_share_or_no_way_is_refused(dropout: float, way: str):
    with pytest.raises(
        DesignError, match="not a share" if way == COUNTER else "not a way to assign"
    ):
        expected_imbalance(2, 2, dropout, way, random.Random(1))
