"""Accuracy of participants and models, by construction, condition or any other grouping.

Every function returns one row per group in the same long form, so that results of several judges
can be concatenated: ``judge``, ``is_model``, ``items`` ("judged" or "all"), the grouping columns,
``accuracy``, ``low``, ``high``, ``interval``, ``wilson_low``, ``wilson_high``, ``n_items``,
``n_frames`` (of people), ``n_judgments``, ``n_participants``, ``n_ties``. Values that do not apply
to a judge are missing.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.data.categorical import group_rows
from analysis.data.declared import clustering_column
from analysis.data.inclusion import WEIGHT
from analysis.data.load import PEOPLE
from analysis.statistics.clustered import (
    Variances,
    clustered_intervals,
    combine_variances,
    correct_for_clusters,
    interval_ends,
    student_quantile,
)
from analysis.statistics.drawn_frames import find_drawn, find_weights, weighted_means
from analysis.statistics.resample import (
    Floats,
    Interval,
    Weighing,
    codes,
    count_cells,
    count_matrices,
    crossed_bootstrap,
    percentile_interval,
    wilson_interval,
)
from analysis.statistics.variance_parts import contrast_variance, freedom_by_parts
from analysis.statistics.withheld import CONTRAST, SHARE, too_few_units, withhold_ends

JUDGED, ALL = "judged", "all"


def people_accuracy(
    judgments: pd.DataFrame, by: Sequence[str], weigh: Weighing = "judgments"
) -> pd.DataFrame:
    """Return participants' accuracy per group: the share of right judgments, with a 95% interval.

    The interval is the two-way clustered one (``statistics.clustered``). If all judgments of a
    group are right, or all wrong, the variance cannot be estimated: Wilson's interval is used
    instead, as if each participant (or each frame, whichever are fewer) had been observed once.
    ``wilson_low`` and ``wilson_high`` are Wilson's for independent judgments, as a check.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``. If participants are
            unknown (``participant`` missing), judgments cluster by frame only.
        by: The grouping columns.
        weigh: With "items", the accuracies of items are averaged.
    """
    grouped, right = group_rows(judgments, by), judgments["chose_good"]
    unit = judgments[clustering_column(judgments)]
    n, n_right = grouped.size, grouped.sums(right)
    n_frames, n_participants = grouped.distinct(unit), grouped.distinct(judgments["participant"])
    item = codes(judgments["item_id"])[0]
    clustered = clustered_intervals(
        right.to_numpy(dtype=float),
        codes(judgments["participant"])[0],
        codes(unit)[0],
        grouped.number,
        _item_weights(item, grouped.number) if weigh == "items" else None,
        find_drawn(judgments),
    )
    fewer = np.where(n_participants > 0, np.minimum(n_frames, n_participants), n_frames).tolist()
    intervals = [
        *map(accuracy_interval, clustered.low, clustered.high, n_right.tolist(), n.tolist(), fewer)
    ]
    low, high = withhold_ends(
        [group_interval.low for group_interval in intervals],
        [group_interval.high for group_interval in intervals],
        n,
        SHARE,
    )
    n_weighted = np.rint(clustered.accuracy * n).astype(int)
    wilson = list(map(wilson_interval, n_weighted.tolist(), n.tolist()))
    return pd.DataFrame(
        {
            **grouped.keys,
            "n_items": grouped.distinct(judgments["item_id"]),
            "n_frames": n_frames,
            "n_judgments": n,
            "n_participants": n_participants,
            "judge": PEOPLE,
            "is_model": False,
            "items": JUDGED,
            "accuracy": clustered.accuracy,
            "low": low,
            "high": high,
            "interval": [group_interval.method for group_interval in intervals],
            "wilson_low": [group_interval.low for group_interval in wilson],
            "wilson_high": [group_interval.high for group_interval in wilson],
        }
    )


def clustered_shares(
    answers: pd.DataFrame, value: str, by: Sequence[str], unit: str
) -> pd.DataFrame:
    """Return the share of true values in each group, with Wilson's two-way clustered interval.

    Args:
        answers: One row per answer: the grouping columns, participant, and the two columns named.
        value: The column of the value: true or false, 1 or 0.
        by: The grouping columns.
        unit: The column of what participants judge: items, or the units that conditions share.

    Returns:
        The grouping columns, n, n_true, share, share_low, share_high.
    """
    grouped = answers.groupby(list(by), sort=False)
    counts = grouped.agg(n=(value, "size"), n_true=(value, "sum")).reset_index()
    person, units = (codes(answers[name].astype(str))[0] for name in ("participant", unit))
    group = grouped.ngroup().to_numpy().astype(np.intp)
    intervals = clustered_intervals(
        answers[value].to_numpy(dtype=float), person, units, group, drawn=find_drawn(answers)
    )
    return counts.assign(
        share=intervals.accuracy, share_low=intervals.low, share_high=intervals.high
    )


def _item_weights(item: NDArray[np.intp], group: NDArray[np.intp]) -> Floats:
    """Return the weight of each judgment such that all items have equal weight."""
    pairs = group * (item.max() + 1) + item
    _, place, n = np.unique(pairs, return_inverse=True, return_counts=True)
    weights: Floats = 1 / n[place]
    return weights


def accuracy_interval(
    low: float, high: float, n_right: int, n_judgments: int, n_clusters: int
) -> Interval:
    """Return an accuracy's clustered interval, or Wilson's if there is none.

    Args:
        low: The clustered interval's lower end; NaN with a single cluster.
        high: Its upper end.
        n_right: Right judgments.
        n_judgments: All judgments.
        n_clusters: The number of participants or items, whichever is smaller.
    """
    if n_right in (0, n_judgments):
        return wilson_interval(n_clusters if n_right else 0, n_clusters)
    return Interval(float(low), float(high), "clustered")


def bootstrap_accuracy(
    judgments: pd.DataFrame, by: Sequence[str], rng: np.random.Generator, resamples: int
) -> pd.DataFrame:
    """Return the crossed bootstrap's interval of each group's accuracy, as a check.

    The interval is conservative (see ``statistics.resample``). If all judgments agree, its width is
    zero.

    Args:
        judgments: One row per judgment, as for ``people_accuracy``.
        by: The grouping columns.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        The grouping columns, bootstrap_low, bootstrap_high.
    """
    grouped = group_rows(judgments, by)
    unit = judgments[clustering_column(judgments)]
    cell_counts = count_cells(
        judgments["chose_good"],
        judgments["participant"],
        unit,
        grouped.number,
        judgments.get(WEIGHT),
    )
    ends = [
        percentile_interval(drawn) for drawn in crossed_bootstrap(cell_counts, rng, resamples).T
    ]
    low, high = (
        [group_interval.low for group_interval in ends],
        [group_interval.high for group_interval in ends],
    )
    return pd.DataFrame({**grouped.keys, "bootstrap_low": low, "bootstrap_high": high})


def accuracy_difference(judgments: pd.DataFrame, of_first: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the difference between participants' accuracies on some judgments and on the others.

    Args:
        judgments: One row per judgment.
        of_first: Shape ``(n,)``: whether a judgment belongs to the first accuracy.

    Returns:
        One row: difference, low, high, the ends of its 95% interval (two-way clustered; effects of
            participants and items that occur in both accuracies cancel), n_judgments. NaN if one of
            the two has no judgments; no interval with too few answers, participants or frames
            (``withheld``).
    """
    row = {"difference": np.nan, "low": np.nan, "high": np.nan, "n_judgments": len(judgments)}
    if of_first.all() or not of_first.any():
        return pd.DataFrame([row])
    chosen, side = judgments["chose_good"].to_numpy(dtype=float), of_first.astype(np.intp)
    count = find_weights(judgments)
    weight = np.where(of_first, 1, -1) * count / np.bincount(side, count)[side]
    names = ("participant", clustering_column(judgments))
    ways = [codes(judgments[name])[0] for name in names]
    variance, freedom = contrast_variance(chosen, weight, side, ways, find_drawn(judgments))
    half = float(student_quantile(np.array(freedom)) * np.sqrt(variance))
    second, first = weighted_means(chosen, count, side).tolist()
    difference = first - second
    sides = np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    low, high = map(float, withhold_ends(*sides, len(chosen), CONTRAST))
    if too_few_units(*(judgments[name].nunique() for name in names)):
        low = high = np.nan
    return pd.DataFrame([row | {"difference": difference, "low": low, "high": high}])


