"""A session as the server observed it, with claimed times compared with the server's clock."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, linear_regression, median, stdev


@dataclass(frozen=True, slots=True)
class ObservedAnswer:
    """One answer: times claimed by the browser, and the arrival by the server's clock.

    Values that the browser did not report are None.

    Attributes:
        position: The trial's position in the session, from 1.
        arrived_ms: The server's clock at the arrival, in milliseconds since the consent.
        rt_ms: The time from painting to press.
        outside_rt_ms: The rest of the trial's time, as the browser reported it: of what is read
            step by step, the wait before the first step and the question.
        one_press: Whether one press answers the trial, so that no press counts within the lock-out,
            and the rates of false flags that were measured apply.
        type_name: The trial's type of response (``measured_name``); empty if unknown.
        release_ms: The time from painting to the end of the press.
        waited_ms: The time from choice to sending, for instance while offline.
        input_method: key, pointer or touch.
        item: The name of the item that was shown.
        side: The side of the chosen option, or the point of the scale.
        n_characters: The length of the texts on the screen.
        has_onset: Whether the browser reported its source for the painting time.
        trusted: Whether the browser marked the press as trusted.
        times_shown: How often the trial was shown.
        seen_before_ms: How long the trial was shown before it was shown again.
        pointer_moves: Movements of the pointer during the trial.
        pointer_path_px: The length of the pointer's path.
        was_hidden: Whether the page was hidden during the trial.
        lost_focus: Whether the page lost focus.
    """

    position: int
    arrived_ms: float
    rt_ms: float | None = None
    outside_rt_ms: float | None = 0.0
    one_press: bool = True
    type_name: str = ""
    release_ms: float | None = None
    waited_ms: float | None = None
    input_method: str = ""
    item: str = ""
    side: str = ""
    n_characters: int = 0
    has_onset: bool = False
    trusted: bool | None = None
    times_shown: int | None = None
    seen_before_ms: float | None = None
    pointer_moves: int | None = None
    pointer_path_px: float | None = None
    was_hidden: bool | None = None
    lost_focus: bool | None = None

    @property
    def whole_ms(self) -> float | None:
        """The claimed time from the trial's appearance to its end; None if unknown."""
        if self.rt_ms is None or self.outside_rt_ms is None:
            return None
        return self.rt_ms + self.outside_rt_ms

    @property
    def hold_ms(self) -> float | None:
        """The duration of the press; None if unknown."""
        if self.rt_ms is None or self.release_ms is None:
            return None
        return self.release_ms - self.rt_ms


@dataclass(frozen=True, slots=True)
class ObservedSession:
    """One participant's answers, with the server's other records of the session.

    Attributes:
        answers: The stored answers.
        n_devices: On how many devices the session was opened; 0 if no browser reported one.
        device_facts: How many facts the first device reported (family, refresh rate, time zone,
            language), 0 to 4.
    automated: Whether a browser reported that a program drives it; None if none reported.
        n_premature: Presses too early to be choices.
        lockout_ms: How long after the painting the page accepts no press.
        gap_ms: How long the page is empty between two trials.
        after_pauses: The positions that follow a pause or another page.
        n_pasted: Questionnaire answers into which text was pasted.
        n_copied: How many answers have times identical to another session's earlier answer; None if
            this was not checked.
    """

    answers: tuple[ObservedAnswer, ...]
    n_devices: int = 1
    device_facts: int = 4
    automated: bool | None = None
    n_premature: int = 0
    lockout_ms: float = 0.0
    gap_ms: float = 0.0
    after_pauses: frozenset[int] = frozenset()
    n_pasted: int = 0
    n_copied: int | None = None


_FEWEST_TIMES = 24
# The number of deviations from the median at which a time is clipped.
_FARTHEST = 2.0


def log_times(answers: Sequence[ObservedAnswer]) -> list[float]:
    """Return log reaction times with outliers clipped, for instance after an interruption."""
    times = [math.log(answer.rt_ms) for answer in answers if answer.rt_ms]
    middle = median(times)
    spread = _FARTHEST * 1.4826 * median(abs(time - middle) for time in times)
    return [max(middle - spread, min(middle + spread, time)) for time in times]


