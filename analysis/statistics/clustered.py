"""Intervals for judgments that cluster by participant and by frame, without resampling.

The variance is the two-way clustered one of Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2011).
Robust inference with multiway clustering. Journal of Business & Economic Statistics, 29(2),
238-249: the contribution of participants, plus that of frames, minus that of a participant's
judgments of one frame, which the first two both include. If frames are unknown, each item is its
own frame. The method applies to any statistic with known influences (the change caused by each
judgment). The interval of an accuracy is Wilson's with as many judgments as would give that
variance if they were independent, and Student's t in place of the normal quantile, with degrees of
freedom by what each part adds; with fewer than ten participants or items, it is wider if accuracies
are skewed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from analysis.statistics.drawn_frames import Drawn, frame_variance
from analysis.statistics.resample import LEVEL, Codes, Floats, combined_codes
from analysis.statistics.variance_parts import crossed_variance, freedom_by_parts
from analysis.statistics.withheld import UNITS

# With fewer participants or items, their variation cannot be estimated.
FEWEST_CLUSTERS = 10
# The degrees of freedom of an agreement's variance, from benchmarks/coverage.py.
_ITEMS_PER_FREEDOM, _FEWEST_FREEDOM = 4, 5.0
# The extension of the long side with few clusters, from benchmarks/coverage_grid.py.
_LONG_SIDE_FACTOR = 2.0
# A smaller share of the variance of independent judgments is rounding error.
_ROUNDING_ERROR = 1e-12
# Nearer to 1, log F is unbounded.
_MOST_AGREEMENT = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Clustered:
    """Accuracies of groups with two-way clustered intervals.

    With fewer than ten participants or items, the ends use another variance (``interval_ends``).

    Attributes:
        accuracy: Shape ``(groups,)``: the share of right judgments.
        standard_error: Shape ``(groups,)``; 0 if all judgments agree.
        n_effective: Shape ``(groups,)``: the number of independent judgments with the same
            information.
        low: Shape ``(groups,)``; NaN if all judgments agree or there is only one cluster.
        high: Shape ``(groups,)``, the same.
    """

    accuracy: Floats
    standard_error: Floats
    n_effective: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Variances:
    """Two-way clustered variances of groups.

    Attributes:
        total: Shape ``(groups,)``.
        freedom: Shape ``(groups,)``: degrees of freedom, at least the smaller number of clusters
            minus one.
    """

    total: Floats
    freedom: Floats


def two_way_variance(
    influence: Floats,
    participant: Codes,
    item: Codes,
    group: Codes,
    *,
    least: Callable[[Floats, Floats], Floats] = np.maximum,
    drawn: Drawn | None = None,
) -> Variances:
    """Return the variance of each group's statistic from the contribution of each judgment.

    With the influences' sums ``e_p`` over each participant's, ``e_i`` over each unit's and
    ``e_c`` over a participant's judgments of one unit, the parts are ``V_P = P/(P-1) sum e_p^2``,
    ``V_I = I/(I-1) sum e_i^2`` and ``V_C = C/(C-1) sum e_c^2``; it is ``V_P + V_I - V_C``, never
    less than ``V_P`` or ``V_I``, since the difference is itself an estimate and can be too low. If
    the clusters are not informative (all equal, although judgments differ), the variance is that of
    independent judgments.

    Args:
        influence: Shape ``(n,)``: the contribution of each judgment; sums to about 0 in a group.
        participant: Shape ``(n,)``: the participant, numbered from 0.
        item: Shape ``(n,)``: the judged item (its frame, if several items share one), from 0.
        group: Shape ``(n,)``: the group (statistic) of each judgment, from 0 without gaps.
        least: Below which of ``V_P`` and ``V_I`` the variance is not to fall: the greater; of
            statistics that neither participants nor items are expected to differ in, the lesser.
        drawn: How the frames were drawn, if not alike.
    """
    parts, freedoms = _variances_by_part(influence, participant, item, group, drawn)
    return _total_variances(influence, group, parts, freedoms, least)


def _variances_by_part(
    influence: Floats, participant: Codes, item: Codes, group: Codes, drawn: Drawn | None = None
) -> tuple[list[Floats], list[Floats]]:
    """Return the variances by participants, items and cells, and the degrees of freedom of each."""
    cell = participant * (item.max() + 1) + item
    squares = [_squared_cluster_sums(influence, way, group) for way in (participant, item, cell)]
    parts, freedoms = [correct_for_clusters(*sums) for sums in squares], [n - 1 for _, n in squares]
    if drawn is not None:
        parts[1], freedoms[1] = frame_variance(influence, participant, item, group, drawn)
    return parts, freedoms


def _total_variances(
    influence: Floats,
    group: Codes,
    parts: Sequence[Floats],
    freedoms: Sequence[Floats],
    least: Callable[[Floats, Floats], Floats] = np.maximum,
) -> Variances:
    of_people, of_items, of_cells = parts
    total = combine_variances(of_people, of_items, of_cells, least=least)
    freedom = freedom_by_parts(parts, freedoms)
    if least is not np.maximum:
        # A variance that may fall so low is given no more freedom than the fewer clusters.
        people, items, _ = freedoms
        several = np.where(people > 0, np.minimum(people, items), items)
        freedom = np.where(items > 0, several, people)
    alone = correct_for_clusters(
        np.bincount(group, influence**2).astype(float), np.bincount(group).astype(float)
    )
    return Variances(np.where(total > _ROUNDING_ERROR * alone, total, alone), freedom)


def several_way_variance(influence: Floats, clusters: Sequence[Codes]) -> tuple[float, float]:
    """Return the variance of a statistic clustered in two or more ways, and its degrees of freedom.

    Over every set of ways the sums over clusters of their intersection are squared; sets of an odd
    number are added, the others taken away (Cameron, Gelbach & Miller, 2011, equation 2.13). It is
    never less than that of one way alone; where it would be nothing, it is that of independent
    judgments.

    Args:
        influence: Shape ``(n,)``: the contribution of each judgment; sums to about 0.
        clusters: Each way's clusters, of shape ``(n,)``, numbered from 0.

    Returns:
        The variance; the smallest number of clusters minus one (ways with one cluster are ignored).
    """
    group = np.zeros(len(influence), np.intp)
    total, single, numbers = 0.0, [], []
    for size in range(1, len(clusters) + 1):
        for chosen in combinations(clusters, size):
            squares, n = _squared_cluster_sums(influence, combined_codes(chosen), group)
            part = float(correct_for_clusters(squares, n)[0])
            total += part if size % 2 else -part
            if size == 1:
                single.append(part)
                numbers.append(float(n[0]))
    total = max(total, *single)
    alone = float(
        correct_for_clusters(np.array([np.sum(influence**2)]), np.array([float(len(group))]))[0]
    )
    several = [number for number in numbers if number > 1]
    return (total if total > _ROUNDING_ERROR * alone else alone), min(several, default=1.0) - 1


def combine_variances(
    of_people: Floats,
    of_items: Floats,
    of_judgments: Floats,
    *,
    least: Callable[[Floats, Floats], Floats] = np.maximum,
) -> Floats:
    """Return ``V_P + V_I - V_C``, never less than either of the first two, or than ``least``."""
    total: Floats = np.maximum(of_people + of_items - of_judgments, least(of_people, of_items))
    return total


def correct_for_clusters(squares: Floats, n: Floats) -> Floats:
    """Return sums of squares times ``n / (n - 1)``; 0 with a single cluster."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Floats = np.where(n > 1, squares * n / (n - 1), 0.0)
    return scaled


