"""The certificate of a session: its figures, and the signals that a program took part."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    timed_answers,
    unexplained_ms,
)
from experiment.integrity.rates import is_unfair, weight

# The prior log-odds: one session in a hundred is a program's, whatever the study's length.
PRIOR_NATS = math.log(99)
# Direct evidence: the browser reports that a program drives it, or the times are copied from
# another session.
DIRECT: Mapping[str, float] = {"automated": 8.0, "copied": 8.0}
_FEWEST_ANSWERS = 10
_FEWEST_FOR_SHAPE = 24
# The share of answers from which a signal fires.
_FIRING_SHARE = 0.1
# Browser clocks that are this coarse on purpose reveal nothing about a press.
_COARSE_CLOCK_MS = 50.0


def signals(session: ObservedSession) -> dict[str, bool]:
    """Return for each signal that can be evaluated whether it fires for a session."""
    if not session.answers:
        return {}
    by_name = {name: signal(session) for name, signal in SIGNALS.items()}
    return {name: speaks for name, speaks in by_name.items() if speaks is not None}


def weigh_signals(session: ObservedSession, reported: Mapping[str, bool]) -> dict[str, float]:
    """Return the nats of the signals that count in a session's score.

    In a session with trials that more than one press answers, only direct evidence counts: how
    often the other signals fire for people was measured on choices and ratings alone.

    Args:
        session: The session.
        reported: For each signal that can be evaluated, whether it fires.

    Returns:
        The nats by name; 0 for a signal that does not fire.
    """
    n, input_methods, has_measures = len(session.answers), methods(session), is_measured(session)
    types = response_types(session)
    worth = {
        name: DIRECT.get(name)
        or (
            weight(name, input_methods, n)
            if has_measures and not is_unfair(name, types, input_methods, n)
            else None
        )
        for name in reported
    }
    return {name: nats * reported[name] for name, nats in worth.items() if nats is not None}


def methods(session: ObservedSession) -> frozenset[str]:
    """Return the input methods that the server saw: key, pointer, touch."""
    return frozenset(answer.input_method for answer in session.answers if answer.input_method)


def response_types(session: ObservedSession) -> frozenset[str]:
    """Return the names of the types of response of a session's trials, as far as they are known."""
    return frozenset(answer.type_name for answer in session.answers if answer.type_name)


def is_measured(session: ObservedSession) -> bool:
    """Return whether the measured rates of false flags apply to all of a session's answers."""
    return all(answer.one_press for answer in session.answers)


def likelihood(nats: Mapping[str, float]) -> float | None:
    """Return the score, from 0 to 1, of the signals that count; None if there are none."""
    if not nats:
        return None
    return 1 / (1 + math.exp(PRIOR_NATS - sum(nats.values())))


def _compute_share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _is_time_impossible(session: ObservedSession) -> bool | None:
    """Fire if more time is claimed than passed, or presses are too early for the page to accept."""
    excess = excess_ms(session)
    if excess is None:
        return None
    return excess > TOLERANCE_MS or n_too_early(session) > 0


def _lacks_measurements(session: ObservedSession) -> bool:
    """Fire if measurements that the page takes with every answer are missing."""
    missing = [
        answer.trusted is None or not answer.has_onset or answer.pointer_moves is None
        for answer in session.answers
    ]
    return _compute_share(missing) >= _FIRING_SHARE


def _lacks_device_facts(session: ObservedSession) -> bool:
    """Fire if at most one of the device facts that the page sends by itself arrived."""
    return session.device_facts <= 1


def _is_automated(session: ObservedSession) -> bool | None:
    """Fire if a browser reports that a program drives it, as in some laboratories."""
    return session.automated


def _is_copied(session: ObservedSession) -> bool | None:
    """Fire if most times are identical to another session's."""
    if session.n_copied is None or len(session.answers) < _FEWEST_ANSWERS:
        return None
    return session.n_copied > len(session.answers) / 2


def holds_ms(session: ObservedSession) -> list[float]:
    """Return how long each press lasted in milliseconds; empty if the clock was too coarse."""
    holds = [answer.hold_ms for answer in session.answers if answer.hold_ms is not None]
    times = [answer.rt_ms for answer in session.answers if answer.rt_ms is not None]
    coarse = times and all(ms % _COARSE_CLOCK_MS == 0 for ms in times)
    return [] if coarse else holds


