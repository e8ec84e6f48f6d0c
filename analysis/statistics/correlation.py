"""Correlations over items, with jackknife intervals that leave out one item at a time."""

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr
from scipy.stats import t as student

from analysis.statistics.clustered import quantile
from analysis.statistics.ranks import rank_products_without_each, rank_sums_without_each
from analysis.statistics.resample import Floats

METHODS = ("spearman", "pearson")
FEWEST_ITEMS = 3
_NO_SPREAD = 1e-9
# Nearer to 1, Fisher's scale is unbounded.
_MOST = 1 - 1e-6


def correlations(people: Floats, model: Floats) -> dict[str, float]:
    """Return Spearman's and Pearson's correlation between two values per item.

    Spearman's is Pearson's correlation of the ranks, with mean ranks for ties. The intervals are
    symmetric on Fisher's scale, artanh r, with the jackknife's variance over items (each item left
    out, the others re-ranked) and Student's quantile. They treat the items as a sample;
    participants' noise is part of the shares. Efron, B. & Stein, C. (1981). The jackknife estimate
    of variance. Annals of Statistics, 9(3), 586-596. Values are NaN with fewer than three items, or
    if one side does not vary; ends are NaN if leaving out some item gives a correlation of 1 or -1.

    Args:
        people: Shape ``(items,)``: participants' values.
        model: Shape ``(items,)``.

    Returns:
        For each of ``METHODS``: its value, ``<method>_low``, ``<method>_high`` and ``<method>_p``
        (two-sided, for zero correlation, by the interval's standard error); and n_items.
    """
    found: dict[str, float] = {"n_items": len(people)}
    names = [name for method in METHODS for name in _names(method)]
    if len(people) < FEWEST_ITEMS or not np.ptp(people) or not np.ptp(model):
        return found | dict.fromkeys(names, float("nan"))
    for method, statistic in (("spearman", spearmanr), ("pearson", pearsonr)):
        value = float(statistic(people, model).statistic)
        values = (value, *_interval(value, without_each(people, model, method)))
        found |= dict(zip(_names(method), map(float, values), strict=True))
    return found


def _names(method: str) -> tuple[str, str, str, str]:
    return method, f"{method}_low", f"{method}_high", f"{method}_p"


def _interval(value: float, left: Floats) -> tuple[float, float, float]:
    """Return a correlation's 95% interval and p from its leave-one-out values.

    Both use the same standard error and degrees of freedom: the interval excludes 0 exactly if p is
    below .05.
    """
    known = left[np.isfinite(left)]
    if len(known) < FEWEST_ITEMS or (np.abs(known) > _MOST).all():
        return float("nan"), float("nan"), float("nan")
    scaled = np.arctanh(np.clip(known, -_MOST, _MOST))
    variance = (len(known) - 1) * scaled.var()
    freedom, error = len(known) - 1.0, float(np.sqrt(variance))
    half = float(quantile(np.asarray(freedom))) * error
    middle = float(np.arctanh(np.clip(value, -_MOST, _MOST)))
    p = 2 * float(student.sf(abs(middle) / error, freedom)) if error > 0 else float("nan")
    return float(np.tanh(middle - half)), float(np.tanh(middle + half)), p


def without_each(first: Floats, second: Floats, method: str) -> Floats:
    """Return the correlation without each item, shape ``(items,)``; NaN without variation.

    Args:
        first: Shape ``(items,)``.
        second: Shape ``(items,)``.
        method: One of ``METHODS``.
    """
    if method == "pearson":
        centred = [(values - values.mean()) / values.std() for values in (first, second)]
        return _from_sums(len(first), *(_left(one) for one in _products(*centred)))
    of_first, of_second = rank_sums_without_each(first), rank_sums_without_each(second)
    return _from_sums(
        len(first), of_first[0], of_second[0], of_first[1], of_second[1],
        rank_products_without_each(first, second),
    )  # fmt: skip


def _products(first: Floats, second: Floats) -> tuple[Floats, ...]:
    return first, second, first**2, second**2, first * second


def _left(values: Floats) -> Floats:
    """Return the sum of the other values, for each value."""
    found: Floats = values.sum() - values
    return found


def _from_sums(
    n: int, first: Floats, second: Floats, first_squared: Floats, second_squared: Floats,
    product: Floats,
) -> Floats:  # fmt: skip
    """Return Pearson's correlation of n - 1 items from sums, squares and products."""
    less = n - 1
    spread = (first_squared / less - (first / less) ** 2) * (
        second_squared / less - (second / less) ** 2
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        # Rounding errors remain even if all remaining items are equal.
        spread = np.where(spread < _NO_SPREAD, np.nan, spread)
        found: Floats = (product / less - first * second / less**2) / np.sqrt(spread)
    return found


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation; NaN with fewer than three items or without variation."""
    if len(first) < FEWEST_ITEMS or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(spearmanr(first, second).statistic)


def correlation_rows(items: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return one model's correlations with participants: over all items, then by construction.

    Args:
        items: One row per item, from ``preferences.with_model_scores``.
        judge: The model's name.

    Returns:
        judge, construction (empty: all), the result of ``correlations`` for the shares, and
        spearman_counts: Spearman's with the difference of counts, as Gulordava et al. (2018) did.
    """
    groups = [("", items), *items.groupby("construction", sort=False, observed=True)]
    rows = []
    for construction, group in groups:
        share, difference = group["share_good"].to_numpy(), group["difference_nats"].to_numpy()
        found: dict[str, object] = {"judge": judge, "construction": str(construction)}
        found |= correlations(share, difference)
        found["spearman_counts"] = spearman(group["count_difference"].to_numpy(), difference)
        rows.append(found)
    return pd.DataFrame(rows)
