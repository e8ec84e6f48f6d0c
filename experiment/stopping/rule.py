"""The rule of a study, asked at every look: does the study go on?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import takewhile
from math import e, exp, expm1, inf, log, nan, pi, sqrt
from statistics import NormalDist, fmean, variance

from experiment.stopping.betting import Bettor, Bounds, Values, confidence_limit
from experiment.studies.analysis_plan import Comparison
from experiment.studies.stopping import Stopping

# How finely the interval is known while a rule waits for its width, in parts of the bounds.
_N_PARTS = 200
# The share of alpha that planned looks spend. Values of few participants are not quite normal:
# with all of it, simulated studies without an effect erred in 5.0 to 5.5% (docs/evidence.md).
SPENT_SHARE = 0.95
_TOLERANCE = 1e-12


class Reason(StrEnum):
    """Why a comparison needs no more participants."""

    DIFFERENCE = "a difference"
    SMALLER = "less than the smallest effect of interest"
    EQUIVALENT = "no difference of interest"
    PRECISE = "precise enough"
    MAXIMUM = "the maximum of participants"


@dataclass(frozen=True, slots=True)
class Question:
    """A comparison as a rule asks it.

    Attributes:
        rule: The study's rule.
        comparison: The comparison, with its prediction and its smallest effect of interest.
        alpha: The part of the rule's alpha that the comparison has.
        bounds: The bounds of a participant's value; None for planned looks.
    """

    rule: Stopping
    comparison: Comparison
    alpha: float
    bounds: Bounds | None

    @property
    def alpha_of_side(self) -> float:
        """How often one end of the interval may ever be wrong.

        The ends of a one-sided question cannot both be: no effect, and one of interest.
        """
        return self.alpha if self.comparison.one_sided else self.alpha / 2


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a comparison.

    Attributes:
        reason: Why it needs no more participants; None if it goes on.
        n_at_stop: The number of participants at which it stopped; of all if it goes on.
        n_participants: The number of participants that are taken together below.
        estimate: The mean of the lists' means.
        low: The lower end of the interval, which is valid however often somebody looks.
        high: The upper end.
        level: The level of the interval.
    """

    reason: Reason | None
    n_at_stop: int
    n_participants: int
    estimate: float
    low: float
    high: float
    level: float


def take_blocks(
    participants: Iterable[tuple[object, float | None, bool]], n_groups: int
) -> list[list[float]]:
    """Return the values of complete blocks, one participant of each group.

    Values count in the order of arrival, and none counts before those of everybody who arrived
    earlier in its group are known: who is fast would otherwise count first.

    Args:
        participants: In the order of arrival: the group; the value, None for a participant who is
            not kept; and whether it is still open whether the participant is kept.
        n_groups: The number of groups.
    """
    by_group: dict[object, list[tuple[float | None, bool]]] = {}
    for group, value, is_open in participants:
        by_group.setdefault(group, []).append((value, is_open))
    if len(by_group) < n_groups:
        return []
    kept = [
        [value for value, _ in takewhile(lambda each: not each[1], people) if value is not None]
        for people in by_group.values()
    ]
    return [list(block) for block in zip(*kept, strict=False)]


Interval = tuple[float, float]


