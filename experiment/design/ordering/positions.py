"""The exact distribution of a trial's position, where there are few enough states to count."""

from collections.abc import Iterator
from functools import cache
from math import comb

MOST_STATES = 20_000

# What is left of the group looked at, of the others in falling order, and of the group that
# stands last: its size, -1 for the one looked at, or None at the beginning.
_State = tuple[int, tuple[int, ...], int | None]


def position_shares(sizes: tuple[int, ...], group: int) -> list[float] | None:
    """Return with which probability one trial of a group stands at each position.

    All sequences in which no group meets itself are taken as equally probable.

    Args:
        sizes: The sizes of the groups.
        group: The number of the group whose trial it is.

    Returns:
        A probability for each position; None where counting would take too many states.
    """
    others = sizes[:group] + sizes[group + 1 :]
    if _n_states(sizes[group], others) > MOST_STATES:
        return None
    layer: dict[_State, int] = {(sizes[group], tuple(sorted(others, reverse=True)), None): 1}
    total, shares = _endings(next(iter(layer))), list[float]()
    for _ in range(sum(sizes)):
        there, following = 0, dict[_State, int]()
        for state, ways in layer.items():
            for after, times in _steps(state):
                following[after] = following.get(after, 0) + ways * times
                if after[2] == -1:
                    there += ways * times * _endings(after)
        layer = following
        shares.append(there / total / sizes[group])
    _endings.cache_clear()
    return shares


def _n_states(size: int, others: tuple[int, ...]) -> int:
    states = (size + 1) * (len(others) + 1)
    for each in set(others):
        states *= comb(others.count(each) + each, each)
    return states


@cache
def _endings(state: _State) -> int:
    left, others, _ = state
    if not left and not others:
        return 1
    return sum(times * _endings(after) for after, times in _steps(state))


def _steps(state: _State) -> Iterator[tuple[_State, int]]:
    """Yield what may come next, and how many of the groups lead there."""
    left, others, last = state
    if left and last != -1:
        yield (left - 1, others, -1), 1
    for size in sorted(set(others)):
        times = others.count(size) - (last == size)
        if times:
            rest = list(others)
            rest.remove(size)
            # A group that is used up can no longer meet itself.
            rest = sorted([*rest, *([size - 1] if size > 1 else [])], reverse=True)
            yield (left, tuple(rest), size - 1 if size > 1 else 0), times
