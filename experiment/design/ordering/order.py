"""Even drawing of orders, by exact counting if feasible and by a Markov chain otherwise."""

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache, lru_cache
from math import comb

from experiment.design.ordering.constraints import Constraint, Labels, MinDistance, Spread, keeps
from experiment.design.ordering.spreading import (
    count_layers,
    draw_freely,
    draw_sequence,
    draw_spread,
    share_of_orders_accepted,
)
from experiment.errors import DesignError

MOST_STATES = 20_000

# The remaining sizes: of the group in question, of the others in falling order, and of the last
# trial's group (-1 for the group in question, None at the beginning).
_State = tuple[int, tuple[int, ...], int | None]


def position_shares(sizes: tuple[int, ...], group: int) -> list[float] | None:
    """Return the probability of each position for one trial of a group.

    All sequences without neighbours of the same group are equally probable.

    Args:
        sizes: The sizes of the groups.
        group: The number of the trial's group.

    Returns:
        A probability for each position; None if counting would take too many states.
    """
    other_sizes = sizes[:group] + sizes[group + 1 :]
    if _n_states(sizes[group], other_sizes) > MOST_STATES:
        return None
    layer: dict[_State, int] = {(sizes[group], tuple(sorted(other_sizes, reverse=True)), None): 1}
    total, shares = _count_endings(next(iter(layer))), list[float]()
    for _ in range(sum(sizes)):
        n_starting, following = 0, dict[_State, int]()
        for state, ways in layer.items():
            for next_state, times in _list_next_states(state):
                following[next_state] = following.get(next_state, 0) + ways * times
                if next_state[2] == -1:
                    n_starting += ways * times * _count_endings(next_state)
        layer = following
        shares.append(n_starting / total / sizes[group])
    _count_endings.cache_clear()
    return shares


def _n_states(size: int, other_sizes: tuple[int, ...]) -> int:
    states = (size + 1) * (len(other_sizes) + 1)
    for label in set(other_sizes):
        states *= comb(other_sizes.count(label) + label, label)
    return states


@cache
def _count_endings(state: _State) -> int:
    n_left, other_sizes, _ = state
    if not n_left and not other_sizes:
        return 1
    return sum(times * _count_endings(next_state) for next_state, times in _list_next_states(state))


def _list_next_states(state: _State) -> Iterator[tuple[_State, int]]:
    """Yield each possible next state, with the number of groups that lead to it."""
    n_left, other_sizes, last = state
    if n_left and last != -1:
        yield (n_left - 1, other_sizes, -1), 1
    for size in sorted(set(other_sizes)):
        times = other_sizes.count(size) - (last == size)
        if times:
            remaining = list(other_sizes)
            remaining.remove(size)
            # A group without remaining trials can no longer have neighbours of its own.
            remaining = sorted([*remaining, *([size - 1] if size > 1 else [])], reverse=True)
            yield (n_left, tuple(remaining), size - 1 if size > 1 else 0), times


# A sweep has as many steps as there are trials.
SWEEPS = 40
MORE_SWEEPS = 400
_PENALTY, _LONG_SESSION = 3.0, 400
# With a higher penalty a chain is more often free of violations, but moves more slowly. The second
# number is the interval, in sweeps, at which the order is tested: an order that keeps the
# constraints right after one that did not is more often close to a violation than an even draw.
_ANNEALING = ((0.0, 10), (1.0, 10), (2.0, 1))


def draw_by_chain(
    start: Sequence[int], constraints: Sequence[Constraint], rng: random.Random
) -> list[int] | None:
    """Return an order that keeps the constraints, after SWEEPS sweeps or more; None if not found.

    Args:
        start: The order that the chain starts from.
        constraints: The constraints to keep.
        rng: The random generator.
    """
    order = list(start)
    for higher, interval in _ANNEALING:
        for sweep in range(1, SWEEPS + MORE_SWEEPS + 1):
            sweep_once(order, constraints, rng, violation_cost(len(order)) + higher)
            if sweep >= SWEEPS and not sweep % interval and keeps(order, constraints):
                return order
    return None


def violation_cost(n: int) -> float:
    """Return the cost of a violation in an order of n trials.

    A longer order has more positions for violations, so that the cost of each grows with the
    length, and orders without violations stay common.
    """
    return _PENALTY + (math.log(2 * n / _LONG_SESSION) if n > _LONG_SESSION else 0.0)


def sweep_once(
    order: list[int], constraints: Sequence[Constraint], rng: random.Random, cost: float
) -> None:
    """Perform one sweep of the chain in place, with this cost per additional violation."""
    n = len(order)
    for _ in range(n):
        a, b = int(rng.random() * n), int(rng.random() * n)
        if a == b:
            continue
        violations_before = _count_violations(order, constraints, a, b)
        order[a], order[b] = order[b], order[a]
        worse = _count_violations(order, constraints, a, b) - violations_before
        if worse > 0 and rng.random() >= math.exp(-cost * worse):
            order[a], order[b] = order[b], order[a]


def _count_violations(order: list[int], constraints: Sequence[Constraint], a: int, b: int) -> int:
    n = 0
    for constraint in constraints:
        n += constraint.violations(order, a) + constraint.violations(order, b)
    return n


# Counting takes some seconds for this many trials; above, a chain is faster. If a group is spread,
# counted orders are drawn until one is accepted, which may take long.
_MOST_COUNTED, _MOST_WITH_SPREAD, _LEAST_ACCEPTED = 1200, 400, 1 / 1000


