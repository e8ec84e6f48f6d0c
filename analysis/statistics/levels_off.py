"""The variance of a weighted sum of cells' means, without the levels that cancel in it.

Where every participant answers in every cell, participants' levels cancel in a difference of cells;
so do frames' where every frame stands in every cell. Yet summed by the other way they look like
variance, and intervals become much too wide. Here levels that cancel are taken off first, by least
squares with a constant for each participant and each frame; what they still move, because somebody
stopped early, comes back as a variance of its own. The sums of squares by participant, by frame and
by answer then tell how the *effect* differs, and each is divided by what least squares left of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from analysis.statistics.clustered import Codes
from analysis.statistics.resample import Floats
from analysis.statistics.variance_parts import crossed

# A way cancels where its clusters hold less than this share of the weights without an opposite.
_CANCELS = 0.5
# Keeps the equations solvable where some constants follow from others.
RIDGE = 1e-7


@dataclass(frozen=True, slots=True)
class _Fit:
    """Least squares with constants for cells and for the clusters of the ways that cancel.

    Attributes:
        residual: Shape ``(n,)``.
        n_constants: How many constants the answers determined.
        left: What was left of each way's sum of squares, as a share.
        moved: The variance from levels that do not cancel quite.
        stays: Of each way whether its levels stay.
    """

    residual: Floats
    n_constants: float
    left: tuple[float, ...]
    moved: float
    stays: tuple[bool, ...]


def contrast_variance(
    values: Floats, weight: Floats, cell: Codes, ways: Sequence[Codes]
) -> tuple[float, float]:
    """Return the variance of ``sum(weight * values)``, and its degrees of freedom.

    Args:
        values: Shape ``(n,)``: the answers.
        weight: Shape ``(n,)``: what each counts; all alike within a cell.
        cell: Shape ``(n,)``: each answer's cell, from 0 without gaps.
        ways: Participants and frames, each of shape ``(n,)``, from 0 without gaps.
    """
    several = [way for way in ways if way.max() > 0]
    if not several:
        return float("nan"), 0.0
    fit = _fitted(values, weight, cell, several)
    influence = weight * fit.residual
    squares = [float(np.sum(np.bincount(way, influence) ** 2)) for way in several]
    n = [float(left * (way.max() + 1)) for way, left in zip(several, fit.left, strict=True)]
    if min(n) < 0.5:
        return float("nan"), 0.0
    spread = [one / left for one, left in zip(squares, fit.left, strict=True)]
    if len(several) == 1:
        return spread[0] + fit.moved, n[0]
    answers = np.unique(np.stack(several), axis=1, return_inverse=True)[1].ravel()
    rest = max(answers.max() + 1 - fit.n_constants, 1.0)
    alone = float(np.sum(np.bincount(answers, influence) ** 2)) * (answers.max() + 1) / rest
    total, freedom = crossed(
        [np.array([one]) for one in (*spread, alone)],
        [np.array([one]) for one in (*n, rest)],
        fit.stays,
    )
    return float(total[0]) + fit.moved, float(freedom[0])


def _fitted(values: Floats, weight: Floats, cell: Codes, ways: Sequence[Codes]) -> _Fit:
    loose = [np.abs(np.bincount(way, weight)).sum() for way in ways]
    stays = tuple(bool(one >= _CANCELS * np.abs(weight).sum()) for one in loose)
    off = sorted(
        (way for way, one in zip(ways, stays, strict=True) if not one), key=lambda way: -way.max()
    )
    constants = sparse.hstack([_indicators(way) for way in (*off[1:], cell)]).tocsr()
    first = _indicators(off[0]) if off else sparse.csr_array((len(values), 0))
    n_first = np.asarray(first.sum(0)).ravel()
    both = (first.T @ constants).toarray()
    gram = (constants.T @ constants).toarray() - both.T @ (both / n_first[:, None])
    solved = np.linalg.inv(gram + np.eye(len(gram)) * RIDGE * len(values) / len(gram))
    taken = values - first @ (first.T @ values / n_first)
    found = solved @ (constants.T @ taken)
    rest = values - constants @ found
    levels = first.T @ rest / n_first
    residual = rest - first @ levels
    n_constants = len(n_first) + round(float(np.sum(solved * gram)))
    left = []
    for way in ways:
        own = _indicators(way).multiply(weight[:, None]).tocsr()
        by_first = (first.T @ own).toarray()
        through = (constants.T @ own).toarray() - both.T @ (by_first / n_first[:, None])
        lost = np.sum(by_first**2 / n_first[:, None]) + np.sum(through * (solved @ through))
        left.append(max(1 - float(lost / np.sum(weight**2)), 0.0))
    noise = float(np.sum(residual**2)) / max(len(values) - n_constants, 1)
    moved = 0.0
    for way, own in zip(off, (levels, found), strict=False):
        n = np.bincount(way).astype(float)
        spread = max(float(np.var(own[: len(n)], ddof=1) - noise * np.mean(1 / n)), 0.0)
        moved += spread * float(np.sum(np.bincount(way, weight) ** 2))
    return _Fit(residual, n_constants, tuple(left), moved, stays)


def _indicators(codes: Codes) -> sparse.csr_array:
    n = len(codes)
    return sparse.csr_array((np.ones(n), (np.arange(n), codes)), (n, int(codes.max()) + 1))
