"""The variances of ``analysis.statistics``, vectorised over data sets, for the coverage grid.

A participant has at most one answer per frame. A test compares these with ``analysis.statistics``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.clustered import Variances, combine_variances, correct_for_clusters
from analysis.statistics.resample import Floats
from analysis.statistics.variance_parts import RIDGE, crossed_variance, freedom_by_parts


@dataclass(frozen=True, slots=True)
class Answers:
    """Data sets of one cell of the grid; each array is of shape ``(data sets, people, frames)``.

    Attributes:
        value: A choice or a point.
        condition: From 0.
        there: Whether it was answered, in a condition that counts.
    """

    value: Floats
    condition: NDArray[np.intp]
    there: NDArray[np.bool_]

    def turned(self) -> "Answers":
        """The same with frames in the place of people."""
        order = (0, 2, 1)
        return Answers(
            self.value.transpose(order),
            self.condition.transpose(order),
            self.there.transpose(order),
        )


@dataclass(frozen=True, slots=True)
class Means:
    """Means of data sets, each of shape ``(data sets,)``.

    Attributes:
        mean: The means.
        variances: As ``clustered.two_way_variance`` has them.
        parts: By people, by frames, by answers.
        freedoms: Of each part.
    """

    mean: Floats
    variances: Variances
    parts: list[Floats]
    freedoms: tuple[Floats, ...]


def of_mean(answers: Answers) -> Means:
    """Return the means and their variances."""
    there = answers.there
    n = there.sum((1, 2)).astype(float)
    mean = (answers.value * there).sum((1, 2)) / n
    influence = np.where(there, (answers.value - mean[:, None, None]) / n[:, None, None], 0.0)
    people, frames = (there.any(axis).sum(1).astype(float) for axis in (2, 1))
    squares = [(influence.sum(axis) ** 2).sum(1) for axis in (2, 1)] + [(influence**2).sum((1, 2))]
    parts = [correct_for_clusters(*one) for one in zip(squares, (people, frames, n), strict=True)]
    freedoms = people - 1, frames - 1, n - 1
    variances = Variances(combine_variances(*parts), freedom_by_parts(parts, freedoms))
    return Means(mean, variances, parts, freedoms)


def of_contrast(answers: Answers, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return weighted sums of conditions' means, and of each what ``levels_off`` says.

    NaN where a condition has no answer.
    """
    if answers.there.shape[1] < answers.there.shape[2]:
        return of_contrast(answers.turned(), weights)
    there, conditions = answers.there.astype(float), np.flatnonzero(weights)
    if (there == there[:1]).all():
        # Where nobody stopped, what hangs on places alone is the same in all data sets.
        there = there[:1]
    cells = [there * (answers.condition[: len(there)] == one) for one in conditions]
    n = np.stack([one.sum((1, 2)) for one in cells], -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(n > 0, weights[conditions] / n, 0.0)
        total = sum(
            ratio * (answers.value * one).sum((1, 2))
            for ratio, one in zip(each.T, cells, strict=True)
        )
    weight = sum(ratio[:, None, None] * one for ratio, one in zip(each.T, cells, strict=True))
    return (np.where((n > 0).all(-1), total, np.nan), *_variance(answers, there, weight, cells))


def _variance(
    answers: Answers, there: Floats, weight: Floats, cells: list[Floats]
) -> tuple[Floats, Floats]:
    n, n_first, n_second = there.sum((1, 2)), there.sum(2), there.sum(1)
    per_first = np.where(n_first > 0, 1 / np.maximum(n_first, 1), 0.0)

    both, k = _within(there, cells), there.shape[2]
    gram = np.zeros((len(n), both.shape[2], both.shape[2]))
    gram[:, range(k), range(k)] = n_second
    for number, one in enumerate(cells, start=k):
        gram[:, number, :k] = gram[:, :k, number] = one.sum(1)
        gram[:, number, number] = one.sum((1, 2))
    gram -= (both * per_first[..., None]).transpose(0, 2, 1) @ both
    ridge = (RIDGE * n / both.shape[2])[:, None, None] * np.eye(both.shape[2])
    solved = np.linalg.inv(gram + ridge)
    value = answers.value * there
    taken = np.where(there > 0, value - (value.sum(2) * per_first)[..., None], 0.0)
    found = (solved @ _within(taken, cells).sum(1)[..., None])[..., 0]
    fitted = found[:, None, :k] + sum(
        found[:, number, None, None] * one for number, one in enumerate(cells, start=k)
    )
    rest = (value - fitted) * there
    levels = rest.sum(2) * per_first
    residual = (rest - levels[..., None]) * there
    n_constants = (n_first > 0).sum(1) + np.round((solved * gram.transpose(0, 2, 1)).sum((1, 2)))
    left = _left(weight, per_first, both, solved, cells)
    influence = weight * residual
    squares = [(influence.sum(axis) ** 2).sum(1) for axis in (2, 1)]
    freedoms = [
        (one > 0).sum(1) * share for one, share in zip((n_first, n_second), left, strict=True)
    ]
    free = np.maximum(n - n_constants, 1.0)
    alone = (influence**2).sum((1, 2)) * n / free
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = [square / share for square, share in zip(squares, left, strict=True)]
        total, freedom = crossed_variance((*spread, alone), (*freedoms, free))
    noise = (residual**2).sum((1, 2)) / free
    for own, counts, sums in (
        (levels, n_first, weight.sum(2)), (found[:, :k], n_second, weight.sum(1)),
    ):  # fmt: skip
        total = total + _moved(own, counts, noise) * (sums**2).sum(1)
    few = np.minimum(*freedoms) < 0.5
    return np.where(few, np.nan, total), np.where(few, 0.0, freedom)


def _within(values: Floats, cells: list[Floats]) -> Floats:
    """Return for each cluster of the first way its values, and their sums in each condition."""
    sums = np.stack([(values * one).sum(2) for one in cells], -1)
    return np.concatenate([values, sums], -1)


def _left(
    weight: Floats, per_first: Floats, both: Floats, solved: Floats, cells: list[Floats]
) -> list[Floats]:
    """Return what least squares leaves of the sum of squares by the first way and by the second."""
    of_all, k = (weight**2).sum((1, 2)), weight.shape[2]
    sums = weight.sum(2)
    through = _within(weight, cells) - both * (sums * per_first)[..., None]
    first = (sums**2 * per_first).sum(1) + ((through @ solved) * through).sum((1, 2))
    through = -(weight * per_first[..., None]).transpose(0, 2, 1) @ both
    through[:, range(k), range(k)] += weight.sum(1)
    through[:, :, k:] += np.stack([(weight * one).sum(1) for one in cells], -1)
    second = (weight**2 * per_first[..., None]).sum((1, 2)) + ((through @ solved) * through).sum(
        (1, 2)
    )
    return [np.maximum(1 - one / of_all, 0.0) for one in (first, second)]


def _moved(levels: Floats, n: Floats, noise: Floats) -> Floats:
    """Return how levels vary, less what their estimates vary by noise."""
    there, count = n > 0, (n > 0).sum(1)
    mean = (levels * there).sum(1) / count
    spread = ((levels - mean[:, None]) ** 2 * there).sum(1) / (count - 1)
    inverse = np.where(there, 1 / np.maximum(n, 1), 0.0).sum(1) / count
    found: Floats = np.maximum(spread - noise * inverse, 0.0)
    return found