def accuracies(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    by: Sequence[str],
    rng: np.random.Generator,
    resamples: int,
) -> pd.DataFrame:
    """Return participants' accuracy with every interval, followed by each model's.

    Args:
        judgments: One row per judgment.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.
        by: The grouping columns.
        rng: Draws the resamples.
        resamples: How many times to resample.
    """
    items = judgments["item_id"].unique().tolist()
    check = bootstrap_accuracy(judgments, by, rng, resamples).drop(columns=list(by))
    # Both have the groups in order of first occurrence.
    people = pd.concat([people_accuracy(judgments, by), check], axis=1)
    models = [model_accuracy(frame, name, by, items) for name, frame in decisions.items()]
    return pd.concat([people, *models], ignore_index=True)


def model_accuracy(
    decisions: pd.DataFrame, model: str, by: Sequence[str], judged_items: Iterable[str]
) -> pd.DataFrame:
    """Return a model's accuracy per group, on the judged items and on all scored items.

    Args:
        decisions: One row per item, from ``analysis.data.join.decisions``.
        model: The model's name.
        by: The grouping columns.
        judged_items: The ids of the judged items.
    """
    on_judged = decisions[decisions["item_id"].isin(set(judged_items))]
    sides = (_model_shares(decisions, by, ALL, model), _model_shares(on_judged, by, JUDGED, model))
    return pd.concat(sides, ignore_index=True)