def look_at(question: Question, blocks: Sequence[Values]) -> Look:
    """Return whether a comparison needs more participants, and its interval.

    The result follows from the values alone: however often and whenever somebody looks, the stop is
    at the same participant.

    Args:
        question: The comparison and the rule.
        blocks: Complete blocks of the values of kept participants, one of each group.
    """
    rule = question.rule
    is_any_time = rule.rule == "any_time"
    size = len(blocks[0]) if blocks else 1
    reason, n_taken, interval = None, 0, (-inf, inf)
    for n_taken, interval in (_bet if is_any_time else _look_as_planned)(question, blocks):
        if n_taken >= rule.minimum:
            reason = _find_reason(question, interval)
        if reason is None and n_taken >= rule.maximum:
            reason = Reason.MAXIMUM
        if reason is not None:
            break
    n_at_stop = n_taken if reason else size * len(blocks)
    if is_any_time and blocks:
        # Participants who had begun before the stop count as well: the interval stays valid.
        n_taken, interval = size * len(blocks), _any_time_interval(question, blocks)
    taken = blocks[: n_taken // size]
    estimate = fmean(value for block in taken for value in block) if taken else nan
    level = 1 - 2 * question.alpha_of_side
    return Look(reason, n_at_stop, n_taken, estimate, *interval, level)


def _find_reason(question: Question, interval: Interval) -> Reason | None:
    low, high = interval
    declared, half_width = question.comparison, question.rule.half_width
    if declared.one_sided and declared.predicted == "negative":
        is_difference = high < 0
    else:
        is_difference = low > 0 or (high < 0 and not declared.one_sided)
    if is_difference:
        return Reason.DIFFERENCE
    if (smallest := declared.smallest_effect) is not None:
        if declared.predicted == "positive" and high < smallest:
            return Reason.SMALLER
        if declared.predicted == "negative" and low > -smallest:
            return Reason.SMALLER
        if -smallest < low and high < smallest:
            return Reason.EQUIVALENT
    if half_width is not None and high - low <= 2 * half_width:
        return Reason.PRECISE
    return None


def _bet(question: Question, blocks: Sequence[Values]) -> Iterator[tuple[int, Interval]]:
    """Yield the number of participants after each block, and the limits that decide.

    Limits lie at 0 and at the smallest effects; with ``half_width`` also in between.
    """
    bounds = question.bounds
    assert bounds is not None
    sides, planned = (bounds, bounds.mirrored()), question.comparison.smallest_effect
    bettors = [
        [Bettor(at, of_side, planned) for at in _supposed_means(question, of_side)]
        for of_side in sides
    ]
    limits, n_taken = [of_side.low for of_side in sides], 0
    for block in blocks:
        n_taken += len(block)
        for side, values in enumerate((block, [-value for value in block])):
            for bettor in bettors[side]:
                bettor.bet(values)
            rejected = [b.supposed for b in bettors[side] if b.wealth >= 1 / question.alpha_of_side]
            limits[side] = max([limits[side], *rejected])
            bettors[side] = [b for b in bettors[side] if b.supposed > limits[side]]
        # A mean that is rejected lies outside of the interval.
        yield n_taken, (limits[0] + _TOLERANCE, -limits[1] - _TOLERANCE)


def _supposed_means(question: Question, bounds: Bounds) -> list[float]:
    smallest = question.comparison.smallest_effect or 0.0
    means = {0.0, smallest, -smallest}
    if question.rule.half_width is not None:
        width = (bounds.high - bounds.low) / _N_PARTS
        means |= {bounds.low + width * part for part in range(1, _N_PARTS)}
    return sorted(mean for mean in means if bounds.low < mean < bounds.high)


def _any_time_interval(question: Question, blocks: Sequence[Values]) -> Interval:
    assert question.bounds is not None
    alpha, planned = question.alpha_of_side, question.comparison.smallest_effect
    mirrored = [[-value for value in block] for block in blocks]
    return (
        confidence_limit(blocks, question.bounds, alpha, planned),
        -confidence_limit(mirrored, question.bounds.mirrored(), alpha, planned),
    )


def _look_as_planned(
    question: Question, blocks: Sequence[Values]
) -> Iterator[tuple[int, Interval]]:
    """Yield the number of participants at each planned look so far, and its interval."""
    rule, alpha = question.rule, SPENT_SHARE * question.alpha
    looks = (*rule.looks, rule.maximum)
    shares = tuple(look / rule.maximum for look in looks)
    two_sided = not question.comparison.one_sided
    limits = compute_limits(shares, alpha, rule.spending, two_sided=two_sided)
    for n_taken, limit in zip(looks, limits, strict=True):
        n_blocks = n_taken // len(blocks[0]) if blocks else 0
        if not 0 < n_blocks <= len(blocks):
            return
        estimate, error, freedom = estimate_mean(blocks[:n_blocks])
        half = student_limit(limit, freedom) * error if freedom else inf
        yield n_taken, (estimate - half, estimate + half)


def estimate_mean(blocks: Sequence[Values]) -> tuple[float, float, int]:
    """Return the mean of the groups' means, its standard error and its degrees of freedom."""
    groups = [*zip(*blocks, strict=True)]
    estimate = fmean(fmean(values) for values in groups)
    freedom = (len(blocks) - 1) * len(groups)
    if not freedom:
        return estimate, inf, 0
    of_mean = sum(variance(values) for values in groups) / len(blocks) / len(groups) ** 2
    return estimate, sqrt(of_mean), freedom


_NORMAL = NormalDist()
_N_POINTS = 240
# Beyond this many standard deviations nothing is integrated.
_FARTHEST_Z = 8.0
_N_BISECTIONS = 50


def _spend_like_obrien_fleming(alpha: float, share: float) -> float:
    return 2 * (1 - _NORMAL.cdf(_NORMAL.inv_cdf(1 - alpha / 2) / sqrt(share)))


def _spend_like_pocock(alpha: float, share: float) -> float:
    return alpha * log(1 + (e - 1) * share)


_SPENDING: Mapping[str, Callable[[float, float], float]] = {
    "obrien_fleming": _spend_like_obrien_fleming,
    "pocock": _spend_like_pocock,
}


@cache
def compute_limits(
    shares: tuple[float, ...], alpha: float, spending: str, *, two_sided: bool = True
) -> tuple[float, ...]:
    """Return the limit of the standardised estimate at each look.

    The limits are those of Lan and DeMets (1983), Biometrika 70, 659-663, with a spending function
    like the limits of O'Brien and Fleming or of Pocock, computed by repeated numerical integration
    (Armitage, McPherson and Rowe, 1969). They hold for normal estimates; an estimate with a
    standard error from few participants gets the limit of Student's t with the same nominal level.

    Args:
        shares: The share of the participants of the last look that each look has, rising to 1.
        alpha: The probability that an estimate of 0 ever lies beyond a limit.
        spending: "obrien_fleming" or "pocock".
        two_sided: Whether there are limits on both sides, each with half of alpha.
    """
    limits: list[float] = []
    # The density of the sum so far, over sums that no earlier look stopped.
    sums, weights = [0.0], [1.0]
    spent, before = 0.0, 0.0
    for share in shares:
        of_side = alpha / 2 if two_sided else alpha
        n_sides = 2 if two_sided else 1
        due = n_sides * _SPENDING[spending](of_side, share)
        step = sqrt(share - before)
        limit = _find_limit(sums, weights, step, sqrt(share), (due - spent) / n_sides)
        limits.append(limit)
        top = limit * sqrt(share)
        bottom = -top if two_sided else -_FARTHEST_Z * sqrt(share)
        sums, weights = _next_density(sums, weights, step, bottom, top)
        spent, before = due, share
    return tuple(limits)


def _find_limit(
    sums: Sequence[float], weights: Sequence[float], step: float, scale: float, probability: float
) -> float:
    low, high = 0.0, _FARTHEST_Z
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2
        beyond = sum(
            weight * _NORMAL.cdf((at - middle * scale) / step)
            for at, weight in zip(sums, weights, strict=True)
        )
        low, high = (middle, high) if beyond > probability else (low, middle)
    return high


def _next_density(
    sums: Sequence[float], weights: Sequence[float], step: float, bottom: float, top: float
) -> tuple[list[float], list[float]]:
    """Return points between two ends, each with its probability by Simpson's rule."""
    width = (top - bottom) / _N_POINTS
    points = [bottom + width * index for index in range(_N_POINTS + 1)]
    peak = width / 3 / (step * sqrt(2 * pi))
    of_points = []
    for index, point in enumerate(points):
        simpson = 1 if index in (0, _N_POINTS) else 4 if index % 2 else 2
        density = sum(
            weight * exp(-0.5 * ((point - at) / step) ** 2)
            for at, weight in zip(sums, weights, strict=True)
        )
        of_points.append(simpson * peak * density)
    return points, of_points


def student_limit(limit: float, freedom: int) -> float:
    """Return the limit of Student's t with the same tail probability as a normal limit.

    The approximation of D. L. Wallace (1959), Annals of Mathematical Statistics 30, 1124-1130.
    """
    if freedom < 1:
        return float("inf")
    scaled = limit * (8 * freedom + 3) / (8 * freedom + 1)
    exponent = scaled * scaled / freedom
    return sqrt(freedom * expm1(min(exponent, 600.0)))
