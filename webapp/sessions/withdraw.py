"""Withdrawing: somebody stops, and what they gave is kept or erased, as they wish."""

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
from webapp.erasures.entry import Deed, mark_of
from webapp.erasures.record import Record
from webapp.errors import RequestError
from webapp.sessions.assign import free_places
from webapp.sessions.leave import how_far

# Who consented and has not finished: declining now takes that back. Who finished is shown the
# closing page, from which they may still have everything erased.
STILL_THERE = (State.WORKING, State.ANSWERED, State.ABANDONED)


class Wish(StrEnum):
    """What becomes of the answers of somebody who stops."""

    KEEP = "keep"
    ERASE = "erase"


def withdraw(
    session: Session, participant: Participant, wish: Wish, now: datetime, record: Record
) -> None:
    """End a participant's session for good, in the caller's transaction.

    Their place is free for somebody else. What is erased is everything they did: answers, times,
    devices, events and the verdict. What stays is who they are to their platform, when they came
    and left, whether they had answered everything, and the ledger: that is what paying them needs.

    Who kept their answers may still have them erased; nothing else changes a second time.

    Args:
        session: An open session that holds the participant's lock.
        participant: Who stops.
        wish: What happens to their answers.
        now: The time.
        record: Where the wish is written down, so that a restored backup does not undo it.

    Raises:
        WebappError: The wish cannot be written down; then nothing is done.
        RequestError: They never took part.
    """
    if nothing_is_stored(participant):
        raise RequestError(
            gettext("Nothing is stored about this visit."), status=409, code="wrong_state"
        )
    deed = Deed.ERASED if wish is Wish.ERASE else Deed.WITHDRAWN
    record.note(session, deed, [mark_of(participant.ref)], now)
    if participant.state == State.ARRIVED:  # asked before the start, and not begun
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
    """Return whether there is nothing to erase or restrict: nobody agreed to anything.

    Who agreed, and is still asked before the start, has answered questions.
    """
    state = State(participant.state)
    return state is State.DECLINED or (state is State.ARRIVED and participant.consented_at is None)


def is_erased(session: Session, participant: Participant) -> bool:
    """Return whether what a participant gave was erased."""
    noted = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ERASED
    )
    return session.scalar(noted.limit(1)) is not None


def _ending(session: Session, participant: Participant) -> Ending | None:
    """Return how the visit ends where it is more or less than withdrawing: it cannot be seen later.

    Participants who have answered everything are paid for it. Participants who have answered
    nothing decline.
    """
    answered, total = how_far(session, participant)
    if participant.finished_at is not None or (total and answered == total):
        return Ending.COMPLETED
    return None if answered else Ending.DECLINED


def erase_given(session: Session, participant: Participant) -> None:
    """Erase what a participant did and what was written about them, and say nothing of it."""
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
    """Delete what was summarised of a participant, and their reference from others' summaries.

    What was drawn of everybody is drawn anew, without them, by the next minute's job.
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
    """Yield the summaries of others that name somebody."""
    # The text alone is searched: the databases have no common words for what JSON holds.
    names = cast(SessionSummary.judged, Text).contains(ref, autoescape=True)
    of_run = select(SessionSummary.id, SessionSummary.judged).where(SessionSummary.run_id == run_id)
    rows = session.execute(of_run.where(names).order_by(SessionSummary.id))
    yield from ((id_, judged) for id_, judged in rows)