def _model_shares(
    decisions: pd.DataFrame, by: Sequence[str], items: str, model: str
) -> pd.DataFrame:
    grouped = group_rows(decisions, by)
    correct, weight = decisions["correct"].to_numpy(dtype=float), np.ones(len(decisions))
    if items == JUDGED and WEIGHT in decisions:
        weight = decisions[WEIGHT].to_numpy()
    return pd.DataFrame(
        {
            **grouped.keys,
            "accuracy": np.bincount(grouped.number, weight * correct)
            / np.bincount(grouped.number, weight),
            "n_items": grouped.size,
            "n_ties": grouped.sums(decisions["tie"]),
            "items": items,
            "judge": model,
            "is_model": True,
        }
    )


Codes = NDArray[np.intp]


def overlapping_accuracy(judgments: pd.DataFrame, item: Codes, group: Codes) -> pd.DataFrame:
    """Return participants' accuracy on groups of items; an item may be in several groups.

    Judgments are not copied for each group: there may be millions of them. So the variance within a
    participant's judgments of one frame is computed from single judgments, as if no participant
    judged two items of a frame.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        item: Shape ``(n,)``: an item, numbered in the order of their first judgments.
        group: Shape ``(n,)``: a group it is in.

    Returns:
        One row per non-empty group: group, accuracy, low, high (as of
        ``accuracy.people_accuracy``), n_judgments, n_items.
    """
    groups, column = np.unique(group, return_inverse=True)
    person, n_people = codes(judgments["participant"])
    judged_item, n = codes(judgments["item_id"])
    right, judged_counts = count_matrices(
        judgments["chose_good"], person, judged_item, (n_people, n)
    )
    member = coo_array((np.ones(len(item)), (item, column)), (n, len(groups))).tocsr()
    unit, n_units = codes(judgments[clustering_column(judgments)])
    first_judgments = np.unique(judged_item, return_index=True)[1]
    in_unit = coo_array((np.ones(n), (unit[first_judgments], np.arange(n))), (n_units, n)).tocsr()
    accuracy, n_judged, interval_ends, (people, units) = _overlap_intervals(
        right, judged_counts, member, in_unit
    )
    has_participants = judgments["participant"].notna().any()
    clusters = np.minimum(people, units) if has_participants else units
    n_right = np.rint(accuracy * n_judged)
    intervals = map(
        accuracy_interval, *interval_ends, n_right.astype(int), n_judged.astype(int), clusters
    )
    interval_rows = pd.DataFrame(list(intervals))
    low, high = withhold_ends(interval_rows["low"], interval_rows["high"], n_judged, SHARE)
    return pd.DataFrame(
        {
            "group": groups,
            "accuracy": accuracy,
            "low": low,
            "high": high,
            "n_judgments": n_judged.astype(int),
            "n_items": np.bincount(column),
        }
    )


def _overlap_intervals(
    right: csr_array, n_judged: csr_array, member: csr_array, in_unit: csr_array
) -> tuple[Floats, Floats, tuple[Floats, Floats], tuple[Codes, Codes]]:
    """Return each group's accuracy, judgments, interval ends, participants and units."""
    n_right, n = (np.asarray(counts.sum(axis=0)) @ member for counts in (right, n_judged))
    accuracy = n_right / n
    of_people, n_people = _cluster_squares(right @ member, n_judged @ member, accuracy)
    right_of_unit, judged_of_unit = (
        csr_array(in_unit @ member.multiply(np.asarray(counts.sum(axis=0))[:, None]))
        for counts in (right, n_judged)
    )
    of_units, n_units = _cluster_squares(right_of_unit, judged_of_unit, accuracy)
    of_judgments = n * accuracy * (1 - accuracy)
    squares = ((of_people, n_people), (of_units, n_units), (of_judgments, n))
    parts = [correct_for_clusters(total / n**2, size) for total, size in squares]
    freedoms = (n_people - 1, n_units - 1, n - 1)
    variances = Variances(combine_variances(*parts), freedom_by_parts(parts, freedoms))
    clusters = n_people.astype(np.intp), n_units.astype(np.intp)
    return accuracy, n, interval_ends(accuracy, variances, parts, freedoms), clusters


def _cluster_squares(
    right: csr_array, n_judged: csr_array, accuracy: Floats
) -> tuple[Floats, Floats]:
    """Return each group's sum of clusters' ``(right - accuracy judged)^2``, and the clusters."""
    residuals = right - n_judged.multiply(accuracy[None, :])
    squares = np.asarray(residuals.multiply(residuals).sum(axis=0)).ravel()
    return squares, np.asarray((n_judged > 0).sum(axis=0), dtype=float).ravel()
