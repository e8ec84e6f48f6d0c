"""Even draws of sequences through which one group is spread, one trial in each of equal stretches.

The terms. ``k`` spread trials and the others make ``N`` trials, cut into ``k`` *stretches*: the
i-th, from 0, has the positions from ``floor(i N / k)`` up to ``floor((i + 1) N / k)``. A *gap* is a
place between others, numbered by how many of them stand before it; the spread trial ``i`` at
position ``p`` takes the gap ``p - i``. No group may meet itself, so no two spread trials take one
gap, and each gap between alike others (its number is in the set ``A``) is taken.

Counting. Others without alike neighbours are Smirnov words (Flajolet, P. & Sedgewick, R. (2009).
Analytic Combinatorics. Cambridge University Press, example III.24); ``counting`` counts those with
``|A|`` alike neighbours, ``W(|A|)``, and draws one evenly. The ways ``P(A)`` to place the spread
trials between given others are counted from the last stretch to the first, by the transfer-matrix
method (Stanley, R. P. (2012). Enumerative Combinatorics 1, 2nd ed., section 4.7).

Drawing. Sequences are as many as the sum of ``P(A)`` over all words. ``|A|`` is drawn in proportion
to ``W(|A|) B(|A|)``, then a word evenly, which is accepted with probability ``P(A) / B(|A|)``, then
its placement evenly. This gives each sequence the same probability if ``B(a)`` is at least
``P(A)`` for each ``A`` of a gaps (rejection: von Neumann, J. (1951). Various techniques used in
connection with random digits. National Bureau of Standards Applied Mathematics Series 12, 36-38).

The bound ``B``. All but two positions of a stretch are gaps that only its own trial can take. The
last position of a stretch and the first of the next are the same gap, on their *border*; either
trial may take it, never both. So the ways up to a stretch, as a pair (its trial stands last, or
elsewhere), follow linearly from those before it, for each choice of gaps on its border and within
it. The coefficients are not negative: the greatest of each component over all choices with equally
many gaps bounds the ways of each choice.
"""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import comb

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

    Every such sequence has the same probability.

    Args:
        sizes: The sizes of the other groups.
        n_spread: How many trials are spread.
        rng: The source of randomness.

    Returns:
        The number of the group at each position, -1 for a spread trial; None where no sequence
        was found.
    """
    return next(
        (drawn for _ in range(_TRIES) if (drawn := propose_spread(sizes, n_spread, rng))), None
    )


def propose_spread(sizes: tuple[int, ...], n_spread: int, rng: random.Random) -> list[int] | None:
    """Return one proposal of ``draw_spread``, or None where it is rejected.

    Each sequence is proposed and accepted with the same probability.
    """
    words, bounds = _words_and_bounds(sizes, n_spread)
    if not words:
        return None
    numbers = sorted(words)
    alike = numbers[draw_weighted([words[each] * bounds[each] for each in numbers], rng)]
    others = draw_sequence(sizes, alike, rng, most_alike=n_spread)
    placements = count_placements(tuple(alike_at(others)), len(others), n_spread)
    ways = sum(placements[0].values())
    rejected = draw_weighted([ways, bounds[alike] - ways], rng)
    return None if rejected else _placed(others, placements, rng)


@lru_cache(maxsize=256)
def share_accepted(sizes: tuple[int, ...], n_spread: int) -> float:
    """Return about which share of proposals is accepted; 1 where there is nothing to propose.

    It takes each gap between others as equally likely to part alike ones.
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
    """Return ``W`` for each number of alike neighbours that can be parted, and ``B``."""
    bounds = placement_bounds(stretch_lengths(sum(sizes) + n_spread, n_spread))
    words = count_layers(sizes, n_spread)[-1]
    return {a: w for a, w in words.items() if a <= n_spread and bounds[a]}, bounds


