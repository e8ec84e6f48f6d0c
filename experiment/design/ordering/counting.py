"""Exact counts of the sequences in which no group meets itself, and even draws from them.

Groups are inserted one after the other. All that matters of a sequence is how many of its
neighbours are alike: a group of n enters it in k runs, l of them between alike neighbours, in

    C(n - 1, k - 1) * C(alike, l) * C(length + 1 - alike, k - l)

ways, after which ``alike - l + n - k`` neighbours are alike. Summed up, this counts every
sequence exactly once; followed backwards with these counts as weights, it draws each with the
same probability. Whole numbers throughout: nothing is rounded.
"""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb

Layer = dict[int, int]


@lru_cache(maxsize=256)
def count_layers(sizes: tuple[int, ...], most_alike: int = 0) -> tuple[Layer, ...]:
    """Return, after each group, how many sequences there are with so many alike neighbours.

    Args:
        sizes: The sizes of the groups, in the order in which they are inserted.
        most_alike: How many alike neighbours may be left in the end.
    """
    layers: list[Layer] = [{0: 1}]
    length, to_come = 0, sum(sizes)
    for n in sizes:
        to_come -= n
        layer: Layer = {}
        for alike, ways in layers[-1].items():
            for k, l_ in _entries(n, alike, length):
                after = alike - l_ + n - k
                if after <= to_come + most_alike:
                    ways_in = _ways_in(n, k, l_, alike, length)
                    layer[after] = layer.get(after, 0) + ways * ways_in
        layers.append(layer)
        length += n
    return tuple(layers)


def _entries(n: int, alike: int, length: int) -> list[tuple[int, int]]:
    return [
        (k, l_)
        for k in range(1, n + 1)
        for l_ in range(max(0, k - (length + 1 - alike)), min(k, alike) + 1)
    ]


def _ways_in(n: int, k: int, l_: int, alike: int, length: int) -> int:
    return comb(n - 1, k - 1) * comb(alike, l_) * comb(length + 1 - alike, k - l_)


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
    layers = count_layers(sizes, most_alike)
    entries: list[tuple[int, int]] = []
    length = sum(sizes)
    for n, layer in zip(reversed(sizes), reversed(layers[:-1]), strict=True):
        length -= n
        choices, weights = list[tuple[int, int, int]](), list[int]()
        for before, ways in layer.items():
            # How many runs there are follows from what is alike before and after.
            for l_ in range(min(before, n) + 1):
                k = before - l_ + n - alike
                if max(1, l_) <= k <= n and k - l_ <= length + 1 - before:
                    choices.append((before, k, l_))
                    weights.append(ways * _ways_in(n, k, l_, before, length))
        alike, k, l_ = choices[draw_weighted(weights, rng)]
        entries.append((k, l_))
    sequence: list[int] = []
    for group, (n, (k, l_)) in enumerate(zip(sizes, reversed(entries), strict=True)):
        sequence = _insert(sequence, group, n, k, l_, rng)
    return sequence


def _insert(
    sequence: list[int], group: int, n: int, k: int, l_: int, rng: random.Random
) -> list[int]:
    alike = set(alike_at(sequence))
    others = [gap for gap in range(len(sequence) + 1) if gap not in alike]
    gaps = sorted([*rng.sample(sorted(alike), l_), *rng.sample(others, k - l_)])
    cuts = [0, *sorted(rng.sample(range(1, n), k - 1)), n]
    runs = dict(zip(gaps, (end - start for start, end in pairwise(cuts)), strict=True))
    return [
        each
        for gap in range(len(sequence) + 1)
        for each in (*[group] * runs.get(gap, 0), *sequence[gap : gap + 1])
    ]


def alike_at(sequence: Sequence[int]) -> list[int]:
    """Return the positions whose trial is of the same group as the one before."""
    return [at for at, (a, b) in enumerate(pairwise(sequence), start=1) if a == b]


def draw_weighted(weights: Sequence[int], rng: random.Random) -> int:
    """Return an index with a probability that is exactly proportional to its weight."""
    sums = list(accumulate(weights))
    drawn = rng.randrange(sums[-1])
    return next(index for index, upto in enumerate(sums) if drawn < upto)
