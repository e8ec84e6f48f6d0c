"""Resample judgments that cluster by participant and by item.

The bootstrap is crossed (the "pigeonhole bootstrap"): participants and items are drawn
independently with replacement, and a judgment's weight is the product of the numbers of times that
its participant and its item were drawn. Owen, A. B. (2007). The pigeonhole bootstrap. Annals of
Applied Statistics, 1(2), 386-411, https://doi.org/10.1214/07-AOAS122. Its variance is conservative:
variation between participants and between items counts once, the noise of single judgments about
three times. ``analysis.statistics.clustered`` gives the interval without this excess.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array
from scipy.stats import binomtest

from experiment.seeds import derive_seed

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

LEVEL = 0.95
Weighing = Literal["judgments", "items"]
_WEIGHTS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval and its method."""

    low: float
    high: float
    method: Literal["clustered", "bootstrap", "wilson"]


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts of judgments by participant and item within a group.

    Attributes:
        right: Shape ``(participants, columns)``: right judgments; a column is an item in a group.
        judged: Shape ``(participants, columns)``: all judgments.
        starts: Shape ``(groups,)``: each group's first column; groups are adjacent.
        column: If groups share items, the item of each of the groups' columns: ``right`` and
            ``judged`` then have one column per item, and ``starts`` refers to ``column``.
    """

    right: csr_array
    judged: csr_array
    starts: NDArray[np.intp]
    column: NDArray[np.intp] | None = None


def numpy_generator(seed: int, purpose: str, *key: str | int) -> np.random.Generator:
    """Return a fresh NumPy generator for one purpose, named as in ``experiment.seeds``."""
    return np.random.default_rng(derive_seed(seed, purpose, *key))


def count_cells(
    correct: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    group: NDArray[np.intp],
    weight: ArrayLike | None = None,
) -> Cells:
    """Count judgments for resampling.

    Args:
        correct: Shape ``(n,)``: whether each judgment was right.
        participant: Shape ``(n,)``: the participant.
        item: Shape ``(n,)``: the judged item.
        group: Shape ``(n,)``: the group of each judgment, from 0 without gaps.
        weight: Shape ``(n,)``: how often each judgment counts; once by default.
    """
    rows, n_people = codes(participant)
    item_codes, n_items = codes(item)
    pairs, columns = np.unique(group * n_items + item_codes, return_inverse=True)
    groups = np.arange(group.max() + 1)
    shape = (n_people, len(pairs))
    right, n_judged = count_matrices(correct, rows, columns, shape, weight)
    return Cells(right, n_judged, starts=np.searchsorted(pairs // n_items, groups))


def count_matrices(
    correct: ArrayLike,
    row: Codes,
    column: Codes,
    shape: tuple[int, int],
    weight: ArrayLike | None = None,
) -> tuple[csr_array, csr_array]:
    """Return the right judgments, and all judgments, summed by row and column.

    Args:
        correct: Shape ``(n,)``: whether each judgment was right.
        row: Shape ``(n,)``: the participant, or another unit, from 0.
        column: Shape ``(n,)``: the item, or an item in a group, from 0.
        shape: The numbers of rows and columns.
        weight: Shape ``(n,)``: how often each judgment counts; once by default.
    """
    each = np.ones(len(row)) if weight is None else np.asarray(weight, dtype=float)
    right, n_judged = (
        coo_array((values, (row, column)), shape).tocsr()
        for values in (each * np.asarray(correct, dtype=float), each)
    )
    return right, n_judged


def mean_or_nan(values: Floats) -> float:
    """Return the mean; NaN without values."""
    return float(values.mean()) if len(values) else float("nan")


def codes(values: ArrayLike) -> tuple[NDArray[np.intp], int]:
    """Number the distinct values from 0; missing values count as one value.

    Returns:
        Shape ``(n,)``: each value's number; and the number of distinct values.
    """
    # Number a column as it is: categorical columns are not converted to strings.
    series = values if isinstance(values, pd.Series) else np.asarray(values)
    numbers, distinct_values = pd.factorize(series, use_na_sentinel=False)
    return numbers, len(distinct_values)


def combined_codes(ways: Sequence[Codes]) -> Codes:
    """Number the occurring combinations of several codes from 0, in ascending order."""
    combined = np.unique(ways[0], return_inverse=True)[1]
    for way in ways[1:]:
        combined = np.unique(combined * (way.max(initial=0) + 1) + way, return_inverse=True)[1]
    return combined


def crossed_bootstrap(
    counted: Cells, rng: np.random.Generator, resamples: int, weigh: Weighing = "judgments"
) -> Floats:
    """Return resampled accuracies, ``w_p' right w_i / w_p' judged w_i`` for each group.

    ``w_p`` and ``w_i`` are the numbers of times that each participant and each of the group's items
    was drawn, with as many draws as participants or items. With ``weigh="items"`` an item's
    accuracy ``w_p' right / w_p' judged`` is computed first, and items are averaged with weights
    ``w_i``. The groups share the drawn participants, so that the accuracies of one resample are
    comparable. A resample without judgments of a group is NaN there.

    Args:
        counted: The judgments.
        rng: The source of randomness.
        resamples: The number of resamples.
        weigh: The units of equal weight: judgments or items.

    Returns:
        Shape ``(resamples, groups)``.
    """
    spread = 0 if counted.column is None else len(counted.column)
    blocks = resample_batches(resamples, sum(counted.judged.shape) + spread)
    return np.concatenate([_resample(counted, rng, size, weigh) for size in blocks])


def resample_batches(resamples: int, numbers_each: int) -> Iterator[int]:
    """Yield the number of resamples to compute at a time, given the numbers in each resample.

    Computing all at once would take resamples x weights numbers of memory.
    """
    block = max(1, _WEIGHTS_AT_A_TIME // numbers_each)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)


def _resample(counted: Cells, rng: np.random.Generator, size: int, weigh: Weighing) -> Floats:
    n_people, n_columns = counted.judged.shape
    n_columns = n_columns if counted.column is None else len(counted.column)
    in_each_group = np.diff(np.append(counted.starts, n_columns))
    people = draw_counts(rng, n_people, size)
    items = np.empty((size, n_columns))
    for start, n in zip(counted.starts, in_each_group, strict=True):
        items[:, start : start + n] = draw_counts(rng, int(n), size)
    right, n_judged = (
        people @ _choose_matrix_format(counts) for counts in (counted.right, counted.judged)
    )
    if counted.column is not None:
        right, n_judged = right[:, counted.column], n_judged[:, counted.column]
    with np.errstate(invalid="ignore"):
        if weigh == "items":
            right, n_judged = np.nan_to_num(right / n_judged), n_judged > 0
        # Allocating a new array for each product would take 10% of the time.
        numerator = np.add.reduceat(np.multiply(right, items, right), counted.starts, axis=1)
        items *= n_judged
        accuracies: Floats = numerator / np.add.reduceat(items, counted.starts, axis=1)
    return accuracies


def _choose_matrix_format(counts: csr_array) -> csr_array | Floats:
    """Return the counts in the format with the faster matrix product, sparse or dense."""
    small = counts.shape[0] * counts.shape[1] <= _WEIGHTS_AT_A_TIME
    return counts.toarray().astype(float) if small else counts


def draw_counts(rng: np.random.Generator, n: int, size: int) -> Floats:
    """Return the number of times each of ``n`` was drawn in ``n`` draws, shape ``(size, n)``."""
    # Counting drawn numbers takes a fifth of the time of multinomial counts.
    drawn = rng.integers(0, n, (size, n))
    drawn += n * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def percentile_interval(resampled: Floats) -> Interval:
    """Return the middle 95% of one group's values, without NaN; NaN if all values are NaN."""
    if np.isnan(resampled).all():
        return Interval(float("nan"), float("nan"), "bootstrap")
    low, high = np.nanquantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), "bootstrap")


@cache
def wilson_interval(correct: int, n: int) -> Interval:
    """Return Wilson's score interval for ``correct`` of ``n``.

    Wilson, E. B. (1927). Journal of the American Statistical Association, 22, 209-212.
    """
    ends = binomtest(correct, n).proportion_ci(LEVEL, "wilson")
    return Interval(float(ends.low), float(ends.high), "wilson")
