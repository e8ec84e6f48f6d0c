"""A Markov chain over orders, for constraints whose orders cannot be counted.

The chain swaps two trials at a time. Its stationary distribution gives an order with v violations
a weight of ``exp(-PENALTY * v)``; every order can be reached, and those without a violation all
weigh the same. Metropolis, Rosenbluth, Rosenbluth, Teller & Teller (1953), "Equation of state
calculations by fast computing machines", Journal of Chemical Physics 21, 1087-1092.
"""

import math
import random
from collections.abc import Sequence

from experiment.design.ordering.constraints import Constraint, keeps

PENALTY = 3.0
# A sweep is as many steps as there are trials.
SWEEPS = 40
_MORE_SWEEPS = 400


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
    for sweep in range(1, SWEEPS + _MORE_SWEEPS + 1):
        step_through(order, constraints, rng)
        if sweep >= SWEEPS and keeps(order, constraints):
            return order
    return None


def step_through(order: list[int], constraints: Sequence[Constraint], rng: random.Random) -> None:
    """Take one sweep of the chain in place."""
    n = len(order)
    for _ in range(n):
        a, b = int(rng.random() * n), int(rng.random() * n)
        if a == b:
            continue
        before = _violations(order, constraints, a, b)
        order[a], order[b] = order[b], order[a]
        worse = _violations(order, constraints, a, b) - before
        if worse > 0 and rng.random() >= math.exp(-PENALTY * worse):
            order[a], order[b] = order[b], order[a]


def _violations(order: list[int], constraints: Sequence[Constraint], a: int, b: int) -> int:
    return sum(each.violations(order, a) + each.violations(order, b) for each in constraints)
