"""Leave-one-out ranks: sums, squares and products without each item, without re-ranking."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from analysis.statistics.resample import Floats


def rank_sums_without_each(values: Floats) -> tuple[Floats, Floats]:
    """Return the sums of the other values' ranks, and of their squares, without each value.

    With n ranks, the sum is n (n + 1) / 2, even with ties. The sum of squares is n (n + 1)
    (2n + 1) / 6, minus (t^3 - t) / 12 for each group of t tied values.
    """
    n = len(values) - 1
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    tied = sizes.astype(float)
    less = (tied**3 - tied) / 12
    # For a group that loses a value: ((t - 1)^3 - (t - 1)) / 12.
    smaller = ((tied - 1) ** 3 - (tied - 1)) / 12
    without = less.sum() - less[group] + smaller[group]
    sums: Floats = np.full(len(values), n * (n + 1) / 2)
    squares: Floats = n * (n + 1) * (2 * n + 1) / 6 - without
    return sums, squares


def rank_products_without_each(first: Floats, second: Floats) -> Floats:
    """Return the sum of the products of the others' ranks without each item, shape ``(items,)``.

    Without item i, another item's rank falls by 1 if its value is larger, by 1/2 if it is tied. So
    the sum of (r - a) (s - b) is split into r s, r b, s a and a b, each summed over the others.
    """
    x, y = (np.unique(values, return_inverse=True)[1] for values in (first, second))
    r, s = rankdata(first), rankdata(second)
    found: Floats = (r * s).sum() - r * s - _falls(r, y) - _falls(s, x) + _falls_of_both(x, y)
    return found


def _falls(weights: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sum of larger codes' weights, plus half those of other items with equal codes."""
    totals = np.bincount(codes, weights)
    larger = totals[::-1].cumsum()[::-1] - totals
    found: Floats = larger[codes] + (totals[codes] - weights) / 2
    return found


def _falls_of_both(x: NDArray[np.intp], y: NDArray[np.intp]) -> Floats:
    """Return for each item the sum over the others of (rank drop in x) times (rank drop in y)."""
    cell = np.unique(x * (y.max() + 1) + y, return_inverse=True)[1]
    same = np.bincount(cell)[cell] - 1
    # Sort ties in x by decreasing y, so that none of them counts as larger in both.
    both = np.empty(len(x))
    order = np.lexsort((-y, x))
    both[order] = _larger_behind(y[order])
    found: Floats = both + (_larger_in_group(x, y) + _larger_in_group(y, x)) / 2 + same / 4
    return found


def _larger_in_group(groups: NDArray[np.intp], codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of items with a larger code in each item's own group."""
    keys = groups * (codes.max() + 1) + codes
    ordered = np.sort(keys)
    ends = np.searchsorted(ordered, (groups + 1) * (codes.max() + 1))
    found: NDArray[np.intp] = ends - np.searchsorted(ordered, keys, side="right")
    return found


def _larger_behind(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of larger codes after each code, in n log(n)^2 steps.

    Blocks of 1, 2, 4, ... codes are compared with the following block, as in a merge sort.
    """
    n, most = len(codes), int(codes.max()) + 1
    found = np.zeros(n, np.intp)
    size = 1
    while size < n:
        block = np.arange(n) // size
        left = block % 2 == 0
        ordered = np.sort(block * most + codes)
        ends = np.searchsorted(ordered, (block[left] + 2) * most)
        right = (block[left] + 1) * most + codes[left]
        found[left] += ends - np.searchsorted(ordered, right, side="right")
        size *= 2
    return found
