"""Pairs of sessions whose times or pointer paths are more alike than any two people's.

A farm of programs that replays one person's session gives the same series of times again, exactly
or with noise. Two people do not: from trial to trial their times vary by themselves, apart from
what they share because they were shown the same items, at the same places of a session. So each
item's and each place's mean is taken off, and what is left of two sessions is correlated.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from operator import mul
from statistics import NormalDist, correlation, fmean, stdev

from experiment.integrity.observed import ObservedAnswer, ObservedSession, log_times

# With fewer answers in common, or fewer sessions to take means of, no times are compared.
FEWEST_ANSWERS = 8
FEWEST_SESSIONS = 8
# How far two people's times may go together all the same: more than among any that were measured.
_MOST_SHARED = 0.5
# How many pairs of people in all the runs like this one may be named wrongly.
_FALSE_PAIRS = 0.01
# From this correlation on, a pair is looked at more closely.
_LEAST_CORRELATION = 0.5
# A mean of fewer sessions than this would be mostly the session's own time.
_FEWEST_FOR_MEAN = 5
# Shorter paths, and those with fewer movements, may be equal by chance.
_SHORTEST_PX, _FEWEST_MOVES = 50.0, 5
_FEWEST_PATHS = 5

Times = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class ReplayPair:
    """Two sessions that are more alike than those of any two people.

    Attributes:
        first: The name of the session that came first.
        second: The name of the other.
        n_answers: How many answers have times in both.
        correlation: The correlation of their times; None if too few could be compared.
        limit: The highest correlation that two people may have; None likewise.
        n_paths: How many answers have a path of the pointer in both.
        n_same_paths: How many of these paths are equal.
    """

    first: str
    second: str
    n_answers: int
    correlation: float | None
    limit: float | None
    n_paths: int
    n_same_paths: int

    @property
    def by_times(self) -> bool:
        """Whether the times correlate more than any two people's."""
        if self.correlation is None or self.limit is None:
            return False
        return self.correlation > self.limit

    @property
    def by_paths(self) -> bool:
        """Whether half of the paths or more are equal."""
        return self.n_same_paths >= max(_FEWEST_PATHS, self.n_paths / 2)


def find_replays(
    sessions: Mapping[str, ObservedSession], *other_runs: Mapping[str, ObservedSession]
) -> list[ReplayPair]:
    """Return the pairs of sessions whose times or paths are more alike than any two people's.

    Args:
        sessions: A run's sessions by name, in order of arrival.
        other_runs: The sessions of other runs, each of which is compared with those of the run.
    """
    run_sessions, *elsewhere = (_make_comparable(run) for run in (sessions, *other_runs))
    other_sessions = [session for run in elsewhere for session in run]
    n_pairs = max(1, math.comb(len(run_sessions), 2) + len(run_sessions) * len(other_sessions))
    pairs = (
        _compare(session_a, session_b, n_pairs)
        for session_a, session_b in chain(
            combinations(run_sessions, 2), product(run_sessions, other_sessions)
        )
    )
    return [pair for pair in pairs if pair is not None and (pair.by_times or pair.by_paths)]


@dataclass(frozen=True, slots=True)
class _Comparable:
    """A session's own times by position, the same as a vector of length 1, and its paths."""

    name: str
    times: Times
    vector: Sequence[float]
    paths: Mapping[int, tuple[int, float]]


def _make_comparable(run: Mapping[str, ObservedSession]) -> list[_Comparable]:
    last = max(
        (answer.position for session in run.values() for answer in session.answers), default=0
    )
    comparable_sessions = []
    for (name, session), times in zip(run.items(), residual_times(list(run.values())), strict=True):
        unit = _scale_to_unit(times)
        vector = [unit.get(position, 0.0) for position in range(1, last + 1)]
        comparable_sessions.append(
            _Comparable(name, times, vector, _collect_paths(session.answers))
        )
    return comparable_sessions