def draw_order(n: int, constraints: Sequence[Constraint], rng: random.Random) -> list[int]:
    """Return the trials' indices in an order that keeps the constraints.

    If ``is_counted`` returns True, every such order has exactly the same probability. Otherwise the
    order comes from a chain whose stationary distribution is uniform.

    Args:
        n: The number of trials.
        constraints: The constraints to keep.
        rng: The random generator.

    Raises:
        DesignError: No order that keeps the constraints exists, or none was found.
    """
    spread = next(
        (constraint for constraint in constraints if isinstance(constraint, Spread)), None
    )
    order: list[int] | None
    if not constraints:
        return rng.sample(range(n), n)
    groups = _separate_groups(n, _list_neighbour_labels(constraints))
    if spread is not None and len(constraints) == 1:
        order = _draw_unconstrained(n, spread, rng)
    elif is_counted(n, constraints) and groups is not None:
        order = _draw_by_counting(groups, spread, rng)
    else:
        start = _draw_by_counting(groups, None, rng) if groups and n <= _MOST_COUNTED else None
        order = draw_by_chain(start or rng.sample(range(n), n), constraints, rng)
    if order is None:
        raise _make_no_order_error(n, constraints)
    return order


def is_counted(n: int, constraints: Sequence[Constraint]) -> bool:
    """Return whether orders under these constraints are drawn by exact counting.

    This requires that the labels which neighbours must not share divide the trials into groups
    (several columns do if sharing any of them is an equivalence), and that at most one such group
    is spread over the session, with at least one in a thousand proposals accepted.
    """
    neighbour_labels = _list_neighbour_labels(constraints)
    spread = [constraint for constraint in constraints if isinstance(constraint, Spread)]
    most_trials = _MOST_WITH_SPREAD if spread else _MOST_COUNTED
    if n > most_trials or len(neighbour_labels) + len(spread) < len(constraints) or len(spread) > 1:
        return False
    groups = _separate_groups(n, neighbour_labels)
    if groups is None:
        return False
    if not (spread and neighbour_labels):
        return True
    other_groups = [group for group in groups if not spread[0].members & set(group)]
    n_spread = len(spread[0].members)
    return (
        sum(map(len, other_groups)) + n_spread == n
        and share_of_orders_accepted(tuple(map(len, other_groups)), n_spread) >= _LEAST_ACCEPTED
    )


def groups_apart(n: int, constraints: Sequence[Constraint]) -> tuple[tuple[int, ...], ...] | None:
    """Return the groups whose trials must not be neighbours; None if they form no partition."""
    return _separate_groups(n, _list_neighbour_labels(constraints))


def _list_neighbour_labels(constraints: Sequence[Constraint]) -> tuple[Labels, ...]:
    return tuple(
        constraint.labels
        for constraint in constraints
        if isinstance(constraint, MinDistance) and constraint.least == 2
    )


@lru_cache(maxsize=256)
def _separate_groups(n: int, labelings: tuple[Labels, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return the groups whose members must not be neighbours; None if they form no partition."""
    owner = list(range(n))
    for labels in labelings:
        first: dict[Hashable, int] = {}
        for index, label in enumerate(labels):
            if label is not None:
                other_group = owner[first.setdefault(label, index)]
                owner = [other_group if current == owner[index] else current for current in owner]
    members: dict[int, list[int]] = {}
    for index, group in enumerate(owner):
        members.setdefault(group, []).append(index)
    for group_members in members.values():
        for labels in labelings:
            if len({labels[index] for index in group_members} - {None}) <= 1 and not any(
                labels[index] is None for index in group_members
            ):
                break
        else:
            if len(group_members) > 1:
                return None
    return tuple(sorted((tuple(group) for group in members.values()), key=len, reverse=True))


def _draw_by_counting(
    groups: Sequence[Sequence[int]], spread: Spread | None, rng: random.Random
) -> list[int] | None:
    other_groups = [group for group in groups if not (spread and spread.members & set(group))]
    sizes = tuple(len(group) for group in other_groups)
    if spread is None:
        numbers = draw_sequence(sizes, 0, rng) if count_layers(sizes, 0)[-1].get(0) else None
    else:
        numbers = draw_spread(sizes, len(spread.members), rng)
    if numbers is None:
        return None
    waiting = [rng.sample(group, len(group)) for group in other_groups]
    # The last list is that of the spread trials, with index -1.
    waiting.append(rng.sample(sorted(spread.members), len(spread.members)) if spread else [])
    return [waiting[number].pop() for number in numbers]


def _draw_unconstrained(n: int, spread: Spread, rng: random.Random) -> list[int]:
    members = rng.sample(sorted(spread.members), len(spread.members))
    other_indices = rng.sample(
        [index for index in range(n) if index not in spread.members], n - len(members)
    )
    drawn = draw_freely(len(other_indices), len(members), rng)
    return [members.pop() if number == -1 else other_indices[number] for number in drawn]


def _make_no_order_error(n: int, constraints: Sequence[Constraint]) -> DesignError:
    requested = "; ".join(constraint.text for constraint in constraints)
    counts = Counter(
        label
        for labels in _list_neighbour_labels(constraints)
        for label in labels
        if label is not None
    )
    for label, count in counts.most_common(1):
        if count > (n + 1) // 2:
            return DesignError(
                f'"{label}" has too many trials, {count} of a session\'s {n}, to keep them apart',
                where="the order of the trials",
                expected="at most half of the trials with the same value",
                remedy='Add trials of other kinds, or set design.separate to "template" or ""',
            )
    return DesignError(
        f"no order of a session's {n} trials was found in which {requested}",
        where="the order of the trials",
        expected="constraints that can all be kept at once",
        remedy="Add fillers, or relax design.separate and design.order",
    )
