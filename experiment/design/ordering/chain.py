"""A Markov chain over orders, for constraints whose orders cannot be counted.

The chain swaps two trials at a time. Its stationary distribution gives an order with v violations
a weight of ``exp(-penalty * v)``; every order can be reached, and those without a violation all
weigh the same. Metropolis, Rosenbluth, Rosenbluth, Teller & Teller (1953), "Equation of state
calculations by fast computing machines", Journal of Chemical Physics 21, 1087-1092.
"""

import math
import random
from collections.abc import Sequence

from experiment.design.ordering.constraints import Constraint, keeps

# A sweep is as many steps as there are trials.
SWEEPS = 40
MORE_SWEEPS = 400
_PENALTY, _LONG_SESSION = 3.0, 400
# With a higher penalty a chain is more often without a violation, and moves more slowly. The second
# number says after how many sweeps the order is looked at: the first one that keeps the constraints
# right after one that did not is more often next to a violation than an even draw would be.
_ROUNDS = ((0.0, 10), (1.0, 10), (2.0, 1))


def draw_by_chain(
    start: Sequence[int], constraints: Sequence[Constraint], rng: random.Random
) -> list[int] | None:
    """Return an order that keeps the constraints, after SWEEPS sweeps or more; None if none came.

    Args:
        start: The order that the chain starts from.
        constraints: What the order must keep.
        rng: The source of randomness.
    """
    order = list(start)
    for higher, every in _ROUNDS:
        for sweep in range(1, SWEEPS + MORE_SWEEPS + 1):
            step_through(order, constraints, rng, penalty(len(order)) + higher)
            if sweep >= SWEEPS and not sweep % every and keeps(order, constraints):
                return order
    return None


def penalty(n: int) -> float:
    """Return what a violation costs in an order of n trials.

    The longer the order, the more places there are for a violation; with their number grows what
    each costs, so that orders without any stay common.
    """
    return _PENALTY + (math.log(2 * n / _LONG_SESSION) if n > _LONG_SESSION else 0.0)


def step_through(
    order: list[int], constraints: Sequence[Constraint], rng: random.Random, cost: float
) -> None:
    """Take one sweep of the chain in place; each violation more costs so much."""
    n = len(order)
    for _ in range(n):
        a, b = int(rng.random() * n), int(rng.random() * n)
        if a == b:
            continue
        before = _violations(order, constraints, a, b)
        order[a], order[b] = order[b], order[a]
        worse = _violations(order, constraints, a, b) - before
        if worse > 0 and rng.random() >= math.exp(-cost * worse):
            order[a], order[b] = order[b], order[a]


def _violations(order: list[int], constraints: Sequence[Constraint], a: int, b: int) -> int:
    found = 0
    for each in constraints:
        found += each.violations(order, a) + each.violations(order, b)
    return found
