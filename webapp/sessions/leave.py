"""Ending a session early: leaving, losing the place, and withdrawing consent.

Participants who withdraw choose whether their answers are kept or erased.
"""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Text, cast, delete, func, select, update
from sqlalchemy.orm import Session

from experiment.participation import TRANSITIONS, Ending, EventKind, State, move
from experiment.records import Kind
from webapp.core.i18n import gettext
from webapp.database.models import (
    Answer,
    ArrivalAddress,
    Device,
    Event,
    Note,
    Participant,
    Response,
    RunItem,
    RunSummary,
    SessionSummary,
    Tag,
    Trial,
    Verdict,
)
from webapp.erasures.file import WishKind, compute_mark
from webapp.erasures.record import ErasureRecord
from webapp.errors import RequestError
from webapp.sessions.answered import count_answered
from webapp.sessions.assign import free_places


def end_visit(session: Session, participant: Participant, ending: Ending, now: datetime) -> bool:
    """End a participant's visit; return False if it had ended before.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant who leaves.
        ending: How the visit ends.
        now: The time.
    """
    if State.LEFT not in TRANSITIONS[State(participant.state)]:
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


def end_visit_on_request(session: Session, participant: Participant, now: datetime) -> bool:
    """End the visit of a participant who asks to leave; return False if it had ended before.

    Before the first answer this counts as declining, afterwards as withdrawing consent.
    """
    n_answered, _ = count_trials(session, participant)
    return end_visit(session, participant, Ending.WITHDRAWN if n_answered else Ending.DECLINED, now)


def count_trials(session: Session, participant: Participant) -> tuple[int, int]:
    """Return a participant's numbers of answered trials and of all trials."""
    n_answered, total = session.execute(count_answered(participant.id)).one()
    return n_answered, total


def note_late_work(session: Session, participant: Participant) -> bool:
    """Set the ending to completed if a participant without a place has answered every trial.

    Returns:
        Whether they have.
    """
    if participant.state != State.ABANDONED:
        return False
    n_answered, total = count_trials(session, participant)
    if total and n_answered == total:
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


def count_catch_errors(session: Session, participant: Participant) -> int:
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


# Participants who consented and have not finished: declining now withdraws their consent.
# Participants who finished see the closing page, where they can still have everything erased.
RESUMABLE_STATES = (State.WORKING, State.ANSWERED, State.ABANDONED)


class Wish(StrEnum):
    """The choice of a withdrawing participant: keep or erase the answers."""

    KEEP = "keep"
    ERASE = "erase"


def withdraw(
    session: Session, participant: Participant, wish: Wish, now: datetime, record: ErasureRecord
) -> None:
    """End a participant's session permanently, in the caller's transaction.

    Their place becomes free. Erasing removes everything they did: answers, times, devices, events
    and the verdict. The platform id, the times of arrival and departure, whether everything was
    answered, and the ledger stay, because payment needs them.

    Participants who kept their answers may still have them erased; nothing else changes on a second
    call.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant who stops.
        wish: Whether to keep or erase the answers.
        now: The time.
        record: The record in which the wish is noted, so that a restored backup does not undo it.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
        RequestError: The participant never took part.
    """
    if has_no_data(participant):
        raise RequestError(
            gettext("Nothing is stored about this visit."), status=409, code="wrong_state"
        )
    deed = WishKind.ERASED if wish is Wish.ERASE else WishKind.WITHDRAWN
    record.record_final_wishes(session, deed, [compute_mark(participant.ref)], now)
    if participant.state == State.ARRIVED:  # still at the questions before the first trial
        participant.ending, participant.state = Ending.WITHDRAWN, move(State.ARRIVED, State.LEFT)
    state = State(participant.state)
    if state is not State.WITHDRAWN:
        free_places(session, [participant.id])
        participant.ending = participant.ending or _determine_ending(session, participant)
        participant.state = move(state, State.WITHDRAWN)
        participant.withdrawn_at = now
        _add_event(session, participant, EventKind.WITHDRAWN, now)
    if wish is Wish.ERASE and not is_erased(session, participant):
        erase_data(session, participant)
        _add_event(session, participant, EventKind.ERASED, now)
    session.flush()


def has_no_data(participant: Participant) -> bool:
    """Return whether the participant agreed to nothing, so that no data can be erased.

    Participants who agreed and are still before the first trial have answered questions.
    """
    state = State(participant.state)
    return state is State.DECLINED or (state is State.ARRIVED and participant.consented_at is None)


def is_erased(session: Session, participant: Participant) -> bool:
    """Return whether a participant's data were erased."""
    erasure_event = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ERASED
    )
    return session.scalar(erasure_event.limit(1)) is not None


def _determine_ending(session: Session, participant: Participant) -> Ending | None:
    """Return the ending if it is not simply withdrawn; it cannot be determined later.

    Participants who have answered everything have completed the session and are paid for it.
    Participants who have answered nothing have declined.
    """
    n_answered, total = count_trials(session, participant)
    if participant.finished_at is not None or (total and n_answered == total):
        return Ending.COMPLETED
    return None if n_answered else Ending.DECLINED


def erase_data(session: Session, participant: Participant) -> None:
    """Erase a participant's data and everything written about them, without adding an event."""
    trials = select(Trial.id).where(Trial.participant_id == participant.id)
    session.execute(delete(Response).where(Response.trial_id.in_(trials)))
    tables = (
        Trial, Answer, ArrivalAddress, Device, Event, Verdict, Note, Tag,
    )  # fmt: skip
    for table in tables:
        session.execute(delete(table).where(table.participant_id == participant.id))
    drop_summaries(session, participant)


def _add_event(session: Session, participant: Participant, kind: EventKind, now: datetime) -> None:
    session.add(Event(participant_id=participant.id, kind=kind, detail={}, at=now))


def drop_summaries(session: Session, participant: Participant) -> None:
    """Delete a participant's summaries, and their reference in the summaries of others.

    The run's summary is computed again without them by the job that runs every minute.
    """
    run_id, ref = participant.run_id, participant.ref
    session.execute(delete(SessionSummary).where(SessionSummary.participant_id == participant.id))
    session.execute(delete(RunSummary).where(RunSummary.run_id == run_id))
    for id_, summary in list(_find_summaries_naming(session, run_id, ref)):
        other_twins = [twin for twin in summary["twins"] if twin[0] != ref]
        summary_without = {**summary, "twins": other_twins}
        session.execute(
            update(SessionSummary).where(SessionSummary.id == id_).values(judged=summary_without)
        )


def _find_summaries_naming(
    session: Session, run_id: int, ref: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the summaries of other participants that contain a reference."""
    # Search the JSON as text, because the databases have no common JSON operators.
    names = cast(SessionSummary.judged, Text).contains(ref, autoescape=True)
    of_run = select(SessionSummary.id, SessionSummary.judged).where(SessionSummary.run_id == run_id)
    rows = session.execute(of_run.where(names).order_by(SessionSummary.id))
    yield from ((id_, summary) for id_, summary in rows)
