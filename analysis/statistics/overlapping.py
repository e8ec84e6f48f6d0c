"""Participants' accuracy in overlapping groups of items, such as items with a certain word."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.data.declared import unit_column
from analysis.statistics.accuracy import interval
from analysis.statistics.clustered import Variances, combined, corrected, share_ends
from analysis.statistics.resample import Floats, codes
from analysis.statistics.variance_parts import freedom_by_parts
from analysis.statistics.withheld import SHARE, ends

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
    right, judged = (
        coo_array((values, (person, judged_item)), (n_people, n)).tocsr()
        for values in (judgments["chose_good"].to_numpy(dtype=float), np.ones(len(judgments)))
    )
    member = coo_array((np.ones(len(item)), (item, column)), (n, len(groups))).tocsr()
    unit, n_units = codes(judgments[unit_column(judgments)])
    first = np.unique(judged_item, return_index=True)[1]
    in_unit = coo_array((np.ones(n), (unit[first], np.arange(n))), (n_units, n)).tocsr()
    accuracy, n_judged, told, (people, units) = _clustered(right, judged, member, in_unit)
    known = judgments["participant"].notna().any()
    clusters = np.minimum(people, units) if known else units
    n_right = np.rint(accuracy * n_judged)
    intervals = map(interval, *told, n_right.astype(int), n_judged.astype(int), clusters)
    found = pd.DataFrame(list(intervals))
    low, high = ends(found["low"], found["high"], n_judged, SHARE)
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


def _clustered(
    right: csr_array, judged: csr_array, member: csr_array, in_unit: csr_array
) -> tuple[Floats, Floats, tuple[Floats, Floats], tuple[Codes, Codes]]:
    """Return each group's accuracy, judgments, interval ends, participants and units."""
    n_right, n = (np.asarray(counts.sum(axis=0)) @ member for counts in (right, judged))
    accuracy = n_right / n
    of_people, n_people = _squares(right @ member, judged @ member, accuracy)
    right_of_unit, judged_of_unit = (
        csr_array(in_unit @ member.multiply(np.asarray(counts.sum(axis=0))[:, None]))
        for counts in (right, judged)
    )
    of_units, n_units = _squares(right_of_unit, judged_of_unit, accuracy)
    of_judgments = n * accuracy * (1 - accuracy)
    squares = ((of_people, n_people), (of_units, n_units), (of_judgments, n))
    parts = [corrected(total / n**2, size) for total, size in squares]
    freedoms = (n_people - 1, n_units - 1, n - 1)
    variances = Variances(combined(*parts), freedom_by_parts(parts, freedoms))
    clusters = n_people.astype(np.intp), n_units.astype(np.intp)
    return accuracy, n, share_ends(accuracy, variances, parts, freedoms), clusters


def _squares(right: csr_array, judged: csr_array, accuracy: Floats) -> tuple[Floats, Floats]:
    """Return each group's sum of clusters' ``(right - accuracy judged)^2``, and the clusters."""
    apart = right - judged.multiply(accuracy[None, :])
    squares = np.asarray(apart.multiply(apart).sum(axis=0)).ravel()
    return squares, np.asarray((judged > 0).sum(axis=0), dtype=float).ravel()
