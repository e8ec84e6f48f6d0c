"""Exact counts of sequences without neighbours of the same group, and even draws from them.

Counting. A group of n is cut into k runs in C(n - 1, k - 1) ways. Let ``runs[K]`` be the ways to
cut every group and to put the K runs in any order; one more group makes it

    runs'[K] = sum over k of C(n - 1, k - 1) * C(K, k) * runs[K - k].

This counts a sequence once for each set of alike neighbours that are taken as one run. With
``N(y)`` the polynomial whose coefficient of y^a is the number of sequences with a alike neighbours,
``N(1 + z)`` is therefore the sum of ``runs[length - b] * z^b``; shifting it back gives each count.

Drawing. A group of n enters a sequence in k runs, l of them between alike neighbours, in

    C(n - 1, k - 1) * C(alike, l) * C(length + 1 - alike, k - l)

ways, after which ``alike - l + n - k`` neighbours are alike. Following the steps backwards, with
the counts as weights, draws each sequence with the same probability. All numbers are integers:
nothing is rounded.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, compress, pairwise
from math import comb
from operator import eq

Layer = dict[int, int]


@lru_cache(maxsize=256)
def count_layers(sizes: tuple[int, ...], most_alike: int) -> tuple[Layer, ...]:
    """Return, after each group, the number of sequences by their number of alike neighbours.

    Args:
        sizes: The sizes of the groups, in the order in which they are inserted.
        most_alike: The most alike neighbours that may remain at the end.
    """
    layers: list[Layer] = [{0: 1}]
    runs, to_come = [1], sum(sizes)
    for n_before, n in enumerate(sizes):
        to_come -= n
        runs = _add_group(runs, n_before, n)
        # Each later group separates at most as many alike neighbours as it has trials.
        counts = _shifted_back(runs[::-1], to_come + most_alike)
        # This reversed order keeps the orders of existing seeds: draws go through a layer from its
        # end.
        layers.append({alike: counts[alike] for alike in reversed(range(len(counts)))})
    return tuple({alike: ways for alike, ways in layer.items() if ways} for layer in layers)


def _add_group(runs: Sequence[int], fewest: int, n: int) -> list[int]:
    """Return the counts with one more group, for ``fewest + 1`` runs and each larger number."""
    cuts = _compute_binomials(n - 1, n - 1)
    longer = list[int]()
    for extra in range(len(runs) + n - 1):
        choices = _compute_binomials(fewest + 1 + extra, n)
        longer.append(
            sum(
                cuts[k - 1] * choices[k] * runs[extra + 1 - k]
                for k in range(max(1, extra + 2 - len(runs)), min(n, extra + 1) + 1)
            )
        )
    return longer


def _shifted_back(coefficients: Sequence[int], most: int) -> list[int]:
    """Return the coefficients of p(y - 1) up to y^most, from those of p(y)."""
    # p(-1 - t) needs only additions.
    remaining = [(-1) ** power * coefficient for power, coefficient in enumerate(coefficients)][
        ::-1
    ]
    shifted = list[int]()
    for power in range(min(most + 1, len(coefficients))):
        remaining = list(accumulate(remaining))
        shifted.append((-1) ** power * remaining.pop())
    return shifted


# Every session of a study needs the same values.
@lru_cache(maxsize=1024)
def _compute_binomials(n: int, most: int) -> tuple[int, ...]:
    """Return C(n, 0), C(n, 1), ... up to C(n, most), each computed from the previous one."""
    row = [1]
    for k in range(most):
        row.append(row[-1] * (n - k) // (k + 1))
    return tuple(row)


def draw_sequence(
    sizes: tuple[int, ...], alike: int, rng: random.Random, *, most_alike: int = 0
) -> list[int]:
    """Return a random sequence with this many alike neighbours, each with the same probability.

    Args:
        sizes: The sizes of the groups.
        alike: The number of alike neighbours; ``count_layers(...)[-1]`` has the possible values.
        rng: The random generator.
        most_alike: The same value as for ``count_layers``.

    Returns:
        The number of the group at each position.
    """
    entries: list[tuple[int, int]] = []
    for group in reversed(range(len(sizes))):
        # The ways of all steps into a state sum to its count in the layer.
        upto, ways_in = _list_insertions(sizes, most_alike, group, alike)
        alike, k, l_ = ways_in[bisect_right(upto, rng.randrange(upto[-1]))]
        entries.append((k, l_))
    sequence: list[int] = []
    for group, (n, (k, l_)) in enumerate(zip(sizes, reversed(entries), strict=True)):
        sequence = _insert(sequence, group, n, k, l_, rng)
    return sequence


# Every session of a study needs some of the same values.
@lru_cache(maxsize=16_384)
def _list_insertions(
    sizes: tuple[int, ...], most_alike: int, group: int, alike: int
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return the cumulative ways of the steps that insert a group, and the steps.

    A step has the earlier number of alike neighbours, the group's runs, and those between alike
    neighbours.
    """
    layer = count_layers(sizes, most_alike)[group]
    counts = list(_count_insertions(sizes[group], alike, sum(sizes[:group]), layer))
    upto = list(accumulate(ways for *_, ways in counts))
    return upto, [(n_before, k, l_) for n_before, k, l_, _ in counts]


