"""The states of a participant and the moves between them."""

from enum import StrEnum

from experiment.errors import ParallaxError


class State(StrEnum):
    """How far a participant has come."""

    ARRIVED = "arrived"
    DECLINED = "declined"
    WORKING = "working"
    ANSWERED = "answered"
    FINISHED = "finished"
    ABANDONED = "abandoned"


MOVES: dict[State, frozenset[State]] = {
    State.ARRIVED: frozenset({State.WORKING, State.DECLINED}),
    State.DECLINED: frozenset(),
    State.WORKING: frozenset({State.ANSWERED, State.ABANDONED}),
    State.ANSWERED: frozenset({State.FINISHED, State.ABANDONED}),
    State.FINISHED: frozenset(),
    State.ABANDONED: frozenset({State.WORKING}),
}


class IllegalMoveError(ParallaxError):
    """A participant cannot go from the one state to the other."""


def move(current: State, wanted: State) -> State:
    """Return the wanted state if the move is legal.

    Raises:
        IllegalMoveError: The state machine has no such move.
    """
    if wanted not in MOVES[current]:
        raise IllegalMoveError(
            f'a participant who is "{current}" cannot become "{wanted}"',
            expected=f"one of: {', '.join(sorted(MOVES[current])) or 'no further move'}",
        )
    return wanted
