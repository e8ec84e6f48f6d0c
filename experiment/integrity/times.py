"""Reaction times, and what the length of the texts does not explain of them."""

import math
from collections.abc import Sequence
from statistics import fmean, linear_regression, median, stdev

from experiment.integrity.observed import ObservedAnswer, ObservedSession

_FEWEST_TIMES = 24
# Deviations from the median beyond which a time is drawn in.
_FARTHEST = 2.0


def log_times(answers: Sequence[ObservedAnswer]) -> list[float]:
    """Return log reaction times, those far off drawn in: somebody was called away."""
    times = [math.log(answer.rt_ms) for answer in answers if answer.rt_ms]
    middle = median(times)
    spread = _FARTHEST * 1.4826 * median(abs(one - middle) for one in times)
    return [max(middle - spread, min(middle + spread, one)) for one in times]


def timed(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers of which both the time and the length of the texts are known, in order."""
    ordered = sorted(session.answers, key=lambda one: one.position)
    return [answer for answer in ordered if answer.rt_ms and answer.n_characters]


def time_residuals(session: ObservedSession) -> dict[int, float]:
    """Return log reaction times without what length explains, in deviations, by positions.

    Empty for sessions with few times, and where all are alike.
    """
    answers = timed(session)
    if len(answers) < _FEWEST_TIMES:
        return {}
    times, lengths = log_times(answers), [math.log(answer.n_characters) for answer in answers]
    if stdev(lengths):
        fitted = linear_regression(lengths, times)
        times = [time - fitted.slope * length for time, length in zip(times, lengths, strict=True)]
    mean, deviation = fmean(times), stdev(times)
    if deviation < 1e-9:
        return {}
    return {a.position: (time - mean) / deviation for a, time in zip(answers, times, strict=True)}
