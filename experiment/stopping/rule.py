"""The rule of a study, asked at every look: does the study go on?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from math import inf, nan, sqrt
from statistics import fmean, variance

from experiment.stopping.alpha_spending import compute_limits, student_limit
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
