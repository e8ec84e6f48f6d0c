"""Leaving before the end: store the reason and free the place."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import MOVES, Ending, EventKind, State, move
from experiment.records import Kind
from webapp.database.models import Event, Participant, Response, RunItem, Trial
from webapp.sessions.answered import how_many
from webapp.sessions.assign import free_places


def leave(session: Session, participant: Participant, ending: Ending, now: datetime) -> bool:
    """End a participant's visit; return False if it had ended before.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant who leaves.
        ending: How the visit ends.
        now: The time.
    """
    if State.LEFT not in MOVES[State(participant.state)]:
        return False
    participant.state = move(State(participant.state), State.LEFT)
    participant.ending = ending
    free_places(session, [participant.id])
    session.add(
        Event(
            participant_id=participant.id,
            kind=EventKind.LEFT,
            detail={"ending": ending.value},
            at=now,
        )
    )
    session.flush()
    return True


def leave_on_request(session: Session, participant: Participant, now: datetime) -> bool:
    """End the visit of a participant who asks to leave; return False if it had ended before.

    Before the first answer this counts as declining, afterwards as withdrawing consent.
    """
    answered, _ = how_far(session, participant)
    return leave(session, participant, Ending.WITHDRAWN if answered else Ending.DECLINED, now)


def how_far(session: Session, participant: Participant) -> tuple[int, int]:
    """Return a participant's numbers of answered trials and of all trials."""
    answered, total = session.execute(how_many(participant.id)).one()
    return answered, total


def note_late_work(session: Session, participant: Participant) -> bool:
    """Set the ending to completed if a participant without a place has answered every trial.

    Returns:
        Whether they have.
    """
    if participant.state != State.ABANDONED:
        return False
    answered, total = how_far(session, participant)
    if total and answered == total:
        participant.ending = Ending.COMPLETED
        session.flush()
        return True
    return False


def ending_of(participant: Participant) -> Ending | None:
    """Return how a participant's visit ended; None if it has not ended."""
    if participant.ending is not None:
        return Ending(participant.ending)
    if participant.state == State.WITHDRAWN:
        # Work completed before the withdrawal stays completed for the platform that pays for it.
        return Ending.WITHDRAWN if participant.finished_at is None else Ending.COMPLETED
    return {
        State.FINISHED.value: Ending.COMPLETED,
        State.DECLINED.value: Ending.NO_CONSENT,
        State.ABANDONED.value: Ending.TOO_LATE,
    }.get(participant.state)


def catch_errors(session: Session, participant: Participant) -> int:
    """Return how many catch trials a participant answered wrongly."""
    wrong = (
        select(func.count(Response.id))
        .join(Trial, Trial.id == Response.trial_id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .where(
            Trial.participant_id == participant.id,
            RunItem.kind == Kind.CATCH,
            Response.chosen_side != Trial.good_side,
            # A response without a side, or a trial without an expected side, is neither right nor
            # wrong.
            Response.chosen_side != "",
            Trial.good_side != "",
        )
    )
    return session.execute(wrong).scalar_one()