def _compare(session_a: _Comparable, session_b: _Comparable, n_pairs: int) -> ReplayPair | None:
    is_near = sum(map(mul, session_a.vector, session_b.vector)) > _LEAST_CORRELATION
    common = session_a.paths.keys() & session_b.paths.keys()
    if not is_near and not common:
        return None
    n, goes_along = correlate(session_a.times, session_b.times) if is_near else (0, None)
    limit = None if goes_along is None else highest_by_chance(n, n_pairs)
    n_same = sum(session_a.paths[position] == session_b.paths[position] for position in common)
    return ReplayPair(session_a.name, session_b.name, n, goes_along, limit, len(common), n_same)


def highest_by_chance(n_answers: int, n_pairs: int) -> float:
    """Return the highest correlation that two people's times may have among a number of pairs.

    By Fisher's z: people's times are taken to correlate by ``_MOST_SHARED`` at most, and one in a
    hundred runs of that many pairs may name a pair wrongly.
    """
    above = NormalDist().inv_cdf(1 - _FALSE_PAIRS / n_pairs) / math.sqrt(n_answers - 3)
    return math.tanh(math.atanh(_MOST_SHARED) + above)


def correlate(times_a: Times, times_b: Times) -> tuple[int, float | None]:
    """Return how many trials are timed in both sessions, and the correlation of their times."""
    common = sorted(times_a.keys() & times_b.keys())
    if len(common) < FEWEST_ANSWERS:
        return len(common), None
    first, second = (
        [times_a[position] for position in common],
        [times_b[position] for position in common],
    )
    if min(stdev(first), stdev(second)) < 1e-9:
        return len(common), None
    return len(common), correlation(first, second)


def residual_times(sessions: Sequence[ObservedSession]) -> list[Times]:
    """Return each session's log times by position, without what others share.

    Empty for all if there are too few sessions to take means of.
    """
    if len(sessions) < FEWEST_SESSIONS:
        return [{} for _ in sessions]
    answers_with_time = [
        [answer for answer in session.answers if answer.rt_ms] for session in sessions
    ]
    logs = [log_times(answers) if answers else [] for answers in answers_with_time]
    series = [[time - fmean(times) for time in times] for times in logs]
    for shared_by in (lambda answer: answer.item or None, lambda answer: answer.position):
        series = _subtract_means(answers_with_time, series, shared_by)
    return [
        {answer.position: time for answer, time in zip(answers, times, strict=True)}
        for answers, times in zip(answers_with_time, series, strict=True)
    ]


def _subtract_means(
    timed: Sequence[Sequence[ObservedAnswer]],
    series: Sequence[Sequence[float]],
    shared_by: Callable[[ObservedAnswer], object],
) -> list[list[float]]:
    """Return the times minus their mean over sessions, by item or by position."""
    sharing: dict[object, list[float]] = defaultdict(list)
    for answer, time in _list_pairs(timed, series):
        sharing[shared_by(answer)].append(time)
    means = {
        key: fmean(times)
        for key, times in sharing.items()
        if key is not None and len(times) >= _FEWEST_FOR_MEAN
    }
    return [
        [
            time - means.get(shared_by(answer), 0.0)
            for answer, time in zip(answers, times, strict=True)
        ]
        for answers, times in zip(timed, series, strict=True)
    ]


def _list_pairs(
    timed: Sequence[Sequence[ObservedAnswer]], series: Sequence[Sequence[float]]
) -> Iterator[tuple[ObservedAnswer, float]]:
    for answers, times in zip(timed, series, strict=True):
        yield from zip(answers, times, strict=True)


def _scale_to_unit(series: Times) -> Times:
    """Return a series with mean 0 and length 1; empty where it is too short or does not vary."""
    if len(series) < FEWEST_ANSWERS:
        return {}
    mean = fmean(series.values())
    length = math.sqrt(sum((time - mean) ** 2 for time in series.values()))
    return {position: (time - mean) / length for position, time in series.items()} if length else {}


def _collect_paths(answers: Sequence[ObservedAnswer]) -> dict[int, tuple[int, float]]:
    """Return the movements and the length of each pointer path that is long enough to compare."""
    return {
        answer.position: (answer.pointer_moves, answer.pointer_path_px)
        for answer in answers
        if answer.pointer_moves is not None
        and answer.pointer_path_px is not None
        and answer.pointer_moves >= _FEWEST_MOVES
        and answer.pointer_path_px >= _SHORTEST_PX
    }