def timed_answers(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers with a known time and a known text length, in order."""
    ordered = sorted(session.answers, key=lambda entry: entry.position)
    return [answer for answer in ordered if answer.rt_ms and answer.n_characters]


def time_residuals(session: ObservedSession) -> dict[int, float]:
    """Return standardised log reaction times, adjusted for text length, by position.

    Empty for sessions with few times, or with times that are all alike.
    """
    answers = timed_answers(session)
    if len(answers) < _FEWEST_TIMES:
        return {}
    times, lengths = log_times(answers), [math.log(answer.n_characters) for answer in answers]
    if stdev(lengths):
        fitted_line = linear_regression(lengths, times)
        times = [
            time - fitted_line.slope * length for time, length in zip(times, lengths, strict=True)
        ]
    mean, deviation = fmean(times), stdev(times)
    if deviation < 1e-9:
        return {}
    return {a.position: (time - mean) / deviation for a, time in zip(answers, times, strict=True)}


# The largest accepted difference between claimed times and arrivals: network delays vary.
TOLERANCE_MS = 1000.0
# The largest effect of rounding on a time at the very end of the lock-out.
_ROUNDING_MS = 1.0


def excess_ms(session: ObservedSession) -> float | None:
    """Return by how much the claimed times exceed the time that passed on the server's clock.

    A participant sees one trial at a time, and every press precedes the arrival of its answer. So
    the claimed times of all answers that arrived by some moment fit between the consent and that
    moment, however late a queue delivered them. For several devices, the time passed is multiplied
    by their number.

    Returns:
        The greatest excess at any arrival, in milliseconds; negative if less was claimed, None if
        no time is claimed.
    """
    claimed_ms, greatest = 0.0, None
    for answer in sorted(session.answers, key=lambda later: later.arrived_ms):
        if answer.rt_ms is None:
            continue
        claimed_ms += answer.rt_ms
        excess = claimed_ms - answer.arrived_ms * max(1, session.n_devices)
        greatest = excess if greatest is None else max(greatest, excess)
    return greatest


def n_too_early(session: ObservedSession) -> int:
    """Return how many answers claim a time at which the page accepts no press.

    Only trials that one press answers count: a word that is read may be left at any time.
    """
    return sum(
        answer.one_press
        and answer.rt_ms is not None
        and answer.rt_ms < session.lockout_ms - _ROUNDING_MS
        for answer in session.answers
    )


def unexplained_ms(session: ObservedSession) -> list[float]:
    """Return, for each answer after the first, the time that the claimed time does not explain.

    This is the time between two presses by the server's clock (arrival minus the time that the
    answer waited) minus the claimed time of the whole trial and the study's gap: about 0 for a page
    that reports true times. Answers after a pause, of trials shown twice or hidden, and those for
    which the browser did not report the waiting time or the whole trial's time are left out.

    Returns:
        The milliseconds; negative if more time is claimed than passed.
    """
    ordered = sorted(session.answers, key=lambda answer: answer.position)
    return list(_unexplained_times(session, ordered))


def _unexplained_times(
    session: ObservedSession, ordered: Sequence[ObservedAnswer]
) -> Iterator[float]:
    for previous, answer in pairwise(ordered):
        follows = answer.position == previous.position + 1
        shown_once = (answer.times_shown or 1) == 1 and not answer.was_hidden
        if not follows or not shown_once or answer.position in session.after_pauses:
            continue
        pressed_at_ms, pressed_before = _pressed_ms(answer), _pressed_ms(previous)
        claimed_ms = answer.whole_ms
        if claimed_ms is not None and pressed_at_ms is not None and pressed_before is not None:
            yield pressed_at_ms - pressed_before - claimed_ms - session.gap_ms


def _pressed_ms(answer: ObservedAnswer) -> float | None:
    return None if answer.waited_ms is None else answer.arrived_ms - answer.waited_ms
