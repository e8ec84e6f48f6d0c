"""The states of a participant, the transitions between them, and the endings of a visit."""

from enum import StrEnum

from experiment.errors import ParallaxError


class Ending(StrEnum):
    """How a visit to a study ends; each ending may have its own way back to the platform."""

    COMPLETED = "completed"
    NO_CONSENT = "no_consent"  # did not agree to the consent text
    DECLINED = "declined"  # agreed, but stopped before the first trial
    SCREENED_OUT = "screened_out"  # does not meet the study's criteria
    FAILED_CHECK = "failed_check"  # failed a comprehension or attention check
    FULL = "full"  # arrived when all places were taken, or the run was closed
    TOO_LATE = "too_late"  # was away until another participant got the place
    WITHDRAWN = "withdrawn"  # withdrew their consent
    DUPLICATE = "duplicate"  # took part in an earlier run, and the study excludes such participants
    SECURITY = "security"  # used a link without the platform's valid signature


class EventKind(StrEnum):
    """The kinds of events in a session besides answers."""

    PREMATURE_PRESS = "premature_press"
    SHOWN_OTHERWISE = "shown_otherwise"
    LATE_ANSWER = "late_answer"
    SECOND_DEVICE = "second_device"
    COMPREHENSION_WRONG = "comprehension_wrong"
    PASTED = "pasted"
    ASSENTED = "assented"
    LEFT = "left"
    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    RESTRICTED = "restricted"
    RELEASED = "released"


# After these events, none of the participant's data may be used.
ERASURE_EVENTS = (EventKind.ERASED, EventKind.FORGOTTEN)


class State(StrEnum):
    """The progress of a participant."""

    ARRIVED = "arrived"
    DECLINED = "declined"
    WORKING = "working"
    ANSWERED = "answered"
    FINISHED = "finished"
    ABANDONED = "abandoned"
    LEFT = "left"  # ended before the last trial; the ending is stored separately
    WITHDRAWN = "withdrawn"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.ARRIVED: frozenset({State.WORKING, State.DECLINED, State.LEFT}),
    State.DECLINED: frozenset({State.ARRIVED}),  # a participant may change their mind
    State.WORKING: frozenset({State.ANSWERED, State.ABANDONED, State.LEFT, State.WITHDRAWN}),
    State.ANSWERED: frozenset({State.FINISHED, State.ABANDONED, State.LEFT, State.WITHDRAWN}),
    State.FINISHED: frozenset({State.WITHDRAWN}),
    State.ABANDONED: frozenset({State.WORKING, State.LEFT, State.WITHDRAWN}),
    State.LEFT: frozenset({State.WITHDRAWN}),
    State.WITHDRAWN: frozenset(),
}


class IllegalMoveError(ParallaxError):
    """The state machine has no such transition."""


def move(current: State, target: State) -> State:
    """Return the wanted state if the transition is legal.

    Raises:
        IllegalMoveError: The state machine has no such transition.
    """
    if target not in TRANSITIONS[current]:
        raise IllegalMoveError(
            f'a participant who is "{current}" cannot become "{target}"',
            expected=f"one of: {', '.join(sorted(TRANSITIONS[current])) or 'no further move'}",
        )
    return target
