"""Signals that a program took part instead of a person.

Each signal either fires or does not. Its weight, in nats, is the estimated log ratio of how often
it fires for benchmark programs and for people who answer in the same way for the same number of
trials (``rates.py``). A signal counts only if it fires for fewer than one in a hundred of these
people. A signal that does not fire reduces nothing, because its absence can be imitated. A logistic
function turns the sum into a score. Direct evidence has a fixed weight, always counts, and is never
outvoted.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import correlation, fmean, median, stdev

from experiment.integrity.observed import (
    TOLERANCE_MS,
    ObservedAnswer,
    ObservedSession,
    excess_ms,
    log_times,
    n_too_early,
    time_residuals,
    timed,
)
from experiment.integrity.rates import weight

# The prior log-odds: one session in a hundred is a program's, whatever the study's length.
BASE_NATS = math.log(99)
# Direct evidence: the browser reports that a program drives it, or the times are copied from
# another session.
DIRECT: Mapping[str, float] = {"automated": 8.0, "copied": 8.0}
_FEWEST = 10
_FEWEST_FOR_SHAPE = 24
# The share of answers from which a signal fires.
_SPEAKS = 0.1
# Browser clocks that are this coarse on purpose reveal nothing about a press.
_COARSE_MS = 50.0


def signals(session: ObservedSession) -> dict[str, bool]:
    """Return for each signal that can be evaluated whether it fires for a session."""
    if not session.answers:
        return {}
    by_name = {name: signal(session) for name, signal in SIGNALS.items()}
    return {name: speaks for name, speaks in by_name.items() if speaks is not None}


def counted(session: ObservedSession, told: Mapping[str, bool]) -> dict[str, float]:
    """Return the nats of the signals that count in a session's score.

    Args:
        session: The session.
        told: For each signal that can be evaluated, whether it fires.

    Returns:
        The nats by name; 0 for a signal that does not fire.
    """
    n, seen = len(session.answers), methods(session)
    worth = {name: DIRECT.get(name) or weight(name, seen, n) for name in told}
    return {name: nats * told[name] for name, nats in worth.items() if nats is not None}


def methods(session: ObservedSession) -> frozenset[str]:
    """Return the input methods that the server saw: key, pointer, touch."""
    return frozenset(answer.input_method for answer in session.answers if answer.input_method)


def likelihood(nats: Mapping[str, float]) -> float | None:
    """Return the score, from 0 to 1, of the signals that count; None if there are none."""
    if not nats:
        return None
    return 1 / (1 + math.exp(BASE_NATS - sum(nats.values())))


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _clock(session: ObservedSession) -> bool | None:
    """Fire if more time is claimed than passed, or presses are too early for the page to accept."""
    excess = excess_ms(session)
    if excess is None:
        return None
    return excess > TOLERANCE_MS or n_too_early(session) > 0


def _measured(session: ObservedSession) -> bool:
    """Fire if measurements that the page takes with every answer are missing."""
    missing = [
        answer.trusted is None or not answer.has_onset or answer.pointer_moves is None
        for answer in session.answers
    ]
    return _share(missing) >= _SPEAKS


def _device(session: ObservedSession) -> bool:
    """Fire if at most one of the device facts that the page sends by itself arrived."""
    return session.device_facts <= 1


def _automated(session: ObservedSession) -> bool | None:
    """Fire if a browser reports that a program drives it, as in some laboratories."""
    return session.automated


def _copied(session: ObservedSession) -> bool | None:
    """Fire if most times are identical to another session's."""
    if session.n_copied is None or len(session.answers) < _FEWEST:
        return None
    return session.n_copied > len(session.answers) / 2


def holds_ms(session: ObservedSession) -> list[float]:
    """Return how long each press lasted in milliseconds; empty if the clock was too coarse."""
    holds = [answer.hold_ms for answer in session.answers if answer.hold_ms is not None]
    times = [answer.rt_ms for answer in session.answers if answer.rt_ms is not None]
    coarse = times and all(ms % _COARSE_MS == 0 for ms in times)
    return [] if coarse else holds


def crossings(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers for which a mouse had to move from one option to another."""
    return [answer for before, answer in by_mouse(session) if answer.side != before.side]


def by_mouse(session: ObservedSession) -> Iterator[tuple[ObservedAnswer, ObservedAnswer]]:
    """Yield pairs of consecutive mouse answers whose pointer path is known."""
    ordered = sorted(session.answers, key=lambda entry: entry.position)
    for before, answer in pairwise(ordered):
        by_mouse = before.input_method == answer.input_method == "pointer"
        known = answer.pointer_moves is not None and answer.pointer_path_px is not None
        if by_mouse and known:
            yield before, answer


def path_variation(session: ObservedSession) -> float | None:
    """Return the coefficient of variation of the mouse paths between options."""
    paths = [answer.pointer_path_px or 0.0 for answer in crossings(session)]
    if len(paths) < _FEWEST // 2 or not fmean(paths):
        return None
    return stdev(paths) / fmean(paths)


def log_rt_sd(session: ObservedSession) -> float | None:
    """Return the standard deviation of the log reaction times, in nats."""
    times = [math.log(answer.rt_ms) for answer in session.answers if answer.rt_ms]
    return stdev(times) if len(times) >= _FEWEST else None


def length_correlation(session: ObservedSession) -> float | None:
    """Return the Pearson correlation of log reaction times with the log length of the texts."""
    answers = timed(session)
    if len(answers) < _FEWEST_FOR_SHAPE:
        return None
    lengths = [math.log(answer.n_characters) for answer in answers]
    return None if stdev(lengths) < 0.1 else _correlation(lengths, log_times(answers))


def time_autocorrelation(session: ObservedSession) -> float | None:
    """Return the mean lag-1 and lag-2 autocorrelation of log times, adjusted for text length."""
    times = list(time_residuals(session).values())
    if not times:
        return None
    return (_correlation(times[:-1], times[1:]) + _correlation(times[:-2], times[2:])) / 2


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    if min(stdev(first), stdev(second)) < 1e-9:
        return 0.0
    return correlation(first, second)


def median_hold_ms(session: ObservedSession) -> float | None:
    """Return the median duration of the presses in milliseconds; None if unknown."""
    holds = holds_ms(session)
    return median(holds) if holds else None


SIGNALS: Mapping[str, Callable[[ObservedSession], bool | None]] = {
    "clock": _clock,
    "measured": _measured,
    "device": _device,
    "automated": _automated,
    "copied": _copied,
}