def _count_insertions(
    n: int, alike: int, length: int, layer: Layer
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the earlier alike neighbours, all runs, runs between alike neighbours, and the ways."""
    cuts = _compute_binomials(n - 1, n - 1)
    for n_before, ways in layer.items():
        if not alike - n < n_before <= alike + n:
            continue
        n_ways_outside = _compute_binomials(length + 1 - n_before, n)
        for l_, between in enumerate(_compute_binomials(n_before, min(n_before, n))):
            # The number of runs follows from the alike neighbours before and after.
            k = n_before - l_ + n - alike
            if max(1, l_) <= k <= n and k - l_ <= length + 1 - n_before:
                yield n_before, k, l_, ways * cuts[k - 1] * between * n_ways_outside[k - l_]


def _insert(
    sequence: list[int], group: int, n: int, k: int, l_: int, rng: random.Random
) -> list[int]:
    alike = alike_positions(sequence)
    all_gaps: Sequence[int] = range(len(sequence) + 1)
    within = set(alike)
    outside_gaps = [gap for gap in all_gaps if gap not in within] if alike else all_gaps
    # Skip the frequent draws of nothing.
    between = rng.sample(alike, l_) if l_ else []
    chosen_outside = rng.sample(outside_gaps, k - l_) if k > l_ else []
    gaps = sorted([*between, *chosen_outside])
    cuts = [0, *(sorted(rng.sample(range(1, n), k - 1)) if k > 1 else ()), n]
    longer, n_taken = list[int](), 0
    for gap, (start, end) in zip(gaps, pairwise(cuts), strict=True):
        longer += sequence[n_taken:gap]
        longer += [group] * (end - start)
        n_taken = gap
    return longer + sequence[n_taken:]


def alike_positions(sequence: Sequence[int]) -> list[int]:
    """Return the positions whose trial is of the same group as the previous trial."""
    return list(compress(range(1, len(sequence)), map(eq, sequence, sequence[1:])))


def draw_weighted(weights: Sequence[int], rng: random.Random) -> int:
    """Return an index with a probability that is exactly proportional to its weight."""
    sums = list(accumulate(weights))
    return bisect_right(sums, rng.randrange(sums[-1]))


# If this many proposals fail, the constraints leave almost no sequences.
_MOST_TRIES = 10_000


def draw_spread(sizes: tuple[int, ...], n_spread: int, rng: random.Random) -> list[int] | None:
    """Return a sequence without neighbours of the same group and with one -1 per stretch.

    Every such sequence has the same probability.

    Args:
        sizes: The sizes of the other groups.
        n_spread: The number of spread trials.
        rng: The random generator.

    Returns:
        The number of the group at each position, -1 for a spread trial; None if no sequence
        was found.
    """
    return next(
        (drawn for _ in range(_MOST_TRIES) if (drawn := propose_spread(sizes, n_spread, rng))), None
    )


def propose_spread(sizes: tuple[int, ...], n_spread: int, rng: random.Random) -> list[int] | None:
    """Return one proposal of ``draw_spread``, or None if the proposal is rejected.

    Each sequence is proposed and accepted with the same probability.
    """
    words, bounds = _words_and_bounds(sizes, n_spread)
    if not words:
        return None
    numbers = sorted(words)
    alike = numbers[draw_weighted([words[number] * bounds[number] for number in numbers], rng)]
    other_trials = draw_sequence(sizes, alike, rng, most_alike=n_spread)
    placements = count_placements(tuple(alike_positions(other_trials)), len(other_trials), n_spread)
    ways = sum(placements[0].values())
    rejected = draw_weighted([ways, bounds[alike] - ways], rng)
    return None if rejected else _insert_spread_trials(other_trials, placements, rng)


@lru_cache(maxsize=256)
def share_of_orders_accepted(sizes: tuple[int, ...], n_spread: int) -> float:
    """Return the approximate share of accepted proposals; 1 if nothing can be proposed.

    The estimate assumes that each gap is equally likely to separate alike neighbours.
    """
    words, bounds = _words_and_bounds(sizes, n_spread)
    if not words:
        return 1.0
    gaps = sum(sizes) - 1
    accepted = sum(
        words[alike] * bounds[0] * comb(n_spread, alike) // comb(gaps, alike)
        for alike in words
        if alike <= gaps
    )
    return accepted / sum(words[alike] * bounds[alike] for alike in words)


@lru_cache(maxsize=256)
def _words_and_bounds(sizes: tuple[int, ...], n_spread: int) -> tuple[dict[int, int], list[int]]:
    """Return ``W`` for each separable number of alike neighbours, and ``B``."""
    bounds = placement_bounds(stretch_lengths(sum(sizes) + n_spread, n_spread))
    words = count_layers(sizes, n_spread)[-1]
    return {a: w for a, w in words.items() if a <= n_spread and bounds[a]}, bounds


def draw_freely(n_others: int, n_spread: int, rng: random.Random) -> list[int]:
    """Return a sequence whose only constraint is the spread group: one -1 per stretch."""
    total = n_others + n_spread
    at = {
        rng.randrange(i * total // n_spread, (i + 1) * total // n_spread) for i in range(n_spread)
    }
    other_trials = iter(rng.sample(range(n_others), n_others))
    return [-1 if position in at else next(other_trials) for position in range(total)]


def stretch_lengths(n_trials: int, n_spread: int) -> tuple[int, ...]:
    """Return the number of positions in each stretch."""
    borders = [number * n_trials // n_spread for number in range(n_spread + 1)]
    return tuple(end - start for start, end in pairwise(borders))


@lru_cache(maxsize=256)
def placement_bounds(lengths: tuple[int, ...]) -> list[int]:
    """Return, for each number of gaps between alike trials, the most ways to fill them all.

    A spread trial fills a gap if it separates two trials of one group.

    Args:
        lengths: The number of positions in each stretch.
    """
    # By number of gaps: the ways whose last trial is at the end of its stretch, and all others.
    ways = {0: (0, 1)}
    for number, length in enumerate(lengths):
        following: dict[int, tuple[int, int]] = {}
        for gaps, (last, elsewhere) in ways.items():
            for added_gaps, bounds in _extend_by_stretch(length, last, elsewhere, first=not number):
                most = following.get(gaps + added_gaps, (0, 0))
                following[gaps + added_gaps] = (max(most[0], bounds[0]), max(most[1], bounds[1]))
        ways = following
    return [sum(ways.get(gaps, (0, 0))) for gaps in range(len(lengths) + 1)]


def _extend_by_stretch(
    length: int, last: int, elsewhere: int, *, first: bool
) -> list[tuple[int, tuple[int, int]]]:
    """Return the ways after one more stretch, with the number of its gaps that must be taken.

    The gap on the border is taken by the previous trial, if that is last in its stretch, or else by
    this trial, if it is first; a gap that need not be taken may stay empty.
    """
    either, within = last + elsewhere, length - 2
    if length == 1:
        # The only position is both the first and the last.
        states = [(0, (elsewhere, 0)), (1, (elsewhere, 0))]
    else:
        states = [
            (0, (either, either * within + elsewhere)),
            (1, (last, last * within + elsewhere)),
            *([(1, (0, either)), (2, (0, last))] if within else []),
        ]
    # The first stretch has no border before it.
    return [state for state in states if not first or state[0] == 0] + (
        [(1, (0, either))] if first and within > 0 else []
    )


@lru_cache(maxsize=1024)
def count_placements(
    alike: tuple[int, ...], n_others: int, n_spread: int
) -> tuple[dict[int, int], ...]:
    """Return, for each spread trial and each possible gap, the ways to place it and the rest.

    The ways of the first trial sum to ``P(A)``. Gaps increase, and each gap in ``A`` is taken.

    Args:
        alike: The set ``A``: the gaps between alike others, in increasing order.
        n_others: The number of other trials.
        n_spread: The number of spread trials.
    """
    total, forced = n_others + n_spread, _list_next_forced_gaps(alike, n_others)
    ways: list[dict[int, int]] = [{} for _ in range(n_spread)]
    for number in reversed(range(n_spread)):
        start, end = number * total // n_spread, (number + 1) * total // n_spread
        for gap in range(max(0, start - number), min(n_others, end - 1 - number) + 1):
            if number == n_spread - 1:
                n = int(not alike or alike[-1] <= gap)
            else:
                must = forced[gap + 1]
                n = sum([w for later, w in ways[number + 1].items() if gap < later <= must])
            if n:
                ways[number][gap] = n
    ways[0] = {gap: n for gap, n in ways[0].items() if gap <= forced[0]}
    return tuple(ways)


def _list_next_forced_gaps(alike: Sequence[int], n_others: int) -> list[int]:
    """Return the next gap that must be taken after the gaps -1, 0, ...; at the end, one beyond."""
    forced = list[int]()
    for gap, following in pairwise([-1, *alike, n_others + 1]):
        forced += [following] * (following - gap)
    return forced


def _insert_spread_trials(
    other_trials: Sequence[int], placements: Sequence[dict[int, int]], rng: random.Random
) -> list[int]:
    """Return the others with the spread trials inserted, each placement equally likely."""
    forced = _list_next_forced_gaps(alike_positions(other_trials), len(other_trials))
    taken_gaps, last = set[int](), -1
    for ways in placements:
        gaps = [gap for gap in ways if last < gap <= forced[last + 1]]
        last = gaps[draw_weighted([ways[gap] for gap in gaps], rng)]
        taken_gaps.add(last)
    return [
        position
        for gap in range(len(other_trials) + 1)
        for position in (*([-1] if gap in taken_gaps else []), *other_trials[gap : gap + 1])
    ]
