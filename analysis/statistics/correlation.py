"""Correlations over items, with bootstrap intervals that resample items."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from analysis.statistics.resample import Floats, block_sizes, draws, percentile_interval

METHODS = ("spearman", "pearson")
FEWEST_ITEMS = 3
_NO_SPREAD = 1e-9


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What a bootstrap needs to rank one variable in every resample without sorting again."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    place: NDArray[np.intp]


def correlations(
    people: Floats, model: Floats, rng: np.random.Generator, resamples: int
) -> dict[str, float]:
    """Return Spearman's and Pearson's correlation of two values per item.

    Spearman's is Pearson's of the ranks, ties at their mean rank. The intervals are the middle 95%
    of a bootstrap over items, which ranks each resample anew. They take the items for a sample of
    items; the participants' noise is in the shares. Values are NaN with fewer than three items,
    or where one side does not vary.

    Args:
        people: Shape ``(items,)``.
        model: Shape ``(items,)``.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        For each of ``METHODS``: its value, ``<method>_low``, ``<method>_high`` and ``<method>_p``
        (two-sided, of no correlation); and n_items.
    """
    found: dict[str, float] = {"n_items": len(people)}
    names = [name for method in METHODS for name in _names(method)]
    if len(people) < FEWEST_ITEMS or not np.ptp(people) or not np.ptp(model):
        return found | dict.fromkeys(names, float("nan"))
    resampled = bootstrap_correlations(people, model, rng, resamples)
    for method, statistic in (("spearman", spearmanr), ("pearson", pearsonr)):
        value = statistic(people, model)
        interval = percentile_interval(resampled[method])
        values = (value.statistic, interval.low, interval.high, value.pvalue)
        found |= dict(zip(_names(method), map(float, values), strict=True))
    return found


def _names(method: str) -> tuple[str, str, str, str]:
    return method, f"{method}_low", f"{method}_high", f"{method}_p"


def bootstrap_correlations(
    first: Floats, second: Floats, rng: np.random.Generator, resamples: int
) -> dict[str, Floats]:
    """Return the correlations of resampled items.

    Returns:
        For each of ``METHODS``, shape ``(resamples,)``; NaN where a resample does not vary.
    """
    centred = [(values - values.mean()) / values.std() for values in (first, second)]
    products = np.column_stack(
        [*centred, centred[0] ** 2, centred[1] ** 2, centred[0] * centred[1]]
    )
    rankings = (_ranking(first), _ranking(second))
    found: dict[str, list[Floats]] = {method: [] for method in METHODS}
    for size in block_sizes(resamples, 4 * len(first)):
        weights = draws(rng, len(first), size)
        found["pearson"].append(_from_means(*(weights @ products / len(first)).T))
        ranks = [_ranks(weights, ranking) for ranking in rankings]
        found["spearman"].append(_of_ranks(weights, *ranks))
    return {method: np.concatenate(parts) for method, parts in found.items()}


def _from_means(
    first: Floats, second: Floats, first_squared: Floats, second_squared: Floats, product: Floats
) -> Floats:
    """Return Pearson's correlation from the means of two variables, their squares and product."""
    spread = (first_squared - first**2) * (second_squared - second**2)
    # Rounding leaves a trace of spread where all drawn items are alike.
    spread[spread < _NO_SPREAD] = np.nan
    found: Floats = (product - first * second) / np.sqrt(spread)
    return found


def _ranking(values: Floats) -> _Ranking:
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    return _Ranking(order, starts, place)


def _ranks(weights: Floats, ranking: _Ranking) -> Floats:
    """Return each item's mean rank in each resample, shape ``(resamples, items)``."""
    tied = np.add.reduceat(weights[:, ranking.order], ranking.starts, axis=1)
    below = np.cumsum(tied, axis=1) - tied
    middle: Floats = (below + (tied + 1) / 2)[:, ranking.place]
    return middle


def _of_ranks(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Return Spearman's correlation in each resample from its ranks, whose mean is known."""
    n = weights.shape[1]
    middle = np.full(len(weights), (n + 1) / 2)
    weighted = weights * first
    squares = np.einsum("ri,ri->r", weighted, first) / n
    products = np.einsum("ri,ri->r", weighted, second) / n
    second_squares = np.einsum("ri,ri,ri->r", weights, second, second) / n
    return _from_means(middle, middle, squares, second_squares, products)


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation; NaN with fewer than three items or without variation."""
    if len(first) < FEWEST_ITEMS or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(spearmanr(first, second).statistic)


def correlation_rows(
    items: pd.DataFrame, judge: str, rng: np.random.Generator, resamples: int
) -> pd.DataFrame:
    """Return one model's correlations with people: over all items, then by construction.

    Args:
        items: One row per item, as ``analysis.statistics.preferences.beside`` gives them.
        judge: The model's name.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        judge, construction (empty: all), what ``correlations`` gives for the shares, and
        spearman_counts: Spearman's with the difference of counts, as Gulordava et al. (2018) did.
    """
    groups = [("", items), *items.groupby("construction", sort=False, observed=True)]
    rows = []
    for construction, group in groups:
        share, difference = group["share_good"].to_numpy(), group["difference_nats"].to_numpy()
        found: dict[str, object] = {"judge": judge, "construction": str(construction)}
        found |= correlations(share, difference, rng, resamples)
        found["spearman_counts"] = spearman(group["count_difference"].to_numpy(), difference)
        rows.append(found)
    return pd.DataFrame(rows)
