"""A session as the server saw it: claims beside its clock, and times that texts do not explain."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, linear_regression, median, stdev


@dataclass(frozen=True, slots=True)
class ObservedAnswer:
    """One answer: times claimed by the browser, and its arrival by the server's clock.

    What a browser did not tell is None.

    Attributes:
        position: The trial's place in the session, from 1.
        arrived_ms: The server's clock at the arrival, in milliseconds since the consent.
        rt_ms: From painting to press.
        release_ms: From painting to the end of the press.
        waited_ms: From choice to sending, as where there was no connection.
        input_method: key, pointer or touch.
        side: Where the chosen option stood, or the point of the scale.
        n_characters: How long the texts on the screen were.
        has_onset: Whether the browser said what it knows the painting from.
        trusted: Whether the browser itself saw the press.
        times_shown: How often the trial was on the screen.
        seen_before_ms: For how long it was, before it was shown again.
        pointer_moves: Movements of the pointer during the trial.
        pointer_path_px: How far the pointer went.
        was_hidden: Whether the page was hidden during the trial.
        lost_focus: Whether it lost focus.
    """

    position: int
    arrived_ms: float
    rt_ms: float | None = None
    release_ms: float | None = None
    waited_ms: float | None = None
    input_method: str = ""
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
    def hold_ms(self) -> float | None:
        """How long the press lasted."""
        if self.rt_ms is None or self.release_ms is None:
            return None
        return self.release_ms - self.rt_ms


@dataclass(frozen=True, slots=True)
class ObservedSession:
    """One participant's answers, and what else the server knows of the session.

    Attributes:
        answers: The stored answers.
        n_devices: On how many devices the session was opened; 0 if no browser reported one.
        device_facts: How many facts the first device told (family, refresh rate, time zone,
            language), 0 to 4.
    automated: Whether one of the browsers says that a program drives it; None if none was reported.
        n_premature: Presses that came too early to be choices.
        lockout_ms: For how long after the painting the page takes no press.
        gap_ms: How long the page is empty between two trials.
        after_pauses: The positions before which another page came.
        n_pasted: Answers of the questionnaire into which something was pasted.
        n_copied: How many answers have the very times of an answer that somebody else gave before;
            None where nobody looked.
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
# Deviations from the median beyond which a time is drawn in.
_FARTHEST = 2.0


def log_times(answers: Sequence[ObservedAnswer]) -> list[float]:
    """Return log reaction times, those far off drawn in: somebody was called away."""
    times = [math.log(answer.rt_ms) for answer in answers if answer.rt_ms]
    middle = median(times)
    spread = _FARTHEST * 1.4826 * median(abs(time - middle) for time in times)
    return [max(middle - spread, min(middle + spread, time)) for time in times]


def timed(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers of which both the time and the length of the texts are known, in order."""
    ordered = sorted(session.answers, key=lambda entry: entry.position)
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


# How far a claim and the arrivals may lie apart: networks hold answers up for longer or shorter.
TOLERANCE_MS = 1000.0
# What rounding may do to a time at the very end of the lock-out.
_ROUNDING_MS = 1.0


def excess_ms(session: ObservedSession) -> float | None:
    """Return by how much the claimed times exceed what passed on the server's clock.

    One person looks at one trial after the other, and every press comes before its answer arrives.
    So the claims of all answers that arrived by some moment fit between the consent and that
    moment, however late a queue delivered them; on several devices, as often as there are devices.

    Returns:
        The greatest excess at any arrival, in milliseconds; negative where there is room left,
        None where no time is claimed.
    """
    claimed, greatest = 0.0, None
    for answer in sorted(session.answers, key=lambda later: later.arrived_ms):
        if answer.rt_ms is None:
            continue
        claimed += answer.rt_ms
        excess = claimed - answer.arrived_ms * max(1, session.n_devices)
        greatest = excess if greatest is None else max(greatest, excess)
    return greatest


def n_too_early(session: ObservedSession) -> int:
    """Return how many answers claim a time at which the page takes no press."""
    return sum(
        answer.rt_ms is not None and answer.rt_ms < session.lockout_ms - _ROUNDING_MS
        for answer in session.answers
    )


def unexplained_ms(session: ObservedSession) -> list[float]:
    """Return, for each answer after the first, the time that its claim does not explain.

    That is the time between two presses by the server's clock (arrival less the time that the
    answer waited) without the claimed reaction time and the study's gap: about nothing for a page
    that tells the truth. Answers after a pause, of trials shown twice or hidden, and those of which
    the browser did not say how long they waited, are left out.

    Returns:
        The milliseconds; negative where more is claimed than passed.
    """
    ordered = sorted(session.answers, key=lambda answer: answer.position)
    return list(_unexplained(session, ordered))


def _unexplained(session: ObservedSession, ordered: Sequence[ObservedAnswer]) -> Iterator[float]:
    for before, answer in pairwise(ordered):
        follows = answer.position == before.position + 1
        alone = (answer.times_shown or 1) == 1 and not answer.was_hidden
        if not follows or not alone or answer.position in session.after_pauses:
            continue
        pressed, pressed_before = _pressed_ms(answer), _pressed_ms(before)
        if answer.rt_ms is not None and pressed is not None and pressed_before is not None:
            yield pressed - pressed_before - answer.rt_ms - session.gap_ms


def _pressed_ms(answer: ObservedAnswer) -> float | None:
    return None if answer.waited_ms is None else answer.arrived_ms - answer.waited_ms