def jackknife_variance(
    of_people: Floats, of_items: Floats, of_judgments: Floats
) -> tuple[float, float]:
    """Return a statistic's two-way clustered variance by the jackknife.

    Each of the three variances is ``(m - 1) / m`` times the sum of squares of the ``m`` changes,
    about their mean. Efron, B. & Stein, C. (1981). The jackknife estimate of variance. Annals of
    Statistics, 9(3), 586-596.

    Args:
        of_people: Shape ``(participants,)``: the change of the statistic without each participant.
        of_items: Shape ``(items,)``, the same.
        of_judgments: Shape ``(cells,)``, the same without one participant's judgments of an item.

    Returns:
        The variance, and its degrees of freedom: the smaller number of clusters minus one.
    """
    parts = [
        (len(changes) - 1) / len(changes) * np.sum((changes - changes.mean()) ** 2)
        for changes in (of_people, of_items, of_judgments)
    ]
    variance = combine_variances(*map(np.asarray, parts))
    cluster_counts = [len(changes) for changes in (of_people, of_items) if len(changes) > 1]
    return float(variance), min(cluster_counts, default=1) - 1


def freedom_of_agreement(freedom: float, rarer: Floats) -> float:
    """Return the degrees of freedom of the jackknife variance of an agreement.

    An agreement depends on the items on which choices differ, and its variance on the few items
    with many errors: it has fewer degrees of freedom than there are items. They are a quarter of
    the effective number of items (Kish, L. (1965). Survey sampling. Wiley), at least five. The
    quarter has no theoretical basis: it gives correct coverage in simulations.

    Args:
        freedom: The smaller number of clusters minus one, from ``jackknife_variance``; the upper
            limit.
        rarer: Shape ``(items,)``: the number of times that an item's rarer choice was made.
    """
    squares = float(np.sum(rarer**2))
    effective = float(rarer.sum()) ** 2 / squares if squares else 0.0
    return min(freedom, max(effective / _ITEMS_PER_FREEDOM, _FEWEST_FREEDOM))


