"""What the other participants of a run did with each item, against which one session is read.

How often an item's expected option is chosen is drawn towards how often that is so of its kind,
and this towards the whole run, as far as few answers are known of it. Likewise the time it takes.
Everything is in nats, above 0 where a program explains a session better than a person does.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from scipy.special import logsumexp

from agent_bench.seen import SeenAnswer
from experiment.integrity.choices import people_loglik_nats
from experiment.integrity.observed import ObservedSession, time_residuals

# So many answers of its kind are worth as much as what is known of an item itself.
_PRIOR_CHOICES = 4.0
# Items' and kinds' shares in the variance of times are taken to be about one in so many.
_PRIOR_TIMES = 33.0
_RUN = ""
# A session with fewer choices, or of items of which less is known, is not judged by them.
_FEWEST = 24
# A program's choices: at random, or right as often whatever is hard for people.
_AT_RANDOM = 0.5
_RATES = (0.55, 0.65, 0.75, 0.85, 0.90, 0.95, 0.98, 0.995)
# By how much a person's times follow others', in units of what is expected: mean and deviation.
_FOLLOWS = (1.0, 0.5)


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

    def n_chosen(self, answer: SeenAnswer) -> int:
        """Return how many choices on items of the answer's kind are known."""
        return self._sums(_names(answer)[1]).n_chosen

    def accuracy(self, answer: SeenAnswer) -> float:
        """Return how often others choose the expected option of the answer's item, 0 to 1."""
        share = 0.5
        for name in reversed(_names(answer)):
            one = self._sums(name)
            share = (one.n_good + _PRIOR_CHOICES * share) / (one.n_chosen + _PRIOR_CHOICES)
        return share

    def time(self, answer: SeenAnswer) -> float:
        """Return by how many deviations others' times on the answer's item lie above their own."""
        item, kind, _ = _names(answer)
        found = 0.0
        for name in (kind, item):
            one = self._sums(name)
            found += (one.time - one.n_timed * found) / (one.n_timed + _PRIOR_TIMES)
        return found

    def _sums(self, name: str) -> _Sums:
        return self.of.get(name) or _Sums()


def _names(answer: SeenAnswer) -> tuple[str, str, str]:
    return f"item {answer.item}", f"kind {answer.kind}", _RUN


def blind_nats(chose_good: Sequence[bool]) -> float:
    """Return the log-likelihood of choices as a program's to which no item is harder.

    Half of these programs choose at random, the others are right at some rate.
    """
    n, n_good = len(chose_good), sum(chose_good)
    terms = [math.log(0.5) + n * math.log(_AT_RANDOM)]
    for rate in _RATES:
        nats = n_good * math.log(rate) + (n - n_good) * math.log(1 - rate)
        terms.append(math.log(0.5 / len(_RATES)) + nats)
    return float(logsumexp(terms))


def blindness(session: ObservedSession, norms: Norms) -> float | None:
    """Return by how much choices that no item's difficulty touches explain a session better.

    Args:
        session: The session.
        norms: What everybody else did.

    Returns:
        The nats; None where too little is known.
    """
    known = [
        (answer.chose_good, norms.accuracy(answer))
        for answer in session.answers
        if answer.chose_good is not None and norms.n_chosen(answer) >= _FEWEST
    ]
    if len(known) < _FEWEST:
        return None
    chose_good, accuracy = zip(*known, strict=True)
    return blind_nats(chose_good) - people_loglik_nats(chose_good, accuracy)


def detachment(session: ObservedSession, norms: Norms) -> float | None:
    """Return by how much times that owe nothing to the items explain a session better.

    A person's times follow those of others on the same items, beyond the length of the texts, by
    some factor around 1; a program's that does not read, by the factor 0. Where little is known of
    the items, both say the same.
    """
    times = time_residuals(session)
    pairs = [(norms.time(a), times[a.position]) for a in session.answers if a.position in times]
    if len(pairs) < _FEWEST:
        return None
    mean, deviation = _FOLLOWS
    squares = sum(expected**2 for expected, _ in pairs)
    products = sum(expected * time for expected, time in pairs)
    precision = 1 / deviation**2
    follows = (mean * precision + products) ** 2 / (precision + squares) - mean**2 * precision
    return (math.log1p(squares / precision) - follows) / 2
