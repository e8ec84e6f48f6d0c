"""Correlations over items, with jackknife intervals that leave out one item at a time."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import pearsonr, rankdata, spearmanr

from analysis.statistics.clustered import student_interval
from analysis.statistics.resample import Codes, Floats, codes

METHODS = ("spearman", "pearson")
FEWEST_ITEMS = 3
_NO_SPREAD = 1e-9
# Each takes a pass over all items.
_MOST_LEFT_OUT = 1_000
# Nearer to 1, Fisher's scale is unbounded.
_MOST_CORRELATION = 1 - 1e-6


def correlations(people: Floats, model: Floats, unit: Codes | None = None) -> dict[str, float]:
    """Return Spearman's and Pearson's correlation between two values per item.

    Spearman's is Pearson's correlation of the ranks, with mean ranks for ties. The intervals are
    symmetric on Fisher's scale, artanh r, with the jackknife's variance over items (each item left
    out, or all items of a frame together, the others re-ranked; more than a thousand frames are
    left out in a thousand groups) and Student's quantile. They treat the items, or their frames, as
    a sample; participants' noise is part of the shares. Efron, B. & Stein, C. (1981). The jackknife
    estimate of variance. Annals of Statistics, 9(3), 586-596. Values are NaN with fewer than three
    items, or if one side does not vary; ends are NaN if leaving out some item gives a correlation
    of 1 or -1.

    Args:
        people: Shape ``(items,)``: participants' values.
        model: Shape ``(items,)``.
        unit: Shape ``(items,)``: each item's frame, from 0, if several items share one.

    Returns:
        For each of ``METHODS``: its value, ``<method>_low``, ``<method>_high`` and ``<method>_p``
        (two-sided, for zero correlation, by the interval's standard error); and n_items.
    """
    row: dict[str, float] = {"n_items": len(people)}
    names = [name for method in METHODS for name in _column_names(method)]
    if len(people) < FEWEST_ITEMS or not np.ptp(people) or not np.ptp(model):
        return row | dict.fromkeys(names, float("nan"))
    for method, statistic in (("spearman", spearmanr), ("pearson", pearsonr)):
        value = float(statistic(people, model).statistic)
        if unit is None or unit.max() + 1 == len(people):
            without = correlate_without_each_item(people, model, method)
        else:
            without = _correlate_without_each_unit(people, model, unit, method)
        values = (value, *_interval(value, without))
        row |= dict(zip(_column_names(method), map(float, values), strict=True))
    return row


def _column_names(method: str) -> tuple[str, str, str, str]:
    return method, f"{method}_low", f"{method}_high", f"{method}_p"


def _interval(value: float, without: Floats) -> tuple[float, float, float]:
    """Return a correlation's 95% interval and p from its leave-one-out values.

    Both use the same standard error and degrees of freedom: the interval excludes 0 exactly if p is
    below .05.
    """
    finite = without[np.isfinite(without)]
    if len(finite) < FEWEST_ITEMS or (np.abs(finite) > _MOST_CORRELATION).all():
        return float("nan"), float("nan"), float("nan")
    scaled = np.arctanh(np.clip(finite, -_MOST_CORRELATION, _MOST_CORRELATION))
    variance = (len(finite) - 1) * scaled.var()
    middle = float(np.arctanh(np.clip(value, -_MOST_CORRELATION, _MOST_CORRELATION)))
    ends = student_interval(middle, float(variance), len(finite) - 1.0)
    return float(np.tanh(ends["low"])), float(np.tanh(ends["high"])), ends["p"]


def correlate_without_each_item(first: Floats, second: Floats, method: str) -> Floats:
    """Return the correlation without each item, shape ``(items,)``; NaN without variation.

    Args:
        first: Shape ``(items,)``.
        second: Shape ``(items,)``.
        method: One of ``METHODS``.
    """
    if method == "pearson":
        centred = [(values - values.mean()) / values.std() for values in (first, second)]
        return _correlate_from_sums(
            len(first), *(_sum_of_others(product) for product in _list_products(*centred))
        )
    of_first, of_second = rank_sums_without_each(first), rank_sums_without_each(second)
    return _correlate_from_sums(
        len(first), of_first[0], of_second[0], of_first[1], of_second[1],
        rank_products_without_each(first, second),
    )  # fmt: skip


def _correlate_without_each_unit(first: Floats, second: Floats, unit: Codes, method: str) -> Floats:
    """Return the correlation without the items of each unit, shape ``(units,)``.

    More than ``_MOST_LEFT_OUT`` units are left out in as many groups: the grouped jackknife.
    """
    unit = unit % _MOST_LEFT_OUT
    sides: list[NDArray[Any]] = [first, second]
    if method == "spearman":
        # Codes have the ranks of what they code, and nothing is sorted again for each unit.
        sides = [np.unique(side, return_inverse=True)[1] for side in sides]
    estimates = np.full(int(unit.max()) + 1, np.nan)
    for number in range(len(estimates)):
        values = [side[unit != number] for side in sides]
        if len(values[0]) < FEWEST_ITEMS or not all(np.ptp(side) for side in values):
            continue
        if method == "spearman":
            values = [_rank_codes(side) for side in values]
        estimates[number] = np.corrcoef(*values)[0, 1]
    return estimates


def _rank_codes(codes: NDArray[np.intp]) -> Floats:
    """Return the ranks of codes from 0, with mean ranks for ties."""
    sizes = np.bincount(codes)
    ranks: Floats = (np.cumsum(sizes) - (sizes - 1) / 2)[codes]
    return ranks


def _list_products(first: Floats, second: Floats) -> tuple[Floats, ...]:
    return first, second, first**2, second**2, first * second


def _sum_of_others(values: Floats) -> Floats:
    """Return the sum of the other values, for each value."""
    sums: Floats = values.sum() - values
    return sums


def _correlate_from_sums(
    n: int, first: Floats, second: Floats, first_squared: Floats, second_squared: Floats,
    product: Floats,
) -> Floats:  # fmt: skip
    """Return Pearson's correlation of n - 1 items from sums, squares and products."""
    n_left = n - 1
    spread = (first_squared / n_left - (first / n_left) ** 2) * (
        second_squared / n_left - (second / n_left) ** 2
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        # Rounding errors remain even if all remaining items are equal.
        spread = np.where(spread < _NO_SPREAD, np.nan, spread)
        correlation: Floats = (product / n_left - first * second / n_left**2) / np.sqrt(spread)
    return correlation


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation; NaN with fewer than three items or without variation."""
    if len(first) < FEWEST_ITEMS or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(spearmanr(first, second).statistic)


def correlation_rows(items: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return one model's correlations with participants: over all items, then by construction.

    Args:
        items: One row per item, from ``agreement.with_model_scores``.
        judge: The model's name.

    Returns:
        judge, construction (empty: all), the result of ``correlations`` for the shares, and
        spearman_counts: Spearman's with the difference of counts, as Gulordava et al. (2018) did.
    """
    groups = [("", items), *items.groupby("construction", sort=False, observed=True)]
    rows = []
    for construction, group in groups:
        share, difference = group["share_good"].to_numpy(), group["difference_nats"].to_numpy()
        row: dict[str, object] = {"judge": judge, "construction": str(construction)}
        unit = codes(group["frame"])[0] if "frame" in group else None
        row |= correlations(share, difference, unit)
        row["spearman_counts"] = spearman(group["count_difference"].to_numpy(), difference)
        rows.append(row)
    return pd.DataFrame(rows)


def rank_sums_without_each(values: Floats) -> tuple[Floats, Floats]:
    """For each value left out: rank the others, and sum their ranks and squared ranks.

    With n ranks, the sum is n (n + 1) / 2, even with ties. The sum of squares is n (n + 1)
    (2n + 1) / 6, minus (t^3 - t) / 12 for each group of t tied values.
    """
    n = len(values) - 1
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    tied = sizes.astype(float)
    tie_corrections = (tied**3 - tied) / 12
    # For a group that loses a value: ((t - 1)^3 - (t - 1)) / 12.
    smaller = ((tied - 1) ** 3 - (tied - 1)) / 12
    without = tie_corrections.sum() - tie_corrections[group] + smaller[group]
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
    products: Floats = (
        (r * s).sum() - r * s - _rank_falls(r, y) - _rank_falls(s, x) + _rank_falls_of_both(x, y)
    )
    return products


def _rank_falls(weights: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sum of larger codes' weights, plus half those of other items with equal codes."""
    totals = np.bincount(codes, weights)
    larger = totals[::-1].cumsum()[::-1] - totals
    falls: Floats = larger[codes] + (totals[codes] - weights) / 2
    return falls


def _rank_falls_of_both(x: NDArray[np.intp], y: NDArray[np.intp]) -> Floats:
    """Return for each item the sum over the others of (rank drop in x) times (rank drop in y)."""
    cell = np.unique(x * (y.max() + 1) + y, return_inverse=True)[1]
    n_tied = np.bincount(cell)[cell] - 1
    # Sort ties in x by decreasing y, so that none of them counts as larger in both.
    both_fall = np.empty(len(x))
    order = np.lexsort((-y, x))
    both_fall[order] = _larger_behind(y[order])
    falls: Floats = both_fall + (_larger_in_group(x, y) + _larger_in_group(y, x)) / 2 + n_tied / 4
    return falls


def _larger_in_group(groups: NDArray[np.intp], codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of items with a larger code in each item's own group."""
    keys = groups * (codes.max() + 1) + codes
    ordered = np.sort(keys)
    ends = np.searchsorted(ordered, (groups + 1) * (codes.max() + 1))
    n_larger: NDArray[np.intp] = ends - np.searchsorted(ordered, keys, side="right")
    return n_larger


def _larger_behind(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of larger codes after each code, in n log(n)^2 steps.

    Blocks of 1, 2, 4, ... codes are compared with the following block, as in a merge sort.
    """
    n, n_groups = len(codes), int(codes.max()) + 1
    n_larger = np.zeros(n, np.intp)
    size = 1
    while size < n:
        block = np.arange(n) // size
        in_left_block = block % 2 == 0
        ordered = np.sort(block * n_groups + codes)
        ends = np.searchsorted(ordered, (block[in_left_block] + 2) * n_groups)
        right = (block[in_left_block] + 1) * n_groups + codes[in_left_block]
        n_larger[in_left_block] += ends - np.searchsorted(ordered, right, side="right")
        size *= 2
    return n_larger
