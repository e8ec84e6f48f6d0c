"""Drawing a session's order: exactly where orders can be counted, else by a chain."""

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache

from experiment.design.ordering.chain import draw_by_chain
from experiment.design.ordering.constraints import Constraint, Distance, Labels, Spread
from experiment.design.ordering.counting import count_layers, draw_sequence
from experiment.design.ordering.spreading import draw_freely, draw_spread, share_accepted
from experiment.errors import DesignError

# Counting takes some seconds for so many trials; beyond this a chain is faster. Where a group is
# spread, counted orders are drawn until one is accepted, which may take long.
_MOST_COUNTED, _MOST_WITH_SPREAD, _LEAST_ACCEPTED = 1200, 400, 1 / 1000


def draw_order(n: int, constraints: Sequence[Constraint], rng: random.Random) -> list[int]:
    """Return the trials' indices in an order that keeps the constraints.

    Where ``is_counted`` says so, every such order has exactly the same probability. Otherwise the
    order comes from a chain whose stationary distribution is even.

    Args:
        n: How many trials there are.
        constraints: What the order must keep.
        rng: The source of randomness.

    Raises:
        DesignError: No order that keeps the constraints exists, or none was found.
    """
    spread = next((each for each in constraints if isinstance(each, Spread)), None)
    order: list[int] | None
    if not constraints:
        return rng.sample(range(n), n)
    groups = _groups_apart(n, _neighbours(constraints))
    if spread is not None and len(constraints) == 1:
        order = _freely(n, spread, rng)
    elif is_counted(n, constraints) and groups is not None:
        order = _counted(groups, spread, rng)
    else:
        start = _counted(groups, None, rng) if groups and n <= _MOST_COUNTED else None
        order = draw_by_chain(start or rng.sample(range(n), n), constraints, rng)
    if order is None:
        raise _no_order(n, constraints)
    return order


def is_counted(n: int, constraints: Sequence[Constraint]) -> bool:
    """Return whether orders under these constraints are drawn by exact counting.

    They are where neighbours must not share something that divides the trials into groups (several
    columns do if sharing any of them is an equivalence), and where besides that at most one such
    group is spread over the session, in a way that one of a thousand proposals or more keeps.
    """
    apart = _neighbours(constraints)
    spread = [each for each in constraints if isinstance(each, Spread)]
    most = _MOST_WITH_SPREAD if spread else _MOST_COUNTED
    if n > most or len(apart) + len(spread) < len(constraints) or len(spread) > 1:
        return False
    groups = _groups_apart(n, apart)
    if groups is None:
        return False
    if not (spread and apart):
        return True
    others = [group for group in groups if not spread[0].members & set(group)]
    n_spread = len(spread[0].members)
    return (
        sum(map(len, others)) + n_spread == n
        and share_accepted(tuple(map(len, others)), n_spread) >= _LEAST_ACCEPTED
    )


def groups_apart(n: int, constraints: Sequence[Constraint]) -> tuple[tuple[int, ...], ...] | None:
    """Return the groups of trials that must not be neighbours; None where they are no groups."""
    return _groups_apart(n, _neighbours(constraints))


def _neighbours(constraints: Sequence[Constraint]) -> tuple[Labels, ...]:
    return tuple(
        each.labels for each in constraints if isinstance(each, Distance) and each.least == 2
    )


@lru_cache(maxsize=256)
def _groups_apart(n: int, labelings: tuple[Labels, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return the groups whose members must not be neighbours; None where they are no groups."""
    owner = list(range(n))
    for labels in labelings:
        first: dict[Hashable, int] = {}
        for index, label in enumerate(labels):
            if label is not None:
                other = owner[first.setdefault(label, index)]
                owner = [other if each == owner[index] else each for each in owner]
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


def _counted(
    groups: Sequence[Sequence[int]], spread: Spread | None, rng: random.Random
) -> list[int] | None:
    others = [group for group in groups if not (spread and spread.members & set(group))]
    sizes = tuple(len(group) for group in others)
    if spread is None:
        numbers = draw_sequence(sizes, 0, rng) if count_layers(sizes, 0)[-1].get(0) else None
    else:
        numbers = draw_spread(sizes, len(spread.members), rng)
    if numbers is None:
        return None
    waiting = [rng.sample(group, len(group)) for group in others]
    # -1, the spread trials, is the last of the lists.
    waiting.append(rng.sample(sorted(spread.members), len(spread.members)) if spread else [])
    return [waiting[number].pop() for number in numbers]


def _freely(n: int, spread: Spread, rng: random.Random) -> list[int]:
    members = rng.sample(sorted(spread.members), len(spread.members))
    others = rng.sample(
        [index for index in range(n) if index not in spread.members], n - len(members)
    )
    drawn = draw_freely(len(others), len(members), rng)
    return [members.pop() if number == -1 else others[number] for number in drawn]


def _no_order(n: int, constraints: Sequence[Constraint]) -> DesignError:
    asked = "; ".join(each.text for each in constraints)
    counts = Counter(
        label for labels in _neighbours(constraints) for label in labels if label is not None
    )
    for label, most in counts.most_common(1):
        if most > (n + 1) // 2:
            return DesignError(
                f'"{label}" has too many trials, {most} of a session\'s {n}, to keep them apart',
                where="the order of the trials",
                expected="at most half of the trials with the same value",
                remedy='Add trials of other kinds, or set design.separate to "template" or ""',
            )
    return DesignError(
        f"no order of a session's {n} trials was found in which {asked}",
        where="the order of the trials",
        expected="constraints that can all be kept at once",
        remedy="Add fillers, or relax design.separate and design.order",
    )
