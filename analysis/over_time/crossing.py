"""When a model's accuracy passes a level: times on the axis of tokens seen, with intervals.

The time is where a curve that only rises fits best: the checkpoint before which the accuracies lie
below the level, in sum, and after which they lie above it (the inverse of the isotonic regression),
with a straight line to the next checkpoint. So one accuracy that is high or low by chance moves it
little. What a model forgets again is not hidden by this: falls are named (``find_fall``), and the
time is then that after the last fall.

Intervals resample the items' units, all checkpoints and trainings together, because a model's
answers to an item at two checkpoints are not independent. Trainings with other seeds add their own
variation, with Student's t for their small number; the level, if it is people's accuracy, varies
with the same items and with the participants.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.resample import LEVEL, Codes, Floats

# Fewer checkpoints do not show where between them a curve passes a level.
FEWEST_CHECKPOINTS = 4
FEWEST_ITEMS = 10
_TAIL_SHARE = (1 - LEVEL) / 2


@dataclass(frozen=True, slots=True)
class AccuracyCurve:
    """One model's accuracy over time, with resampled curves.

    Attributes:
        log_tokens: Shape ``(checkpoints,)``: ascending logarithms of the tokens seen.
        accuracy: Shape ``(checkpoints,)``: over all trainings.
        drawn: Shape ``(draws, checkpoints)``: resampled accuracies.
        weights: Shape ``(draws, items)``: each item's share of each resample.
    """

    log_tokens: Floats
    accuracy: Floats
    drawn: Floats
    weights: Floats

    def interval(self) -> tuple[Floats, Floats]:
        """Return the ends of the accuracies' 95% intervals, each of shape ``(checkpoints,)``."""
        low, high = np.quantile(self.drawn, [_TAIL_SHARE, 1 - _TAIL_SHARE], axis=0)
        return low.clip(0, 1), high.clip(0, 1)


