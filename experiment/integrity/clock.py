"""Claimed reaction times against the server's clock."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from experiment.integrity.observed import ObservedAnswer, ObservedSession

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
    for answer in sorted(session.answers, key=lambda one: one.arrived_ms):
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
    ordered = sorted(session.answers, key=lambda one: one.position)
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
