"""What the other participants of a run did with each item, against which one session is read.

How often an item's expected option is chosen is drawn towards how often that is so of its kind,
and this towards the whole run, as far as few answers are known of it. Likewise the time it takes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, linear_regression, median, stdev
from typing import Self

from experiment.integrity.observed import ObservedAnswer, ObservedSession

# So many answers of its kind are worth as much as what is known of an item itself.
_PRIOR_CHOICES = 4.0
# Items' and kinds' shares in the variance of times are taken to be about one in so many.
_PRIOR_TIMES = 33.0
_FEWEST_TIMES = 24
# Deviations from the median beyond which a time is drawn in.
_FARTHEST = 2.0
_RUN = ""


@dataclass(slots=True)
class _Sums:
    n_chosen: int = 0
    n_good: int = 0
    n_timed: int = 0
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Norms:
    """Sums over sessions, by item, by kind of item and over all.

    Attributes:
        of: The sums by name; an item's name, a kind's, or empty for the run.
    """

    of: Mapping[str, _Sums] = field(default_factory=dict)

    @classmethod
    def from_sessions(cls, sessions: Iterable[ObservedSession]) -> Self:
        """Return the norms of some sessions."""
        sums: defaultdict[str, _Sums] = defaultdict(_Sums)
        for session in sessions:
            times = time_residuals(session)
            for answer in session.answers:
                for name in _names(answer):
                    one, time = sums[name], times.get(answer.position)
                    if answer.chose_good is not None:
                        one.n_chosen += 1
                        one.n_good += answer.chose_good
                    if time is not None:
                        one.n_timed += 1
                        one.time += time
        return cls(dict(sums))

    def without(self, session: ObservedSession) -> Self:
        """Return the norms of everybody else."""
        own = type(self).from_sessions([session]).of
        left = {
            name: _Sums(
                all_.n_chosen - one.n_chosen,
                all_.n_good - one.n_good,
                all_.n_timed - one.n_timed,
                all_.time - one.time,
            )
            for name, one in own.items()
            if (all_ := self.of.get(name)) is not None
        }
        return type(self)(left)

    def n_chosen(self, answer: ObservedAnswer) -> int:
        """Return how many choices on items of the answer's kind are known."""
        return self._sums(_names(answer)[1]).n_chosen

    def accuracy(self, answer: ObservedAnswer) -> float:
        """Return how often others choose the expected option of the answer's item, 0 to 1."""
        share = 0.5
        for name in reversed(_names(answer)):
            one = self._sums(name)
            share = (one.n_good + _PRIOR_CHOICES * share) / (one.n_chosen + _PRIOR_CHOICES)
        return share

    def time(self, answer: ObservedAnswer) -> float:
        """Return by how many deviations others' times on the answer's item lie above their own."""
        item, kind, _ = _names(answer)
        found = 0.0
        for name in (kind, item):
            one = self._sums(name)
            found += (one.time - one.n_timed * found) / (one.n_timed + _PRIOR_TIMES)
        return found

    def _sums(self, name: str) -> _Sums:
        return self.of.get(name) or _Sums()


def _names(answer: ObservedAnswer) -> tuple[str, str, str]:
    return f"item {answer.item}", f"kind {answer.kind}", _RUN


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