@dataclass(frozen=True, slots=True)
class Crossing:
    """The time at which a curve passes a level, as a logarithm of tokens.

    -inf is a time before the first checkpoint, inf one after the last: those are censored.
    """

    at: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall of a curve, from a checkpoint to a later one.

    Attributes:
        start: The number of the checkpoint before it.
        end: The number of the checkpoint after it.
        recovers: Whether the curve later regains at least half of what it lost: a U-shape.
    """

    start: int
    end: int
    recovers: bool


def resample_curves(
    correct: NDArray[np.bool_],
    unit: Codes,
    log_tokens: Floats,
    rng: np.random.Generator,
    resamples: int,
) -> AccuracyCurve:
    """Return a model's accuracy over time with resampled curves.

    Args:
        correct: Shape ``(trainings, items, checkpoints)``: whether each answer was right.
        unit: Shape ``(items,)``: the unit that each item is resampled with, from 0.
        log_tokens: Shape ``(checkpoints,)``.
        rng: The source of randomness.
        resamples: The number of resampled curves.
    """
    n_units, n_trainings = int(unit.max()) + 1, len(correct)
    # One unit fewer than there are makes the resamples' variance that of the mean.
    equal = np.full(n_units, 1 / n_units)
    counts = rng.multinomial(max(1, n_units - 1), equal, resamples)
    weights = counts[:, unit].astype(float)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
    by_training = correct.mean(axis=1)
    accuracy = by_training.mean(axis=0)
    drawn = weights @ correct.mean(axis=0)
    if n_trainings > 1:
        freedom = n_trainings - 1
        factors = rng.normal(size=(resamples, n_trainings))
        factors *= np.sqrt(freedom / rng.chisquare(freedom, (resamples, 1)))
        deviations = (by_training - accuracy) * np.sqrt(_share_of_trainings(correct))
        drawn += factors @ deviations / np.sqrt(n_trainings * freedom)
    return AccuracyCurve(log_tokens, accuracy, drawn, weights)


def _share_of_trainings(correct: NDArray[np.bool_]) -> Floats:
    """Return the share of the variance between trainings' accuracies that answers do not explain.

    It is 1 - (mean square of the residuals) / (mean square of trainings), at least 0, by the
    two-way analysis of variance of each checkpoint; the variation of answers is in the resamples of
    the items.

    Returns:
        Shape ``(checkpoints,)``.
    """
    n_items = correct.shape[1]
    of_trainings = correct.mean(axis=1, keepdims=True)
    of_items = correct.mean(axis=0, keepdims=True)
    mean = correct.mean(axis=(0, 1))
    between = n_items * ((of_trainings[:, 0] - mean) ** 2).sum(axis=0)
    residual = ((correct - of_trainings - of_items + mean) ** 2).sum(axis=(0, 1))
    share = 1 - np.divide(
        residual, (n_items - 1) * between, out=np.ones_like(between), where=between > 0
    )
    return np.asarray(share.clip(0, 1), np.float64)


def find_crossing(
    curves: AccuracyCurve, level: float, levels: Floats, fall: Fall | None = None
) -> Crossing:
    """Return when the curve passes a level for good, with a 95% interval.

    Args:
        curves: The curve.
        level: The level.
        levels: Shape ``(draws,)``: the level in each resample.
        fall: The curve's fall; if the curve recovers from one to below the level, the time is after
            it.
    """
    below = fall is not None and fall.recovers and curves.accuracy[fall.end] < level
    part = slice(fall.end if fall is not None and below else 0, None)
    log_tokens = curves.log_tokens[part]
    [at] = crossing_times(curves.accuracy[None, part], np.array([level]), log_tokens)
    drawn = np.sort(crossing_times(curves.drawn[:, part], levels, log_tokens))
    # Order statistics, because nothing lies between a time and never.
    last = len(drawn) - 1
    low, high = drawn[round(_TAIL_SHARE * last)], drawn[round((1 - _TAIL_SHARE) * last)]
    return Crossing(float(at), float(low), float(high))


def crossing_times(curves: Floats, levels: Floats, log_tokens: Floats) -> Floats:
    """Return when each curve passes its level.

    Args:
        curves: Shape ``(curves, checkpoints)``.
        levels: Shape ``(curves,)``.
        log_tokens: Shape ``(checkpoints,)``.
    """
    sums = np.cumsum(curves - levels[:, None], axis=1)
    before = np.concatenate([np.zeros((len(curves), 1)), sums], axis=1).argmin(axis=1)
    times = np.where(before == 0, -np.inf, np.inf)
    inside = np.flatnonzero((before > 0) & (before < curves.shape[1]))
    last, following = before[inside] - 1, before[inside]
    below, above = curves[inside, last], curves[inside, following]
    rise = above - below
    share = np.divide(levels[inside] - below, rise, out=np.full(len(inside), 0.5), where=rise > 0)
    step = log_tokens[following] - log_tokens[last]
    times[inside] = log_tokens[last] + share.clip(0, 1) * step
    return times


def find_fall(curves: AccuracyCurve) -> Fall | None:
    """Return the largest fall between two checkpoints that chance does not explain; None if none.

    The falls between all pairs of checkpoints are tested jointly, at 5%: each is divided by its
    standard error, and compared with the greatest of the resamples' deviations.
    """
    accuracy, drawn = curves.accuracy, curves.drawn
    greatest = np.zeros(len(drawn))
    falls: list[tuple[float, float, int, int]] = []
    for start in range(len(accuracy) - 1):
        fall = accuracy[start] - accuracy[start + 1 :]
        deviation = drawn[:, [start]] - drawn[:, start + 1 :] - fall
        error = deviation.std(axis=0)
        varies = error > 0
        if not varies.any():
            continue
        scaled = deviation[:, varies] / error[varies]
        greatest = np.maximum(greatest, scaled.max(axis=1))
        ends = np.flatnonzero(varies) + start + 1
        falls += [
            (float(size), float(size / of), start, int(end))
            for size, of, end in zip(fall[varies], error[varies], ends, strict=True)
        ]
    limit = np.quantile(greatest, LEVEL)
    beyond = [(size, start, end) for size, ratio, start, end in falls if ratio > limit and size > 0]
    if not beyond:
        return None
    size, start, end = max(beyond)
    return Fall(start, end, bool(accuracy[end:].max() - accuracy[end] >= size / 2))


def added_variance(right: Floats, participant: Codes) -> float:
    """Return the variance that participants add to a share of right judgments, never below 0.

    It is the variance clustered by participant minus that of independent judgments; the variation
    of items, and of single judgments, is in the resamples of the items.

    Args:
        right: Shape ``(judgments,)``.
        participant: Shape ``(judgments,)``, from 0.
    """
    influence = (right - right.mean()) / len(right)
    sums = np.bincount(participant, influence)
    if len(sums) < 2:
        return 0.0
    clustered = len(sums) / (len(sums) - 1) * float((sums**2).sum())
    return max(0.0, clustered - len(right) / (len(right) - 1) * float((influence**2).sum()))


def resample_people(
    right: Floats,
    judged: Floats,
    weights: Floats,
    variance_of_people: float,
    rng: np.random.Generator,
) -> Floats:
    """Return people's accuracy in each resample of the items.

    Args:
        right: Shape ``(items,)``: the right judgments of each item.
        judged: Shape ``(items,)``: all of its judgments.
        weights: Shape ``(draws, items)``: each item's share, as in ``AccuracyCurve``.
        variance_of_people: The variance that participants add to that of items.
        rng: The source of randomness.
    """
    shares = (weights @ right) / (weights @ judged)
    noise = rng.normal(0, np.sqrt(variance_of_people), len(weights))
    return np.asarray(shares + noise, np.float64)
