"""Every order that keeps the constraints has the same probability: counted, not sampled."""

import random
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations
from math import exp, factorial, log, nextafter

import numpy as np
import pytest

from experiment.design.ordering import order, spreading
from experiment.design.ordering.constraints import (
    Constraint,
    MinDistance,
    RunLimit,
    SessionStart,
    Spread,
    keeps,
)
from experiment.design.ordering.order import draw_order, groups_apart, is_counted
from experiment.errors import DesignError
from tests.experiment.design.ordering.every_draw import Told, exact, weighted

# Each mechanism on one labelling of five trials, and on another that lies across it.
FIRST, SECOND = "aabbc", "xyxyy"


def asked(name: str, labels: str) -> Constraint:
    """Return a constraint of five trials by the name of its mechanism."""
    letter = labels[0]
    own = tuple(labels)
    match name:
        case "apart":
            return MinDistance("letter", tuple(None if each == "y" else each for each in own))
        case "far apart":
            return MinDistance("letter", tuple(None if each != letter else each for each in own), 3)
        case "in a row":
            return RunLimit("letter", own, 1 if labels is FIRST else 2)
        case "beginning":
            return SessionStart(letter, tuple(each != letter for each in own), 1)
        case _:
            # A study spreads groups of one column, which have no trial in common.
            letter, own = ("a", tuple(FIRST)) if labels is FIRST else ("b", tuple(FIRST))
            return Spread(letter, frozenset(i for i, each in enumerate(own) if each == letter))


MECHANISMS = ("apart", "far apart", "in a row", "beginning", "spread")
CROSSINGS = [
    *([(name, FIRST)] for name in MECHANISMS),
    # Of one group, as the founding study has it.
    [("apart", FIRST), ("spread", FIRST)],
    *(
        [(one, FIRST), (other, SECOND)]
        for one, other in combinations_with_replacement(MECHANISMS, 2)
    ),
]


def allowed_orders(n: int, constraints: list[Constraint]) -> set[tuple[int, ...]]:
    return {each for each in permutations(range(n)) if keeps(each, constraints)}


@pytest.mark.parametrize(
    "crossing", CROSSINGS, ids=lambda crossing: " and ".join(name for name, _ in crossing)
)
def test_every_order_that_keeps_the_constraints_is_equally_likely(crossing, monkeypatch):
    constraints = [asked(name, labels) for name, labels in crossing]
    allowed = allowed_orders(len(FIRST), constraints)
    assert 1 < len(allowed) < factorial(len(FIRST))
    if is_counted(len(FIRST), constraints):
        assert_counted_evenly(len(FIRST), constraints, allowed, monkeypatch)
    else:
        assert_chained_evenly(len(FIRST), constraints, allowed)


@pytest.mark.parametrize("higher", [1.0, 2.0, log(6)])
@pytest.mark.parametrize("name", ["far apart", "in a row", "spread"])
def test_a_higher_penalty_leaves_the_chain_even(name: str, higher: float):
    constraints = (asked(name, FIRST),)
    allowed = allowed_orders(len(FIRST), list(constraints))
    step = transitions(len(FIRST), constraints, order.violation_cost(len(FIRST)) + higher)
    in_the_end = np.linalg.matrix_power(step, 2**20)[0]
    orders = permutations(range(len(FIRST)))
    given = [share for share, each in zip(in_the_end, orders, strict=True) if each in allowed]
    assert given == pytest.approx([given[0]] * len(allowed))
    assert sum(given) > 1 / 2


def assert_counted_evenly(n, constraints, allowed, monkeypatch):
    """Compare exact probabilities, of one proposal where orders are proposed."""
    monkeypatch.setattr(spreading, "draw_weighted", weighted)
    monkeypatch.setattr(spreading, "_MOST_TRIES", 1)

    def draw(rng: random.Random) -> tuple[int, ...] | None:
        try:
            return tuple(draw_order(n, constraints, rng))
        except DesignError:
            return None

    found = exact(draw)
    rejected = found.pop(None, Fraction(0))
    assert set(found) == allowed
    assert set(found.values()) == {(1 - rejected) / len(allowed)}


def assert_chained_evenly(n, constraints, allowed):
    """Follow the chain's own steps from where it starts; how far it is from even is computed."""
    orders = list(permutations(range(n)))
    # It starts from an even draw of the orders without alike neighbours, or of all.
    apart = [each for each in constraints if isinstance(each, MinDistance) and each.least == 2]
    starts = allowed_orders(n, apart if groups_apart(n, constraints) else [])
    here = np.array([(each in starts) / len(starts) for each in orders])
    _, every = order._ANNEALING[0]
    assert order.SWEEPS % every == 0
    sweep = np.linalg.matrix_power(transitions(n, tuple(constraints), order.violation_cost(n)), n)
    here = here @ np.linalg.matrix_power(sweep, order.SWEEPS - every)
    between = np.linalg.matrix_power(sweep, every)
    keeping = np.array([each in allowed for each in orders])
    given = np.zeros(len(orders))
    # The first order that keeps the constraints, of those that are looked at, is taken.
    for _ in range(order.MORE_SWEEPS // every + 1):
        here = here @ between
        given += np.where(keeping, here, 0)
        here = np.where(keeping, 0, here)
    assert given.sum() == pytest.approx(1)
    assert given[keeping] * len(allowed) == pytest.approx(1, abs=0.005)


@cache
def transitions(n: int, constraints: tuple[Constraint, ...], cost: float) -> np.ndarray:
    """Return the probability of going from each order to each other in one step of the chain."""
    orders = list(permutations(range(n)))
    number = {order: at for at, order in enumerate(orders)}
    found = np.zeros((len(orders), len(orders)))
    for here, each in enumerate(orders):
        for a, b in combinations(range(n), 2):
            there = list(each)
            there[a], there[b] = there[b], there[a]
            found[here, number[tuple(there)]] = 2 / n**2 * acceptance(each, a, b, constraints, cost)
        found[here, here] = 1 - found[here].sum()
    return found


def acceptance(before, a, b, constraints, cost) -> float:
    """Return with which probability the chain swaps two trials, found by asking it."""
    n = len(before)

    def swaps(drawn: float) -> bool:
        there = list(before)
        # A sweep takes n steps; this one ends in the second.
        with pytest.raises(StopIteration):
            told = Told([(a + 0.5) / n, (b + 0.5) / n, drawn])
            order.sweep_once(there, constraints, told, cost)
        return there != list(before)

    if swaps(nextafter(1, 0)):
        return 1.0
    worse = next(worse for worse in range(1, 20) if swaps(nextafter(exp(-cost * worse), 0)))
    assert not swaps(exp(-cost * worse))
    return exp(-cost * worse)
