"""Exact counts of the sequences in which no group meets itself, and even draws from them.

Counting. A group of n is cut into k runs in C(n - 1, k - 1) ways. Let ``runs[K]`` be the ways to
cut every group and to put the K runs in any order; a group more makes it

    runs'[K] = sum over k of C(n - 1, k - 1) * C(K, k) * runs[K - k].

This counts a sequence once for each set of alike neighbours that are taken as one run. With
``N(y)`` the polynomial whose coefficient of y^a is the number of sequences with a alike neighbours,
``N(1 + z)`` is therefore the sum of ``runs[length - b] * z^b``; shifting it back gives each count.

Drawing. A group of n enters a sequence in k runs, l of them between alike neighbours, in

    C(n - 1, k - 1) * C(alike, l) * C(length + 1 - alike, k - l)

ways, after which ``alike - l + n - k`` neighbours are alike. Followed backwards with the counts as
weights, this draws each sequence with the same probability. Whole numbers throughout: nothing is
rounded.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

Layer = dict[int, int]


@lru_cache(maxsize=256)
def count_layers(sizes: tuple[int, ...], most_alike: int) -> tuple[Layer, ...]:
    """Return, after each group, how many sequences there are with so many alike neighbours.

    Args:
        sizes: The sizes of the groups, in the order in which they are inserted.
        most_alike: How many alike neighbours may be left in the end.
    """
    layers: list[Layer] = [{0: 1}]
    runs, to_come = [1], sum(sizes)
    for before, n in enumerate(sizes):
        to_come -= n
        runs = _with_group(runs, before, n)
        # Each of the groups to come parts as many alike neighbours as it has trials, at most.
        counts = _shifted_back(runs[::-1], to_come + most_alike)
        # Seeds give the orders that they always gave: draws go through a layer from its end.
        layers.append({alike: counts[alike] for alike in reversed(range(len(counts)))})
    return tuple({alike: ways for alike, ways in layer.items() if ways} for layer in layers)


def _with_group(runs: Sequence[int], fewest: int, n: int) -> list[int]:
    """Return the ways with one group more: for ``fewest + 1`` runs, and for each number above."""
    cuts = _binomials(n - 1, n - 1)
    longer = list[int]()
    for extra in range(len(runs) + n - 1):
        choices = _binomials(fewest + 1 + extra, n)
        longer.append(
            sum(
                cuts[k - 1] * choices[k] * runs[extra + 1 - k]
                for k in range(max(1, extra + 2 - len(runs)), min(n, extra + 1) + 1)
            )
        )
    return longer


def _shifted_back(coefficients: Sequence[int], most: int) -> list[int]:
    """Return the coefficients of p(y - 1) up to y^most, from those of p(y)."""
    # p(-1 - t) needs additions alone.
    left = [(-1) ** power * each for power, each in enumerate(coefficients)][::-1]
    found = list[int]()
    for power in range(min(most + 1, len(coefficients))):
        left = list(accumulate(left))
        found.append((-1) ** power * left.pop())
    return found


# Every session of a study asks for the same ones.
@lru_cache(maxsize=1024)
def _binomials(n: int, most: int) -> tuple[int, ...]:
    """Return C(n, 0), C(n, 1), ... up to C(n, most), each made from the one before."""
    found = [1]
    for k in range(most):
        found.append(found[-1] * (n - k) // (k + 1))
    return tuple(found)


def draw_sequence(
    sizes: tuple[int, ...], alike: int, rng: random.Random, *, most_alike: int = 0
) -> list[int]:
    """Return one of the sequences with so many alike neighbours, each with the same probability.

    Args:
        sizes: The sizes of the groups.
        alike: How many neighbours are alike in it; ``count_layers(...)[-1]`` has the choice.
        rng: The source of randomness.
        most_alike: As it was counted.

    Returns:
        The number of the group at each position.
    """
    entries: list[tuple[int, int]] = []
    for group in reversed(range(len(sizes))):
        # The ways into a layer's count sum to it.
        upto, ways_in = _steps_into(sizes, most_alike, group, alike)
        alike, k, l_ = ways_in[bisect_right(upto, rng.randrange(upto[-1]))]
        entries.append((k, l_))
    sequence: list[int] = []
    for group, (n, (k, l_)) in enumerate(zip(sizes, reversed(entries), strict=True)):
        sequence = _insert(sequence, group, n, k, l_, rng)
    return sequence


# Every session of a study asks for some of the same ones.
@lru_cache(maxsize=16_384)
def _steps_into(
    sizes: tuple[int, ...], most_alike: int, group: int, alike: int
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return how many ways lead up to each step by which a group comes in, and the steps.

    A step is what was alike before, the group's runs, and those between alike neighbours.
    """
    layer = count_layers(sizes, most_alike)[group]
    found = list(_ways_into(sizes[group], alike, sum(sizes[:group]), layer))
    upto = list(accumulate(ways for *_, ways in found))
    return upto, [(before, k, l_) for before, k, l_, _ in found]


def _ways_into(
    n: int, alike: int, length: int, layer: Layer
) -> Iterator[tuple[int, int, int, int]]:
    """Yield what was alike before, the runs, those between alike neighbours, and the ways."""
    cuts = _binomials(n - 1, n - 1)
    for before, ways in layer.items():
        if not alike - n < before <= alike + n:
            continue
        others = _binomials(length + 1 - before, n)
        for l_, between in enumerate(_binomials(before, min(before, n))):
            # How many runs there are follows from what is alike before and after.
            k = before - l_ + n - alike
            if max(1, l_) <= k <= n and k - l_ <= length + 1 - before:
                yield before, k, l_, ways * cuts[k - 1] * between * others[k - l_]


def _insert(
    sequence: list[int], group: int, n: int, k: int, l_: int, rng: random.Random
) -> list[int]:
    alike = alike_at(sequence)
    within = set(alike)
    others = [gap for gap in range(len(sequence) + 1) if gap not in within]
    # Nothing is drawn where nothing is taken, which is often.
    between = rng.sample(alike, l_) if l_ else []
    beside = rng.sample(others, k - l_) if k > l_ else []
    gaps = sorted([*between, *beside])
    cuts = [0, *(sorted(rng.sample(range(1, n), k - 1)) if k > 1 else ()), n]
    longer, taken = list[int](), 0
    for gap, (start, end) in zip(gaps, pairwise(cuts), strict=True):
        longer += sequence[taken:gap]
        longer += [group] * (end - start)
        taken = gap
    return longer + sequence[taken:]


def alike_at(sequence: Sequence[int]) -> list[int]:
    """Return the positions whose trial is of the same group as the one before."""
    return [at for at, (a, b) in enumerate(pairwise(sequence), start=1) if a == b]


def draw_weighted(weights: Sequence[int], rng: random.Random) -> int:
    """Return an index with a probability that is exactly proportional to its weight."""
    sums = list(accumulate(weights))
    return bisect_right(sums, rng.randrange(sums[-1]))
