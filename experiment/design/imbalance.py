"""How unevenly lists fill where no server gives places back: expected before, counted after."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiment.errors import DesignError

_SIMULATIONS = 2_000
COUNTER, CHANCE = "counter", "chance"


@dataclass(frozen=True, slots=True)
class Imbalance:
    """How far apart the fullest and the emptiest list are, in participants who finished.

    Attributes:
        mean: On average.
        low: In one of twenty cases it is at most this.
        high: In one of twenty cases it is at least this.
    """

    mean: float
    low: int
    high: int


def expected_imbalance(
    n_lists: int, participants: int, dropout: float, assignment: str, rng: random.Random
) -> Imbalance:
    """Return what to expect, from simulated studies.

    Args:
        n_lists: How many lists there are.
        participants: How many people begin.
        dropout: The share of them who do not finish.
        assignment: "counter" for numbers that come one after the other, or links that are each
            used once; "chance" for numbers drawn anew for everybody.
        rng: The source of randomness.

    Raises:
        DesignError: The dropout is no share, or the assignment has another name.
    """
    if not 0 <= dropout < 1:
        raise DesignError(f"{dropout} is no share of participants", expected="0 to below 1")
    if assignment not in _LIST_OF:
        raise DesignError(f'"{assignment}" is no way to assign', expected=", ".join(_LIST_OF))
    list_of = _LIST_OF[assignment]
    found = []
    for _ in range(_SIMULATIONS):
        finished = Counter(
            list_of(number, n_lists, rng)
            for number in range(participants)
            if rng.random() >= dropout
        )
        found.append(difference(finished, n_lists))
    found.sort()
    return Imbalance(
        sum(found) / len(found), found[len(found) // 20], found[-(len(found) // 20) - 1]
    )


def difference(finished: Mapping[int, int], n_lists: int) -> int:
    """Return how many more participants the fullest list has than the emptiest one."""
    counts: Sequence[int] = [finished.get(number, 0) for number in range(n_lists)]
    return max(counts) - min(counts)


_LIST_OF: Mapping[str, Callable[[int, int, random.Random], int]] = {
    COUNTER: lambda number, n_lists, _: number % n_lists,
    CHANCE: lambda _, n_lists, rng: rng.randrange(n_lists),
}
