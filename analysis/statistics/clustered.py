"""Intervals for judgments that cluster by participant and by item, without resampling.

The variance is the two-way clustered one of Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2011).
Robust inference with multiway clustering. Journal of Business & Economic Statistics, 29(2),
238-249: what participants contribute, plus what items contribute, minus what single judgments do,
which both hold. The interval is Wilson's with as many judgments as would give that variance if
they were independent, and Student's t for the fewer clusters in place of the normal quantile.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.statistics.resample import LEVEL, Floats

Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Clustered:
    """Accuracies of groups with two-way clustered intervals.

    Attributes:
        accuracy: Shape ``(groups,)``: the share of right judgments.
        standard_error: Shape ``(groups,)``; 0 where all judgments agree.
        n_effective: Shape ``(groups,)``: independent judgments that would tell as much.
        low: Shape ``(groups,)``; NaN where all judgments agree or there is one cluster alone.
        high: Shape ``(groups,)``, the same.
    """

    accuracy: Floats
    standard_error: Floats
    n_effective: Floats
    low: Floats
    high: Floats


def clustered_intervals(
    correct: Floats, participant: Codes, item: Codes, group: Codes
) -> Clustered:
    """Return each group's accuracy and its 95% interval.

    With deviations ``e = (correct - accuracy) / n``, their sums ``e_p`` over each participant's and
    ``e_i`` over each item's judgments, the variance is ``V_P + V_I - V_J`` where
    ``V_P = P/(P-1) sum e_p^2``, ``V_I = I/(I-1) sum e_i^2``, ``V_J = n/(n-1) sum e^2``; never less
    than ``V_P`` or ``V_I``, for the difference is itself an estimate and can fall too low.

    Args:
        correct: Shape ``(n,)``: 1 for a right judgment, 0 for a wrong one.
        participant: Shape ``(n,)``: who judged, numbered from 0.
        item: Shape ``(n,)``: what was judged, numbered from 0.
        group: Shape ``(n,)``: which accuracy a judgment counts towards, from 0 without gaps.
    """
    n = np.bincount(group).astype(float)
    accuracy = np.bincount(group, correct) / n
    deviation = (correct - accuracy[group]) / n[group]
    by_person, n_people = _within(deviation, participant, group)
    by_item, n_items = _within(deviation, item, group)
    by_judgment = np.bincount(group, deviation**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_people, of_items, of_judgments = (
            np.where(size > 1, total * size / (size - 1), 0.0)
            for total, size in ((by_person, n_people), (by_item, n_items), (by_judgment, n))
        )
        variance = np.maximum(of_people + of_items - of_judgments, np.maximum(of_people, of_items))
        n_effective = accuracy * (1 - accuracy) / variance
    clusters = np.where(
        n_people > 1, np.where(n_items > 1, np.minimum(n_people, n_items), n_people), n_items
    )
    low, high = _wilson(accuracy, n_effective, clusters)
    return Clustered(accuracy, np.sqrt(variance), n_effective, low, high)


def _within(deviation: Floats, cluster: Codes, group: Codes) -> tuple[Floats, Floats]:
    """Return each group's sum over clusters of their squared sums, and its number of clusters."""
    pairs, place = np.unique(group * (cluster.max() + 1) + cluster, return_inverse=True)
    of_group = pairs // (cluster.max() + 1)
    squared = np.bincount(place, deviation) ** 2
    n_clusters = np.bincount(of_group).astype(float)
    return np.bincount(of_group, squared).astype(float), n_clusters


def _wilson(accuracy: Floats, n: Floats, clusters: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = student.ppf((1 + LEVEL) / 2, clusters - 1)
        centre = (accuracy + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    return centre - half, centre + half
