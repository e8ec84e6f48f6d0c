"""Resampling judgments that cluster by participant and by item at once.

The bootstrap is crossed (the "pigeonhole bootstrap"): participants and items are drawn with
replacement, each on their own, and a judgment counts as often as its participant was drawn times
as often as its item was. Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied
Statistics, 1(2), 386-411, https://doi.org/10.1214/07-AOAS122. Its variance is cautious: what
differs between participants and between items counts once, the noise of single judgments about
three times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array
from scipy.stats import binomtest

from experiment.seeds import derive_seed

Floats = NDArray[np.float64]

LEVEL = 0.95
_WEIGHTS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval and where it comes from."""

    low: float
    high: float
    method: Literal["bootstrap", "wilson"]


@dataclass(frozen=True, slots=True)
class Cells:
    """Judgments counted by participant and by item within a group.

    Attributes:
        right: Shape ``(participants, columns)``: right judgments; a column is an item in a group.
        judged: Shape ``(participants, columns)``: all judgments.
        starts: Shape ``(groups,)``: each group's first column; groups lie side by side.
    """

    right: csr_array
    judged: csr_array
    starts: NDArray[np.intp]


def numpy_generator(seed: int, purpose: str, *key: str | int) -> np.random.Generator:
    """Return a fresh NumPy generator for one purpose, named as in ``experiment.seeds``."""
    return np.random.default_rng(derive_seed(seed, purpose, *key))


def cells(
    correct: ArrayLike, participant: ArrayLike, item: ArrayLike, group: NDArray[np.intp]
) -> Cells:
    """Count judgments for resampling.

    Args:
        correct: Shape ``(n,)``: whether each judgment was right.
        participant: Shape ``(n,)``: who judged.
        item: Shape ``(n,)``: what was judged.
        group: Shape ``(n,)``: which accuracy it counts towards, from 0 without gaps.
    """
    rows, people = pd.factorize(np.asarray(participant))
    item_codes, items = pd.factorize(np.asarray(item))
    pairs, columns = np.unique(group * len(items) + item_codes, return_inverse=True)
    groups = np.arange(group.max() + 1)
    shape = (len(people), len(pairs))
    return Cells(
        right=coo_array((np.asarray(correct, dtype=float), (rows, columns)), shape).tocsr(),
        judged=coo_array((np.ones(len(rows)), (rows, columns)), shape).tocsr(),
        starts=np.searchsorted(pairs // len(items), groups),
    )


def crossed_bootstrap(counted: Cells, rng: np.random.Generator, resamples: int) -> Floats:
    """Return resampled accuracies, ``w_p' right w_i / w_p' judged w_i`` for each group.

    ``w_p`` and ``w_i`` count how often each participant and each of the group's items was drawn,
    in as many draws as there are of them. The groups share the drawn participants, so that the
    accuracies of one resample may be compared. A resample that happens to hold no judgment of a
    group is NaN there.

    Args:
        counted: The judgments.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        Shape ``(resamples, groups)``.
    """
    blocks = _block_sizes(resamples, sum(counted.judged.shape))
    return np.concatenate([_resample(counted, rng, size) for size in blocks])


def _block_sizes(resamples: int, weights: int) -> Iterator[int]:
    # Blocks bound the memory: all weights at once would be resamples x (participants + items).
    block = max(1, _WEIGHTS_AT_A_TIME // weights)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)


def _resample(counted: Cells, rng: np.random.Generator, size: int) -> Floats:
    n_people, n_columns = counted.judged.shape
    in_each_group = np.diff(np.append(counted.starts, n_columns))
    people = _draws(rng, n_people, size)
    items = np.concatenate([_draws(rng, int(n), size) for n in in_each_group], axis=1)
    numerator = np.add.reduceat((people @ counted.right) * items, counted.starts, axis=1)
    denominator = np.add.reduceat((people @ counted.judged) * items, counted.starts, axis=1)
    with np.errstate(invalid="ignore"):
        accuracies: Floats = numerator / denominator
    return accuracies


def _draws(rng: np.random.Generator, n: int, size: int) -> Floats:
    return rng.multinomial(n, np.full(n, 1 / n), size).astype(float)


def percentile_interval(draws: Floats) -> Interval:
    """Return the middle 95% of one group's resampled accuracies; NaN resamples do not count."""
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), "bootstrap")


def wilson_interval(correct: int, n: int) -> Interval:
    """Return Wilson's score interval for ``correct`` of ``n``.

    Wilson, E. B. (1927). Journal of the American Statistical Association, 22, 209-212.
    """
    found = binomtest(correct, n).proportion_ci(LEVEL, "wilson")
    return Interval(float(found.low), float(found.high), "wilson")
