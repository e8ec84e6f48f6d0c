"""Ratings on a scale: means by condition, and differences between two versions."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import decode_texts
from analysis.data.declared import clustering_column
from analysis.statistics.clustered import student_quantile
from analysis.statistics.contrasts import clustered_means
from analysis.statistics.correlation import correlations
from analysis.statistics.drawn_frames import find_drawn, find_weights, weighted_means
from analysis.statistics.resample import Codes, Floats, codes
from analysis.statistics.variance_parts import contrast_variance
from analysis.statistics.withheld import CONTRAST, too_few_units, withhold_ends
from experiment.records import Variant


def mean_ratings(ratings: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean rating of each group with a 95% interval, two-way clustered.

    Args:
        ratings: One row per rating, from ``analysis.data.join.judgments``; clustered by item, or by
            ``unit`` if that column exists.
        by: The grouping columns.

    Returns:
        The grouping columns, mean, low, high, sd (of single ratings), n_ratings, n_items,
        n_participants. The interval is NaN with one participant and one item.
    """
    grouped = ratings.groupby(list(by), sort=False, observed=True)
    numbers = grouped.agg(
        n_ratings=("rating", "size"),
        n_items=("item_id", "nunique"),
        n_participants=("participant", "nunique"),
    ).reset_index()
    group = grouped.ngroup().to_numpy().astype(np.intp)
    # Items of one frame share their words, so they are not independent.
    means = clustered_means(
        ratings, ratings["rating"].to_numpy(dtype=float), clustering_column(ratings), group
    )
    return decode_texts(pd.concat([numbers, means], axis=1))


def rating_differences(ratings: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the good versions' mean rating minus that of the others, in points.

    Effects of participants and items that are common to both means cancel in the interval.

    Args:
        ratings: One row per rating.
        by: The grouping columns.

    Returns:
        The grouping columns, mean_good, mean_other, difference, low, high, n_ratings; only for
        groups in which both were rated.
    """
    is_good = (ratings["version"] == Variant.GOOD).to_numpy()
    has_both = (
        ratings.groupby(list(by), sort=False, observed=True)["version"].transform("nunique") > 1
    )
    ratings, is_good = ratings[has_both.to_numpy()], is_good[has_both.to_numpy()]
    if ratings.empty:
        return pd.DataFrame(columns=[*by, "mean_good", "mean_other", "difference", "low", "high"])
    grouped = ratings.groupby(list(by), sort=False, observed=True)
    group = grouped.ngroup().to_numpy().astype(np.intp)
    values = ratings["rating"].to_numpy(dtype=float)
    weight, version = find_weights(ratings), 2 * group + is_good
    means = weighted_means(values, weight, version)
    share = np.where(is_good, 1, -1) * weight / np.bincount(version, weight)[version]
    difference = means[1::2] - means[::2]
    rows = decode_texts(grouped.size().rename("n_ratings").reset_index())
    return rows.assign(
        mean_good=means[1::2],
        mean_other=means[::2],
        difference=difference,
        **_difference_interval(difference, values, share, ratings, group),
    )


def _difference_interval(
    estimate: Floats,
    values: Floats,
    share: Floats,
    ratings: pd.DataFrame,
    group: NDArray[np.intp],
) -> dict[str, Floats]:
    names = ("participant", clustering_column(ratings))
    half = np.full(len(estimate), np.nan)
    for number in range(len(estimate)):
        in_group = group == number
        ways = [codes(ratings.loc[in_group, name])[0] for name in names]
        if too_few_units(*(ratings.loc[in_group, name].nunique() for name in names)):
            continue
        variance, freedom = contrast_variance(
            values[in_group],
            share[in_group],
            (share[in_group] > 0).astype(np.intp),
            ways,
            find_drawn(ratings[in_group]),
        )
        half[number] = student_quantile(np.array(freedom)) * np.sqrt(variance)
    low, high = withhold_ends(estimate - half, estimate + half, np.bincount(group), CONTRAST)
    return {"low": low, "high": high}


def item_differences(ratings: pd.DataFrame) -> "pd.Series[float]":
    """Return each item's mean rating of the good version minus that of the other version."""
    is_good = ratings["version"] == Variant.GOOD
    means = [
        ratings[chosen].groupby("item_id", observed=True)["rating"].mean().astype(float)
        for chosen in (is_good, ~is_good)
    ]
    differences: pd.Series[float] = (means[0] - means[1]).dropna()
    differences.index = differences.index.astype(str)
    return differences


def correlate_items(people: Floats, model: Floats, unit: Codes | None = None) -> dict[str, float]:
    """Return correlations between two values per item, with 95% intervals over items.

    Args:
        people: Shape ``(items,)``: participants' values.
        model: Shape ``(items,)``.
        unit: Shape ``(items,)``: each item's frame, from 0, if several items share one.

    Returns:
        spearman, spearman_low, spearman_high, pearson, agreement (the share of items on which both
        have the same sign), n_items; NaN with fewer than three items, or without variance.
    """
    statistics = correlations(people, model, unit)
    reported = ("n_items", "pearson", "spearman", "spearman_low", "spearman_high")
    agreement = float(np.mean(np.sign(people) == np.sign(model))) if len(people) else np.nan
    return {name: float(statistics[name]) for name in reported} | {"agreement": agreement}
