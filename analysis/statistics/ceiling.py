"""How well participants predict participants: the noise ceiling of a model's correlation."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import rankdata

from analysis.data.categorical import find_codes
from analysis.statistics.correlation import FEWEST_ITEMS, METHODS
from analysis.statistics.resample import (
    Floats,
    codes,
    count_matrices,
    mean_or_nan,
    percentile_interval,
    resample_batches,
)

_FACTOR_COLUMN = "factor"


def split_half(judgments: pd.DataFrame, rng: np.random.Generator, resamples: int) -> pd.DataFrame:
    """Return the reliability of participants' preferences by random split halves.

    The participants of each list are randomly split into two halves; the shares of expected
    choices of the halves are correlated over the items that both judged. The mean correlation over
    the splits ``r`` is stepped up to the whole group by Spearman and Brown's
    ``k r / (1 + (k - 1) r)``. ``k`` is 2 where each half has half of every item's judgments;
    if items have unequal numbers of judgments, it is the ratio of the noise (the mean of 1 / n) of
    the halves' items to that of all items: halves lack items with a single judgment. Its square
    root is the ceiling: the correlation of the true shares with the group's observed shares. If
    participants are unknown, each item's judgments are split into halves.

    Spearman, C. (1910). Correlation calculated from faulty data. British Journal of Psychology, 3,
    271-295. Brown, W. (1910), same volume, 296-322.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        rng: The source of randomness.
        resamples: How many random splits.

    Returns:
        One row; for each method: ``<method>_half`` (mean over splits), ``<method>`` (stepped up),
        ``<method>_low`` and ``<method>_high`` (the middle 95% of splits, stepped up: the variation
        between splits, not a confidence interval), ``<method>_ceiling``; NaN if no split has items
        that vary.
    """
    unit, stratum = _number_units(judgments)
    item, n_items = codes(judgments["item_id"])
    shape = (int(unit.max()) + 1, n_items)
    right, n_judged = count_matrices(judgments["chose_good"], unit, item, shape)
    values_by_method: dict[str, list[float]] = {method: [] for method in (*METHODS, _FACTOR_COLUMN)}
    for size in resample_batches(resamples, 3 * sum(shape)):
        for correlations in _correlate_halves(right, n_judged, _deal_halves(stratum, rng, size)):
            for method, value in correlations.items():
                values_by_method[method].append(value)
    row: dict[str, float] = {}
    for method in METHODS:
        row |= _step_up(
            method, np.array(values_by_method[method]), np.array(values_by_method[_FACTOR_COLUMN])
        )
    return pd.DataFrame([row])


def _number_units(judgments: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each judgment's unit for splitting, and each unit's stratum."""
    if judgments["participant"].isna().all():
        return np.arange(len(judgments)), codes(judgments["item_id"])[0]
    unit, _ = codes(judgments["participant"])
    _, first_judgments = np.unique(unit, return_index=True)
    return unit, codes(judgments["list"])[0][first_judgments]


def _deal_halves(stratum: NDArray[np.intp], rng: np.random.Generator, splits: int) -> Floats:
    """Return 1 for the units of the first half, shape ``(splits, units)``; half of each stratum.

    With an odd number, the first half gets one more or one less, at random for each stratum.
    """
    size = np.bincount(stratum)
    starts = np.cumsum(size) - size
    order = np.argsort(stratum + rng.random((splits, len(stratum))), axis=1)
    position_in_stratum = np.arange(len(stratum)) - np.repeat(starts, size)
    coin = rng.integers(0, 2, (splits, len(size)))
    in_first_half = position_in_stratum < np.repeat((size + coin) // 2, size, axis=1)
    dealt = np.empty((splits, len(stratum)))
    np.put_along_axis(dealt, order, in_first_half.astype(float), axis=1)
    return dealt


def _correlate_halves(
    right: csr_array, n_judged: csr_array, dealt: Floats
) -> list[dict[str, float]]:
    first_right, first_judged = dealt @ right, dealt @ n_judged
    all_judged = n_judged.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = first_right / first_judged
        second = (right.sum(axis=0) - first_right) / (all_judged - first_judged)
        noise = (1 / first_judged + 1 / (all_judged - first_judged)) / 2
    whole_noise = float(np.mean(1 / all_judged[all_judged > 0]))
    return [
        _correlate(first_half, second_half)
        | {_FACTOR_COLUMN: mean_or_nan(half_noise[np.isfinite(half_noise)]) / whole_noise}
        for first_half, second_half, half_noise in zip(first, second, noise, strict=True)
    ]


def _correlate(first: Floats, second: Floats) -> dict[str, float]:
    on_both = np.isfinite(first) & np.isfinite(second)
    first_values, second_values = first[on_both], second[on_both]
    if len(first_values) < FEWEST_ITEMS or not np.ptp(first_values) or not np.ptp(second_values):
        return dict.fromkeys(METHODS, float("nan"))
    return {
        "pearson": float(np.corrcoef(first_values, second_values)[0, 1]),
        "spearman": float(np.corrcoef(rankdata(first_values), rankdata(second_values))[0, 1]),
    }


def _step_up(method: str, halves: Floats, factors: Floats) -> dict[str, float]:
    names = (f"{method}_half", method, f"{method}_low", f"{method}_high", f"{method}_ceiling")
    if not np.isfinite(halves).any():
        return dict.fromkeys(names, float("nan"))
    half = float(np.nanmean(halves))
    factor = float(np.nanmean(factors[np.isfinite(halves)]))
    spread = percentile_interval(halves)
    stepped_up, low, high = (
        spearman_brown(value, factor) for value in (half, spread.low, spread.high)
    )
    return dict(
        zip(names, (half, stepped_up, low, high, float(np.sqrt(max(stepped_up, 0.0)))), strict=True)
    )


def spearman_brown(half: float, factor: float = 2.0) -> float:
    """Return the reliability of the whole group from the correlation of its halves.

    Args:
        half: The correlation.
        factor: The ratio of a half's noise to that of the whole.

    Returns:
        The reliability; NaN if the halves are exact opposites.
    """
    below = 1 + (factor - 1) * half
    return factor * half / below if half > -1 and below > 0 else float("nan")


def leave_one_out(judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the correlation of one judge's choices with those of all others.

    Each participant is left out in turn; the participant's choices (1 expected, 0 other) are
    correlated with the share of expected choices among the others on the same items, over all
    judgments of all participants at once. Then each model replaces the participant: its choices on
    the same items are correlated with the same shares. If participants are unknown, single
    judgments are left out.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.

    Returns:
        judge ("people" first), pearson, n_judgments (judgments of items that others judged too).
    """
    participant_choices = judgments["chose_good"].to_numpy(dtype=float)
    by_item = judgments["chose_good"].groupby(judgments["item_id"], observed=True)
    n, right = by_item.transform("size").to_numpy(), by_item.transform("sum").to_numpy(dtype=float)
    accompanied = n > 1
    other_shares = (right[accompanied] - participant_choices[accompanied]) / (n[accompanied] - 1)
    choices = {"people": participant_choices}
    for model, frame in decisions.items():
        decided = frame["correct"].to_numpy(dtype=float)
        choices[model] = decided[
            find_codes(judgments["item_id"], pd.Index(frame["item_id"].tolist()))
        ]
    rows = [
        {"judge": judge, "pearson": _correlate(chosen[accompanied], other_shares)["pearson"]}
        for judge, chosen in choices.items()
    ]
    return pd.DataFrame(rows).assign(n_judgments=int(accompanied.sum()))