def log_f(agreement: Floats, per_item: float) -> Floats:
    """Return the logarithm of the F ratio that corresponds to an agreement.

    Agreement beyond chance (alpha, kappa) is a ratio of variances: its error depends on its value,
    while the error of log F hardly does. McGraw, K. O. & Wong, S. P. (1996). Forming inferences
    about some intraclass correlation coefficients. Psychological Methods, 1(1), 30-46.

    Args:
        agreement: Any shape, each at most 1.
        per_item: The number of judgments of an item.
    """
    ratio = 1 + per_item * agreement / (1 - np.minimum(agreement, _MOST_AGREEMENT))
    log_ratio: Floats = np.log(np.maximum(ratio, 1 - _MOST_AGREEMENT))
    return log_ratio


def agreement_of(log_ratio: Floats, per_item: float) -> Floats:
    """Return the agreement that corresponds to a log F ratio; the inverse of ``log_f``."""
    ratio = np.exp(log_ratio)
    agreement: Floats = (ratio - 1) / (per_item - 1 + ratio)
    return agreement


def student_quantile(freedom: Floats, level: float = LEVEL) -> Floats:
    """Return Student's two-sided quantile; NaN without degrees of freedom."""
    quantiles: Floats = student.ppf((1 + level) / 2, freedom)
    return quantiles


def student_interval(
    estimate: float, variance: float, freedom: float, level: float = LEVEL
) -> dict[str, float]:
    """Return an estimate's interval and two-sided p (of zero), by Student's t: low, high, p.

    Without degrees of freedom all are NaN; p is NaN without variance, too.
    """
    error = float(np.sqrt(variance))
    half = float(student_quantile(np.asarray(freedom), level)) * error
    p = float("nan")
    if freedom > 0 and error > 0:
        p = 2 * float(student.sf(abs(estimate) / error, freedom))
    return {"low": estimate - half, "high": estimate + half, "p": p}


