"""Means and variances over frames that were drawn with unequal probabilities.

Weighted by the inverse of its probability, each frame stands for those that were not drawn. An
accuracy, or another mean, is the ratio of two weighted sums: Hajek, J. (1971). Comment on Basu, in
Foundations of statistical inference. Its error comes from frames that were not drawn, so the
variance between frames counts by ``1 - probability``, within the strata whose numbers of drawn
frames are fixed: Hajek, J. (1964). Asymptotic theory of rejective sampling. Annals of Mathematical
Statistics, 35, 1491-1523. What single answers add to a frame's sum is noise, drawn or not, and
counts in full: Sarndal, C.-E., Swensson, B. & Wretman, J. (1992). Model assisted survey sampling.
Springer, chapter 4. Two frames of a pair are drawn together and count as one.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.data.inclusion import COLUMNS
from analysis.statistics.resample import Codes, Floats


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the frame of each judgment was drawn.

    Attributes:
        weight: Shape ``(n,)``: the inverse of the probability, relative to an equal one.
        probability: Shape ``(n,)``: the probability of being drawn.
        stratum: Shape ``(n,)``: the stratum, of which a fixed number of frames was drawn, from 0.
        pair: Shape ``(n,)``: the pair of frames that were drawn together, from 1; 0: the frame was
            drawn by itself.
    """

    weight: Floats
    probability: Floats
    stratum: Codes
    pair: Codes

    def units(self, frame: Codes) -> Codes:
        """Return what was drawn by itself for each judgment: its pair, or its frame."""
        numbers: Codes = np.where(self.pair > 0, frame.max() + self.pair, frame)
        return numbers


def find_drawn(rows: pd.DataFrame) -> Drawn | None:
    """Return how the frames of these judgments or decisions were drawn; None if they were alike."""
    if not set(COLUMNS) <= set(rows.columns):
        return None
    return Drawn(*(rows[name].to_numpy() for name in COLUMNS))


def find_weights(rows: pd.DataFrame) -> Floats:
    """Return the weight of each row's frame, of shape ``(n,)``: 1 if frames were drawn alike."""
    drawn = find_drawn(rows)
    return np.ones(len(rows)) if drawn is None else drawn.weight


def weighted_means(values: Floats, weight: Floats, group: Codes) -> Floats:
    """Return the weighted mean of each group.

    Args:
        values: Shape ``(n,)``.
        weight: Shape ``(n,)``.
        group: Shape ``(n,)``: the group of each value, from 0 without gaps.
    """
    means: Floats = np.bincount(group, weight * values) / np.bincount(group, weight)
    return means


def weighted_deviations(values: Floats, weight: Floats, group: Codes) -> Floats:
    """Return the standard deviation of single values in each group; NaN of a single value."""
    n = np.bincount(group).astype(float)
    squares = (values - weighted_means(values, weight, group)[group]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations: Floats = np.sqrt(weighted_means(squares, weight, group) * n / (n - 1))
    return deviations


def frame_products(
    first: Floats, second: Floats, frame: Codes, group: Codes, drawn: Drawn
) -> tuple[Floats, Floats]:
    """Return the covariance of two statistics of each group that the draw of frames causes.

    Args:
        first: Shape ``(n,)``: the contribution of each judgment to the first statistic.
        second: Shape ``(n,)``: to the second.
        frame: Shape ``(n,)``: the frame of each judgment, numbered from 0.
        group: Shape ``(n,)``: the group of each judgment, from 0 without gaps.
        drawn: How frames were drawn.

    Returns:
        The covariance; its degrees of freedom, by Satterthwaite over the strata, each with as many
        as its frames contribute.
    """
    unit = drawn.units(frame)
    _, at, place = np.unique(
        group * (unit.max() + 1) + unit, return_index=True, return_inverse=True
    )
    missing = 1 - drawn.probability[at]
    strata, stratum = np.unique(
        group[at] * (drawn.stratum.max() + 1) + drawn.stratum[at], return_inverse=True
    )
    n = np.bincount(stratum).astype(float)
    total_missing = np.bincount(stratum, missing)
    centred = []
    for influence in (first, second):
        sums = np.bincount(place, influence)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(
                (n > 1) & (total_missing > 0),
                np.bincount(stratum, missing * sums) / total_missing,
                0.0,
            )
        centred.append(sums - mean[stratum])
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = np.where(n > 1, n / (n - 1), 1.0)
    of_strata = correction * np.bincount(stratum, missing * centred[0] * centred[1])
    of_group, n_groups = strata // (drawn.stratum.max() + 1), int(group.max()) + 1
    total: Floats = np.bincount(of_group, of_strata, n_groups).astype(float)
    effective = _count_effective(missing * drawn.weight[at] ** 2, stratum)
    squares = np.bincount(of_group, of_strata**2 / np.maximum(effective - 1, 1), n_groups)
    n_frames = np.bincount(group[at], minlength=n_groups).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom: Floats = np.where(
            squares > 0, np.clip(total**2 / squares, 1, n_frames - 1), n_frames - 1
        )
    return total, freedom


def _count_effective(shares: Floats, stratum: Codes) -> Floats:
    """Return the number of frames of each stratum that would contribute as much if all were alike.

    Few frames with large weights contribute most of a variance, which is then less certain: Kish,
    L. (1965). Survey sampling. Wiley.

    Args:
        shares: Shape ``(frames,)``: what each frame contributes to the variance if frames' answers
            vary alike.
        stratum: Shape ``(frames,)``.
    """
    total, squares = np.bincount(stratum, shares), np.bincount(stratum, shares**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective: Floats = np.where(squares > 0, total**2 / squares, np.bincount(stratum))
    return effective


def frame_variance(
    influence: Floats, participant: Codes, frame: Codes, group: Codes, drawn: Drawn
) -> tuple[Floats, Floats]:
    """Return the variance of each group's statistic by frames, and its degrees of freedom.

    Answers of a single judge are not noise: a model gives the same answer again.

    Args:
        influence: Shape ``(n,)``: the contribution of each judgment; sums to about 0 in a group.
        participant: Shape ``(n,)``: the participant, numbered from 0.
        frame: Shape ``(n,)``: the frame of each judgment, numbered from 0.
        group: Shape ``(n,)``: the group of each judgment, from 0 without gaps.
        drawn: How frames were drawn.
    """
    total, freedom = frame_products(influence, influence, frame, group, drawn)
    people = np.unique(group * (participant.max() + 1) + participant) // (participant.max() + 1)
    noise = answer_noise(influence, participant, frame, group, drawn)
    return np.where(np.bincount(people) > 1, total + noise, total), freedom


def answer_noise(
    influence: Floats, participant: Codes, frame: Codes, group: Codes, drawn: Drawn
) -> Floats:
    """Return the part of single answers' variance that ``frame_products`` leaves out.

    Args:
        influence: As of ``frame_variance``, as are the others.
        participant: The participants.
        frame: The frames.
        group: The groups.
        drawn: How frames were drawn.
    """
    size = np.int64(frame.max() + 1)
    _, at, place = np.unique(
        (group * (participant.max() + 1) + participant) * size + frame,
        return_index=True,
        return_inverse=True,
    )
    answers = np.bincount(place, influence)
    noise: Floats = np.bincount(
        group[at], drawn.probability[at] * answers**2, int(group.max()) + 1
    ).astype(float)
    return noise