def find_crossings(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers for which a mouse had to move from one option to another."""
    return [
        answer for previous, answer in select_mouse_pairs(session) if answer.side != previous.side
    ]


def select_mouse_pairs(session: ObservedSession) -> Iterator[tuple[ObservedAnswer, ObservedAnswer]]:
    """Yield pairs of consecutive mouse answers whose pointer path is known."""
    ordered = sorted(session.answers, key=lambda entry: entry.position)
    for previous, answer in pairwise(ordered):
        both_by_mouse = previous.input_method == answer.input_method == "pointer"
        has_pointer = answer.pointer_moves is not None and answer.pointer_path_px is not None
        if both_by_mouse and has_pointer:
            yield previous, answer


def path_variation(session: ObservedSession) -> float | None:
    """Return the coefficient of variation of the mouse paths between options."""
    paths = [answer.pointer_path_px or 0.0 for answer in find_crossings(session)]
    if len(paths) < _FEWEST_ANSWERS // 2 or not fmean(paths):
        return None
    return stdev(paths) / fmean(paths)


def log_rt_sd(session: ObservedSession) -> float | None:
    """Return the standard deviation of the log reaction times, in nats."""
    times = [math.log(answer.rt_ms) for answer in session.answers if answer.rt_ms]
    return stdev(times) if len(times) >= _FEWEST_ANSWERS else None


def length_correlation(session: ObservedSession) -> float | None:
    """Return the Pearson correlation of log reaction times with the log length of the texts."""
    answers = timed_answers(session)
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
    "clock": _is_time_impossible,
    "measured": _lacks_measurements,
    "device": _lacks_device_facts,
    "automated": _is_automated,
    "copied": _is_copied,
}


# With fewer intervals the pace of a session cannot be judged.
FEWEST_INTERVALS = 10


@dataclass(frozen=True, slots=True)
class Certificate:
    """Figures from one session's records; None for a figure that cannot be computed.

    Attributes:
        n_answers: The number of stored answers.
        claimed_ms: The sum of the claimed reaction times.
        elapsed_ms: The time from the consent to the last arrival, by the server's clock.
        excess_ms: The claimed time in excess of the time passed; negative if less was claimed.
        n_too_early: Answers with times at which the page accepts no press.
        n_intervals: Answers whose claimed time could be compared with the arrivals.
        mismatch_share: The share of these that differ by more than a second.
        unexplained_ms: The median time between answers that no claimed time explains.
        n_untrusted: Presses that the browser did not mark as trusted.
        n_unmeasured: Answers without the measurements that the page takes with each.
        n_hidden: Answers during which the page was hidden.
        n_unfocused: Answers during which the page lost focus.
        n_shown_again: Trials that were shown again after a first showing.
        seen_before_ms: The total time for which these had been shown before.
        n_premature: Presses too early to be choices.
        n_pasted: Questionnaire answers into which text was pasted.
        n_devices: Devices on which the session was opened.
        device_facts: Facts that the first device reported, 0 to 4.
        hold_ms: The median duration of a press.
        path_variation: The coefficient of variation of the mouse paths between options.
        log_rt_sd: The standard deviation of log reaction times, in nats.
        length_correlation: The correlation of log reaction times with log text length.
        autocorrelation: The autocorrelation of the adjusted log reaction times.
        n_copied: Answers with times identical to another session's earlier answer.
        signals: The nats of each signal that can be evaluated, 0 if it does not fire or does not
            count in a session of this kind (docs/integrity.md).
        counting: The signals that count in the score of a session of this kind.
        methods: The input methods that the server saw: key, pointer, touch.
        types: The names of the types of response of the trials.
        is_measured: Whether the measured rates of false flags apply to all of the answers.
        agent_likelihood: The score from 0 to 1, which is not a probability.
    """

    n_answers: int
    claimed_ms: float
    elapsed_ms: float | None
    excess_ms: float | None
    n_too_early: int
    n_intervals: int
    mismatch_share: float | None
    unexplained_ms: float | None
    n_untrusted: int
    n_unmeasured: int
    n_hidden: int
    n_unfocused: int
    n_shown_again: int
    seen_before_ms: float
    n_premature: int
    n_pasted: int
    n_devices: int
    device_facts: int
    hold_ms: float | None
    path_variation: float | None
    log_rt_sd: float | None
    length_correlation: float | None
    autocorrelation: float | None
    n_copied: int | None
    signals: tuple[tuple[str, float], ...]
    counting: tuple[str, ...]
    methods: tuple[str, ...]
    types: tuple[str, ...]
    is_measured: bool
    agent_likelihood: float | None


def certify(session: ObservedSession) -> Certificate:
    """Return the certificate of a session."""
    answers = session.answers
    unexplained = unexplained_ms(session)
    n_unexplained = sum(abs(ms) > TOLERANCE_MS for ms in unexplained)
    speaking = signals(session)
    counting = weigh_signals(session, speaking)
    return Certificate(
        n_answers=len(answers),
        claimed_ms=sum(answer.rt_ms or 0.0 for answer in answers),
        elapsed_ms=max((answer.arrived_ms for answer in answers), default=None),
        excess_ms=excess_ms(session),
        n_too_early=n_too_early(session),
        n_intervals=len(unexplained),
        mismatch_share=n_unexplained / len(unexplained)
        if len(unexplained) >= FEWEST_INTERVALS
        else None,
        unexplained_ms=median(unexplained) if unexplained else None,
        n_untrusted=sum(answer.trusted is False for answer in answers),
        n_unmeasured=sum(answer.trusted is None for answer in answers),
        n_hidden=sum(bool(answer.was_hidden) for answer in answers),
        n_unfocused=sum(bool(answer.lost_focus) for answer in answers),
        n_shown_again=sum((answer.times_shown or 1) > 1 for answer in answers),
        seen_before_ms=sum(answer.seen_before_ms or 0.0 for answer in answers),
        n_premature=session.n_premature,
        n_pasted=session.n_pasted,
        n_devices=session.n_devices,
        device_facts=session.device_facts,
        hold_ms=median_hold_ms(session),
        path_variation=path_variation(session),
        log_rt_sd=log_rt_sd(session),
        length_correlation=length_correlation(session),
        autocorrelation=time_autocorrelation(session),
        n_copied=session.n_copied,
        signals=tuple((name, counting.get(name, 0.0)) for name in speaking),
        counting=tuple(counting),
        methods=tuple(sorted(methods(session))),
        types=tuple(sorted(response_types(session))),
        is_measured=is_measured(session),
        agent_likelihood=likelihood(counting),
    )
