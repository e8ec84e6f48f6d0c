"""Violations of each constraint, counted again from what it says, in every short order."""

import math
import random
from collections.abc import Hashable, Sequence
from itertools import combinations_with_replacement, product

import pytest

from experiment.design.ordering import order
from experiment.design.ordering.constraints import (
    Constraint,
    MinDistance,
    RunLimit,
    SessionStart,
    Spread,
    keeps,
)

Labels = tuple[Hashable | None, ...]
EVERY = [labels for n in range(1, 7) for labels in product(("a", "b", None), repeat=n)]


def near(labels: Labels, at: int, least: int) -> int:
    """Return how many others with the label stand nearer than allowed."""
    return sum(
        label is not None and label == labels[at] and 0 < abs(other - at) < least
        for other, label in enumerate(labels)
    )


def stretches(labels: Labels, at: int, most: int) -> int:
    """Return how many stretches of one alike trial too many have the position."""
    return sum(
        labels[at] is not None and set(labels[start : start + most + 1]) == {labels[at]}
        for start in range(len(labels) - most)
        if start <= at <= start + most
    )


@pytest.mark.parametrize("number", [1, 2, 3])
def test_violations_are_those_of_the_definition(number: int):
    for labels in EVERY:
        order = range(len(labels))
        for at in order:
            distance, row = MinDistance("N", labels, number + 1), RunLimit("N", labels, number)
            assert distance.violations(order, at) == near(labels, at, number + 1)
            assert row.violations(order, at) == stretches(labels, at, number)
            beginning = SessionStart("fillers", tuple(label == "a" for label in labels), number)
            assert beginning.violations(order, at) == (at < number and labels[at] != "a")


def test_stretches_begin_and_end_where_equal_parts_do():
    for k, n in combinations_with_replacement(range(1, 13), 2):
        borders = [(part * n // k, (part + 1) * n // k) for part in range(k)]
        spread = Spread("catch", frozenset(range(k)))
        for position in range(n):
            [own] = [(start, end) for start, end in borders if start <= position < end]
            assert spread.stretch(position, n) == own


def test_what_is_asked_is_said():
    assert MinDistance("N", ()).text == "neighbours differ in N"
    assert MinDistance("N", (), 3).text == "trials that share N stand 3 or more apart"
    assert MinDistance("N", (), 1).text == "trials that share N stand 1 or more apart"


def test_a_violation_costs_more_in_a_long_session():
    assert [order.violation_cost(n) for n in (1, 400)] == [3, 3]
    assert order.violation_cost(800) == pytest.approx(3 + math.log(4))
    assert order.violation_cost(401) == pytest.approx(3 + math.log(802 / 400))


def test_an_order_is_looked_for_in_three_rounds_of_440_sweeps(monkeypatch: pytest.MonkeyPatch):
    costs, looked = list[float](), list[int]()

    def step(order: list[int], asked: Sequence[Constraint], rng: random.Random, cost: float):
        costs.append(cost)

    def look(order: Sequence[int], asked: Sequence[Constraint]) -> bool:
        looked.append(len(costs))
        return False

    monkeypatch.setattr(order, "sweep_once", step)
    monkeypatch.setattr(order, "keeps", look)
    assert order.draw_by_chain([0, 1], [MinDistance("N", ("a", "a"))], random.Random(1)) is None
    assert costs == [3.0] * 440 + [4.0] * 440 + [5.0] * 440
    tens = range(40, 441, 10)
    assert looked == [*tens, *(440 + n for n in tens), *(880 + n for n in range(40, 441))]


@pytest.mark.parametrize(("chance", "swapped"), [(0.135, True), (0.136, False)])
def test_a_swap_for_the_worse_is_made_as_often_as_metropolis_says(chance: float, swapped: bool):
    class Told(random.Random):
        values = iter([0.3, 0.9, chance, *[0.0] * 8])

        def random(self) -> float:
            return next(self.values)

    # The second and the fifth change places: two pairs of alike neighbours, exp(-2) = 0.1353.
    trials, asked = [0, 1, 2, 3, 4], [MinDistance("N", tuple("abaca"))]
    assert keeps(trials, asked)
    order.sweep_once(trials, asked, Told(), 1.0)
    assert (trials == [0, 4, 2, 3, 1]) is swapped