def clustered_intervals(
    correct: Floats,
    participant: Codes,
    item: Codes,
    group: Codes,
    weight: Floats | None = None,
    drawn: Drawn | None = None,
) -> Clustered:
    """Return each group's accuracy and its 95% interval.

    The influence of a judgment is its share of the weights times ``correct - accuracy``.

    Args:
        correct: Shape ``(n,)``: 1 for a right judgment, 0 for a wrong one.
        participant: Shape ``(n,)``: the participant, numbered from 0.
        item: Shape ``(n,)``: the judged item, or its frame, numbered from 0.
        group: Shape ``(n,)``: the group of each judgment, from 0 without gaps.
        weight: Shape ``(n,)``: the weight of each judgment; equal by default.
        drawn: How the frames were drawn, if not alike; ``item`` is then the frame.
    """
    weight = np.ones(len(correct)) if weight is None else weight
    weight = weight if drawn is None else weight * drawn.weight
    total = np.bincount(group, weight).astype(float)
    accuracy = np.bincount(group, weight * correct) / total
    influence = weight / total[group] * (correct - accuracy[group])
    parts, freedoms = _variances_by_part(influence, participant, item, group, drawn)
    variances = _total_variances(influence, group, parts, freedoms)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_effective = accuracy * (1 - accuracy) / variances.total
    low, high = interval_ends(accuracy, variances, parts, freedoms)
    return Clustered(accuracy, np.sqrt(variances.total), n_effective, low, high)


def interval_ends(
    accuracy: Floats, variances: Variances, parts: Sequence[Floats], freedoms: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the ends of the 95% intervals of accuracies.

    The ends are Wilson's. With fewer than ten participants or items, the variance is
    ``crossed_variance``, and the end on the side away from the nearer of 0 and 1 is the logit's,
    since Wilson's interval misses mostly there: a few items that happen to be easy have too high an
    accuracy and too small a variance. This end is extended by ``2 s |1 - 2 p| / f``, with s the
    share of the variance that clusters add and f the fewer clusters' degrees of freedom; the factor
    2 gives correct coverage (benchmarks/coverage_grid.py).

    Args:
        accuracy: Shape ``(groups,)``.
        variances: Of each accuracy.
        parts: Their parts: by participants, by items, by single answers.
        freedoms: Degrees of freedom of each.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = accuracy * (1 - accuracy) / variances.total
    low, high = wilson(accuracy, n, student_quantile(variances.freedom))
    fewer = np.minimum(*freedoms[:2])
    has_few = (fewer > 0) & (fewer < FEWEST_CLUSTERS - 1)
    total, freedom = crossed_variance(parts, freedoms)
    # With so few clusters their parts are unreliable: use at least that of independent answers.
    total = np.where(fewer < UNITS - 1, np.maximum(total, parts[2]), total)
    has_few &= total > 0  # as it never is where all or none are right
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = accuracy * (1 - accuracy)
        z = student_quantile(freedom)
        near = wilson(accuracy, spread / total, z)
        added_share = np.maximum(1 - parts[2] / total, 0)
        further = z * (1 + _LONG_SIDE_FACTOR * added_share * np.abs(1 - 2 * accuracy) / fewer)
        half = further * np.sqrt(total) / spread
    is_high, at = accuracy > 0.5, logit(accuracy)
    return (
        np.where(has_few, np.where(is_high, expit(at - half), near[0]), low),
        np.where(has_few, np.where(is_high, near[1], expit(at + half)), high),
    )


def _squared_cluster_sums(influence: Floats, cluster: Codes, group: Codes) -> tuple[Floats, Floats]:
    """Return each group's sum of squared cluster sums, and its number of clusters."""
    pairs, place = np.unique(group * (cluster.max() + 1) + cluster, return_inverse=True)
    of_group = pairs // (cluster.max() + 1)
    squared = np.bincount(place, influence) ** 2
    n_clusters = np.bincount(of_group).astype(float)
    return np.bincount(of_group, squared).astype(float), n_clusters


def wilson(accuracy: Floats, n: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's interval for a share of ``n`` judgments; ``n`` may be fractional."""
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (accuracy + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    return centre - half, centre + half
