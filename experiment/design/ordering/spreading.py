"""Even draws of sequences through which one group is spread, one in each of equal stretches."""

import random
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from experiment.design.ordering.counting import (
    alike_at,
    count_layers,
    draw_sequence,
    draw_weighted,
)

# Where so few sequences are taken, the constraints leave next to none.
_TRIES = 10_000


def draw_spread(sizes: tuple[int, ...], n_spread: int, rng: random.Random) -> list[int] | None:
    """Return a sequence in which no group meets itself and -1 stands once in each stretch.

    Every such sequence has the same probability. The others are drawn first, with as many alike
    neighbours as spread trials can part; then the spread trials, from all positions that part
    them. The first draw is taken in proportion to how many positions there are for it.

    Args:
        sizes: The sizes of the other groups.
        n_spread: How many trials are spread.
        rng: The source of randomness.

    Returns:
        The number of the group at each position, -1 for a spread trial; None where no sequence
        was found.
    """
    total = sum(sizes) + n_spread
    lengths = sorted(
        ((i + 1) * total // n_spread - i * total // n_spread for i in range(n_spread)), reverse=True
    )
    counts = count_layers(sizes, n_spread)[-1]
    allowed = [alike for alike in sorted(counts) if alike <= n_spread]
    # With ``alike`` of them fixed, the others have this many positions at most.
    bounds = [prod(lengths[: n_spread - alike]) for alike in allowed]
    weights = [counts[alike] * bound for alike, bound in zip(allowed, bounds, strict=True)]
    if not any(weights):
        return None
    for _ in range(_TRIES):
        index = draw_weighted(weights, rng)
        others = draw_sequence(sizes, allowed[index], rng, most_alike=n_spread)
        ways = _ways_through(tuple(alike_at(others)), len(others), n_spread)
        n_ways = sum(ways[0].values())
        if rng.randrange(bounds[index]) < n_ways:
            return _placed(others, ways, rng)
    return None


def draw_freely(n_others: int, n_spread: int, rng: random.Random) -> list[int]:
    """Return a sequence in which only the spread group is asked for: -1 once in each stretch."""
    total = n_others + n_spread
    at = {
        rng.randrange(i * total // n_spread, (i + 1) * total // n_spread) for i in range(n_spread)
    }
    others = iter(rng.sample(range(n_others), n_others))
    return [-1 if position in at else next(others) for position in range(total)]


@lru_cache(maxsize=1024)
def _ways_through(alike: tuple[int, ...], n_others: int, n_spread: int) -> list[dict[int, int]]:
    """Return, for each spread trial and each gap it can take, the ways to place it and the rest.

    A gap is the number of others before it. Gaps rise, so that spread trials are no neighbours,
    and each gap between alike neighbours is taken.
    """
    total = n_others + n_spread
    ways: list[dict[int, int]] = [{} for _ in range(n_spread)]
    for number in reversed(range(n_spread)):
        start, end = number * total // n_spread, (number + 1) * total // n_spread
        for gap in range(max(0, start - number), min(n_others, end - 1 - number) + 1):
            if number == n_spread - 1:
                n = int(not any(each > gap for each in alike))
            else:
                must = min((each for each in alike if each > gap), default=n_others + 1)
                n = sum(w for later, w in ways[number + 1].items() if gap < later <= must)
            if n:
                ways[number][gap] = n
    if alike:
        ways[0] = {gap: n for gap, n in ways[0].items() if gap <= alike[0]}
    return ways


def _placed(others: Sequence[int], ways: Sequence[dict[int, int]], rng: random.Random) -> list[int]:
    alike, at, last = alike_at(others), list[int](), -1
    for choices in ways:
        must = min((each for each in alike if each > last), default=len(others) + 1)
        gaps = [gap for gap in choices if last < gap <= must]
        last = gaps[draw_weighted([choices[gap] for gap in gaps], rng)]
        at.append(last)
    taken = set(at)
    return [
        each
        for gap in range(len(others) + 1)
        for each in (*([-1] if gap in taken else []), *others[gap : gap + 1])
    ]