def draw_freely(n_others: int, n_spread: int, rng: random.Random) -> list[int]:
    """Return a sequence in which only the spread group is asked for: -1 once in each stretch."""
    total = n_others + n_spread
    at = {
        rng.randrange(i * total // n_spread, (i + 1) * total // n_spread) for i in range(n_spread)
    }
    others = iter(rng.sample(range(n_others), n_others))
    return [-1 if position in at else next(others) for position in range(total)]


def stretch_lengths(n_trials: int, n_spread: int) -> tuple[int, ...]:
    """Return how many positions each stretch has."""
    borders = [number * n_trials // n_spread for number in range(n_spread + 1)]
    return tuple(end - start for start, end in pairwise(borders))


@lru_cache(maxsize=256)
def placement_bounds(lengths: tuple[int, ...]) -> list[int]:
    """Return ``B(a)`` for each a: the most ways to place spread trials that part a alike gaps.

    Args:
        lengths: How many positions each stretch has.
    """
    # By number of gaps: the ways whose last trial stands last in its stretch, and the others.
    ways = {0: (0, 1)}
    for number, length in enumerate(lengths):
        following: dict[int, tuple[int, int]] = {}
        for gaps, (last, elsewhere) in ways.items():
            for more, found in _through_stretch(length, last, elsewhere, first=not number):
                most = following.get(gaps + more, (0, 0))
                following[gaps + more] = (max(most[0], found[0]), max(most[1], found[1]))
        ways = following
    return [sum(ways.get(gaps, (0, 0))) for gaps in range(len(lengths) + 1)]


def _through_stretch(
    length: int, last: int, elsewhere: int, *, first: bool
) -> list[tuple[int, tuple[int, int]]]:
    """Return the ways after one stretch more, with how many of its gaps must be taken.

    The gap on the border is taken by the trial before it, if that stands last, or else by this
    one, if it stands first; where nothing asks for it, it may stay empty.
    """
    either, within = last + elsewhere, length - 2
    if length == 1:
        # The only position is the first and the last.
        found = [(0, (elsewhere, 0)), (1, (elsewhere, 0))]
    else:
        found = [
            (0, (either, either * within + elsewhere)),
            (1, (last, last * within + elsewhere)),
            *([(1, (0, either)), (2, (0, last))] if within else []),
        ]
    # Before the first stretch there is no border.
    return [each for each in found if not first or each[0] == 0] + (
        [(1, (0, either))] if first and within > 0 else []
    )


@lru_cache(maxsize=1024)
def count_placements(
    alike: tuple[int, ...], n_others: int, n_spread: int
) -> tuple[dict[int, int], ...]:
    """Return, for each spread trial and each gap it can take, the ways to place it and the rest.

    The ways of the first trial sum to ``P(A)``. Gaps rise, and each gap in ``A`` is taken.

    Args:
        alike: The set ``A``: the gaps between alike others, rising.
        n_others: How many others there are.
        n_spread: How many trials are spread.
    """
    total = n_others + n_spread
    ways: list[dict[int, int]] = [{} for _ in range(n_spread)]
    for number in reversed(range(n_spread)):
        start, end = number * total // n_spread, (number + 1) * total // n_spread
        for gap in range(max(0, start - number), min(n_others, end - 1 - number) + 1):
            if number == n_spread - 1:
                n = int(not any(each > gap for each in alike))
            else:
                must = _next_alike(alike, gap, n_others)
                n = sum(w for later, w in ways[number + 1].items() if gap < later <= must)
            if n:
                ways[number][gap] = n
    must = _next_alike(alike, -1, n_others)
    ways[0] = {gap: n for gap, n in ways[0].items() if gap <= must}
    return tuple(ways)


def _next_alike(alike: Sequence[int], gap: int, n_others: int) -> int:
    """Return the next gap that must be taken, beyond the last gap where there is none."""
    return next((each for each in alike if each > gap), n_others + 1)


def _placed(
    others: Sequence[int], placements: Sequence[dict[int, int]], rng: random.Random
) -> list[int]:
    """Return the others with the spread trials between them, each placement equally likely."""
    alike, taken, last = alike_at(others), set[int](), -1
    for ways in placements:
        must = _next_alike(alike, last, len(others))
        gaps = [gap for gap in ways if last < gap <= must]
        last = gaps[draw_weighted([ways[gap] for gap in gaps], rng)]
        taken.add(last)
    return [
        each
        for gap in range(len(others) + 1)
        for each in (*([-1] if gap in taken else []), *others[gap : gap + 1])
    ]
