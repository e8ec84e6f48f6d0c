"""Withdrawal: a participant stops, and their answers are kept or erased, as they choose."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Text, cast, delete, select, update
from sqlalchemy.orm import Session

from experiment.participation import Ending, EventKind, State, move
from webapp.core.i18n import gettext
from webapp.database.models import (
    Answer,
    ArrivalAddress,
    Device,
    Event,
    Note,
    Participant,
    Response,
    RunSummary,
    SessionSummary,
    Tag,
    Trial,
    Verdict,
)
from webapp.erasures.file import WishKind, compute_mark
from webapp.erasures.record import ErasureRecord
from webapp.errors import RequestError
from webapp.sessions.assign import free_places
from webapp.sessions.leave import how_far

# Participants who consented and have not finished: declining now withdraws their consent.
# Participants who finished see the closing page, where they can still have everything erased.
STILL_THERE = (State.WORKING, State.ANSWERED, State.ABANDONED)


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
    if nothing_is_stored(participant):
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
        participant.ending = participant.ending or _ending(session, participant)
        participant.state = move(state, State.WITHDRAWN)
        participant.withdrawn_at = now
        _note(session, participant, EventKind.WITHDRAWN, now)
    if wish is Wish.ERASE and not is_erased(session, participant):
        erase_given(session, participant)
        _note(session, participant, EventKind.ERASED, now)
    session.flush()


def nothing_is_stored(participant: Participant) -> bool:
    """Return whether the participant agreed to nothing, so that no data can be erased.

    Participants who agreed and are still before the first trial have answered questions.
    """
    state = State(participant.state)
    return state is State.DECLINED or (state is State.ARRIVED and participant.consented_at is None)


def is_erased(session: Session, participant: Participant) -> bool:
    """Return whether a participant's data were erased."""
    noted = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ERASED
    )
    return session.scalar(noted.limit(1)) is not None


def _ending(session: Session, participant: Participant) -> Ending | None:
    """Return the ending if it is not simply withdrawn; it cannot be determined later.

    Participants who have answered everything have completed the session and are paid for it.
    Participants who have answered nothing have declined.
    """
    answered, total = how_far(session, participant)
    if participant.finished_at is not None or (total and answered == total):
        return Ending.COMPLETED
    return None if answered else Ending.DECLINED


def erase_given(session: Session, participant: Participant) -> None:
    """Erase a participant's data and everything written about them, without adding an event."""
    trials = select(Trial.id).where(Trial.participant_id == participant.id)
    session.execute(delete(Response).where(Response.trial_id.in_(trials)))
    of_theirs = (
        Trial, Answer, ArrivalAddress, Device, Event, Verdict, Note, Tag,
    )  # fmt: skip
    for table in of_theirs:
        session.execute(delete(table).where(table.participant_id == participant.id))
    drop_summaries(session, participant)


def _note(session: Session, participant: Participant, kind: EventKind, now: datetime) -> None:
    session.add(Event(participant_id=participant.id, kind=kind, detail={}, at=now))


def drop_summaries(session: Session, participant: Participant) -> None:
    """Delete a participant's summaries, and their reference in the summaries of others.

    The run's summary is computed again without them by the job that runs every minute.
    """
    run_id, ref = participant.run_id, participant.ref
    session.execute(delete(SessionSummary).where(SessionSummary.participant_id == participant.id))
    session.execute(delete(RunSummary).where(RunSummary.run_id == run_id))
    for id_, judged in list(_naming(session, run_id, ref)):
        left = [twin for twin in judged["twins"] if twin[0] != ref]
        without = {**judged, "twins": left}
        session.execute(
            update(SessionSummary).where(SessionSummary.id == id_).values(judged=without)
        )


def _naming(session: Session, run_id: int, ref: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the summaries of other participants that contain a reference."""
    # Search the JSON as text, because the databases have no common JSON operators.
    names = cast(SessionSummary.judged, Text).contains(ref, autoescape=True)
    of_run = select(SessionSummary.id, SessionSummary.judged).where(SessionSummary.run_id == run_id)
    rows = session.execute(of_run.where(names).order_by(SessionSummary.id))
    yield from ((id_, judged) for id_, judged in rows)
