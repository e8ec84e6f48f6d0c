"""The variance of a weighted sum of cell means, without levels that cancel.

If every participant answers in every cell, participants' levels cancel in a difference of cells; so
do frames' levels if every frame occurs in every cell. In sums by the other way of clustering, they
still look like variance, and intervals become much too wide. Here levels that cancel are removed
first, by least squares with a constant for each participant and each frame; their remaining
influence, due to missing answers, is added back as a separate variance. The sums of squares by
participant, by frame and by answer then measure the variation of the *effect*, and each is divided
by the share that least squares left of it.

The variance from these sums of squares is that of single answers, plus the contributions of
participants and frames, if positive. Until November 2026, Parallax used participants' and frames'
sums as the lower limit: the variance was too large if one of them contributed nothing, and the
smaller number of clusters as degrees of freedom made intervals even wider if the other way caused
the variance (benchmarks/coverage_grid.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from analysis.statistics.drawn_frames import Drawn, answer_noise, frame_products
from analysis.statistics.resample import Codes, Floats, combined_codes

# A way cancels if its clusters have less than this share of unbalanced weights.
_CANCELLING_SHARE = 0.5
# Keeps the equations solvable if constants are linearly dependent.
RIDGE = 1e-7
# Participants or frames by constants, and never by each other, are in memory as full matrices.
_UNITS_AT_ONCE = 1_000
# How far ``crossed_variance`` may fall below the larger of its two variances, from the coverage
# grid.
_MOST_SHORTFALL = 3.5


@dataclass(frozen=True, slots=True)
class _Fit:
    """A least-squares fit with constants for cells and for the clusters of ways that cancel.

    Attributes:
        residual: Shape ``(n,)``.
        n_constants: The number of estimable constants.
        left: The remaining share of each way's sum of squares.
        moved: The variance from levels that do not cancel completely.
        stays: Whether the levels of each way remain.
    """

    residual: Floats
    n_constants: float
    left: tuple[float, ...]
    moved: float
    stays: tuple[bool, ...]


def contrast_variance(
    values: Floats,
    weight: Floats,
    cell: Codes,
    ways: Sequence[Codes],
    drawn: Drawn | None = None,
) -> tuple[float, float]:
    """Return the variance of ``sum(weight * values)``, and its degrees of freedom.

    Frames that were drawn with unequal probabilities count by them in the least squares too, and
    contribute the variance of such a draw (``drawn_frames``).

    Args:
        values: Shape ``(n,)``: the answers.
        weight: Shape ``(n,)``: the weight of each answer; equal within a cell, or proportional to
            the weights of ``drawn``.
        cell: Shape ``(n,)``: each answer's cell, from 0 without gaps.
        ways: Participants and frames, each of shape ``(n,)``, from 0 without gaps.
        drawn: How frames were drawn, if not alike.
    """
    several = [number for number, way in enumerate(ways) if way.max() > 0]
    if not several:
        return float("nan"), 0.0
    units = _list_units(ways, drawn)
    several_ways, several_units = ([of[number] for number in several] for of in (ways, units))
    counts = np.ones(len(values)) if drawn is None else drawn.weight
    fit = _fit_constants(values, weight, cell, several_ways, several_units, counts)
    influence = weight * fit.residual
    n = [
        share_left * float(unit.max() + 1)
        for unit, share_left in zip(several_units, fit.left, strict=True)
    ]
    if min(n) < 0.5:
        return float("nan"), 0.0
    spread = [
        float(np.sum(np.bincount(unit, influence) ** 2)) / share_left
        for unit, share_left in zip(several_units, fit.left, strict=True)
    ]
    if drawn is not None and several[-1] == 1:
        spread[-1], n[-1] = _drawn_variance(influence, ways[1], n[-1], drawn)
    if len(several) == 1:
        return spread[0] + fit.moved, n[0]
    answers = combined_codes(several_ways)
    answers_freedom = max(answers.max() + 1 - fit.n_constants, 1.0)
    missing = (answers.max() + 1) / answers_freedom
    alone = float(np.sum(np.bincount(answers, influence) ** 2)) * missing
    if drawn is not None:
        everything = np.zeros_like(answers)
        spread[-1] += missing * float(
            answer_noise(influence, ways[0], ways[1], everything, drawn)[0]
        )
    total, freedom = crossed_variance(
        [np.array([part]) for part in (*spread, alone)],
        [np.array([part]) for part in (*n, answers_freedom)],
        fit.stays,
    )
    return float(total[0]) + fit.moved, float(freedom[0])


def _list_units(ways: Sequence[Codes], drawn: Drawn | None) -> Sequence[Codes]:
    """Return participants and what was drawn by itself: frames, or pairs of them."""
    if drawn is None:
        return ways
    return [ways[0], np.unique(drawn.units(ways[1]), return_inverse=True)[1]]


def _drawn_variance(
    influence: Floats, frame: Codes, n_left: float, drawn: Drawn
) -> tuple[float, float]:
    """Return the variance that the draw of frames causes, and its degrees of freedom.

    Args:
        influence: Shape ``(n,)``: the contribution of each answer.
        frame: Shape ``(n,)``: its frame, from 0 without gaps.
        n_left: The number of frames (or pairs) times the share that least squares left of their sum
            of squares: without strata, the degrees of freedom.
        drawn: How frames were drawn.
    """
    variance, freedom = frame_products(influence, influence, frame, np.zeros_like(frame), drawn)
    # The products are corrected for means of strata, as if there were no other constants.
    further = n_left / (len(np.unique(drawn.units(frame))) - 1)
    return float(variance[0]) / further, float(freedom[0]) * further


def _fit_constants(
    values: Floats,
    weight: Floats,
    cell: Codes,
    ways: Sequence[Codes],
    units: Sequence[Codes],
    counts: Floats,
) -> _Fit:
    """Fit constants by least squares.

    Args:
        values: Shape ``(n,)``.
        weight: Shape ``(n,)``.
        cell: Shape ``(n,)``.
        ways: The ways of clustering, each of shape ``(n,)``.
        units: The same, for the shares of the sums of squares: frames in pairs count together.
        counts: Shape ``(n,)``: how much each answer counts in the sum of squares.
    """
    loose = [np.abs(np.bincount(way, weight)).sum() for way in ways]
    stays = tuple(bool(value >= _CANCELLING_SHARE * np.abs(weight).sum()) for value in loose)
    off = sorted(
        (way for way, value in zip(ways, stays, strict=True) if not value),
        key=lambda way: -way.max(),
    )
    root = np.sqrt(counts)
    scaled_values, scaled_weight = values * root, weight / root
    constants = sparse.hstack([_make_indicators(way, root) for way in (*off[1:], cell)]).tocsr()
    first_way = _make_indicators(off[0], root) if off else sparse.csr_array((len(values), 0))
    n_first = np.bincount(off[0], counts) if off else np.zeros(0)
    first_by_constants = (first_way.T @ constants).toarray()
    gram = (constants.T @ constants).toarray() - first_by_constants.T @ (
        first_by_constants / n_first[:, None]
    )
    solved = np.linalg.inv(gram + np.eye(len(gram)) * RIDGE * len(values) / len(gram))
    without_first = scaled_values - first_way @ (first_way.T @ scaled_values / n_first)
    estimates = solved @ (constants.T @ without_first)
    remainder = scaled_values - constants @ estimates
    levels = first_way.T @ remainder / n_first
    residual = (remainder - first_way @ levels) / root
    # There may be millions of answers, and the products below take the most memory.
    del root, scaled_values, without_first, remainder
    n_constants = len(n_first) + round(float(np.sum(solved * gram)))
    shares_left = []
    for unit in units:
        unit_values, lost = _make_indicators(unit, scaled_weight), 0.0
        by_first = (first_way.T @ unit_values).tocsc()
        by_constants = (constants.T @ unit_values).tocsc()
        for start in range(0, by_first.shape[1], _UNITS_AT_ONCE):
            some = slice(start, start + _UNITS_AT_ONCE)
            mean = sparse.diags_array(1 / n_first) @ by_first[:, some]
            through = by_constants[:, some].toarray() - (mean.T @ first_by_constants).T
            lost += (by_first[:, some] * mean).sum() + np.sum(through * (solved @ through))
        shares_left.append(max(1 - float(lost / np.sum(scaled_weight**2)), 0.0))
    noise = float(np.sum(residual**2)) / max(len(values) - n_constants, 1)
    largest_change = 0.0
    for way, way_values in zip(off, (levels, estimates), strict=False):
        n = np.bincount(way, counts) ** 2 / np.bincount(way, counts**2)
        spread = max(float(np.var(way_values[: len(n)], ddof=1) - noise * np.mean(1 / n)), 0.0)
        largest_change += spread * float(np.sum(np.bincount(way, weight) ** 2))
    return _Fit(residual, n_constants, tuple(shares_left), largest_change, stays)


def _make_indicators(codes: Codes, values: Floats) -> sparse.csr_array:
    """Return a matrix with each value in the column of its code, and 0 elsewhere."""
    n = len(codes)
    rows = np.arange(n + 1, dtype=np.int32)
    return sparse.csr_array((values, codes.astype(np.int32), rows), (n, int(codes.max()) + 1))


def freedom_by_parts(parts: Sequence[Floats], freedoms: Sequence[Floats]) -> Floats:
    """Return the degrees of freedom of the variance of answers plus the clusters' contributions.

    They are Satterthwaite's (1946), Biometrics Bulletin, 2(6), 110-114: each part has its own
    degrees of freedom, and the result is at least that of the smaller number of clusters.

    Args:
        parts: The variance by participants, by frames, and by single answers.
        freedoms: Degrees of freedom of each; 0 with one participant or one frame, which then adds
            nothing.
    """
    *clustered, alone = parts
    people, frames, answers_freedom = freedoms
    contributions = [
        np.where(part_freedom > 0, np.maximum(part - alone, 0.0), 0.0)
        for part, part_freedom in zip(clustered, (people, frames), strict=True)
    ]
    total: Floats = alone + contributions[0] + contributions[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = alone**2 / answers_freedom
        for part, part_freedom, extra in zip(
            clustered, (people, frames), contributions, strict=True
        ):
            terms = terms + np.where(extra > 0, part**2 / part_freedom, 0.0)
    return _compute_degrees_of_freedom(total, terms, freedoms)


def crossed_variance(
    parts: Sequence[Floats],
    freedoms: Sequence[Floats],
    whole: Sequence[bool] = (False, False),
) -> tuple[Floats, Floats]:
    """Return the variance, unbiased if possible, and its degrees of freedom.

    The variance is that of both ways minus their common part, ``V_P + V_I - V_C``: the method of
    moments for crossed effects (Searle, S. R., Casella, G. & McCulloch, C. E. (1992). Variance
    components. Wiley). This estimate can be too low, even below 0. So it is at least a share of the
    larger variance, ``1 - 3.5 / (f + 1)``, with ``f`` the degrees of freedom of the smaller number
    of clusters: the larger of two estimates is biased upwards, more so with fewer clusters. The
    value 3.5 has no theoretical basis: it gives correct coverage in simulations
    (benchmarks/coverage_grid.py). The degrees of freedom are Satterthwaite's, with every part
    counted in full.

    Args:
        parts: The variance by participants, by frames, and by single answers.
        freedoms: Degrees of freedom of each, those of both ways above 0.
        whole: For each way, whether its whole part is the lower limit: single answers then also
            contain its levels, which are not part of the other way.
    """
    people, frames, alone = parts
    share = np.maximum(1 - _MOST_SHORTFALL / (np.minimum(*freedoms[:2]) + 1), 0.0)
    least = [
        part * (1.0 if is_whole else share) for part, is_whole in zip(parts, whole, strict=False)
    ]
    total: Floats = np.maximum(people + frames - alone, np.maximum(*least))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    return total, _compute_degrees_of_freedom(total, np.asarray(terms), freedoms)


def _compute_degrees_of_freedom(total: Floats, terms: Floats, freedoms: Sequence[Floats]) -> Floats:
    """Return a variance's degrees of freedom, between those of the clusters and single answers."""
    people, frames, answers_freedom = freedoms
    fewest = np.where(people > 0, np.where(frames > 0, np.minimum(people, frames), people), frames)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.clip(total**2 / terms, fewest, np.maximum(answers_freedom, fewest))
    degrees: Floats = np.where(total > 0, freedom, fewest)
    return degrees
