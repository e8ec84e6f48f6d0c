"""Restricting: somebody's data stay stored, and are used for nothing until they allow it again.

No export, rule, score, report or researcher page has them. Nobody is rejected or
given a bonus by what they answered meanwhile. What they are owed for their time is paid: it is
their own claim.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from experiment.participation import EventKind
from webapp.core.i18n import gettext
from webapp.database.models import Event, Participant
from webapp.erasures.entry import Deed, mark_of
from webapp.erasures.record import Record
from webapp.errors import RequestError
from webapp.sessions.withdraw import drop_summaries, nothing_is_stored


def restrict(session: Session, participant: Participant, now: datetime, record: Record) -> bool:
    """Let a participant's data be used for nothing from now on; return whether they were before.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose data.
        now: The time.
        record: Where the wish is written down, so that a restored backup does not undo it.

    Raises:
        WebappError: The wish cannot be written down; then nothing is done.
        RequestError: Nothing is stored of them.
    """
    if nothing_is_stored(participant):
        raise RequestError(
            gettext("Nothing is stored about this visit."), status=409, code="wrong_state"
        )
    if participant.restricted_at is not None:
        return False
    record.note_again(session, Deed.RESTRICTED, mark_of(participant.ref), now)
    mark_restricted(session, participant, now, now)
    return True


def release(session: Session, participant: Participant, now: datetime, record: Record) -> bool:
    """Let a participant's data be used again; return whether they were not before.

    Raises:
        WebappError: It cannot be written down; then nothing is done.
    """
    if participant.restricted_at is None:
        return False
    record.note_again(session, Deed.RELEASED, mark_of(participant.ref), now)
    mark_restricted(session, participant, None, now)
    return True


def mark_restricted(
    session: Session,
    participant: Participant,
    since: datetime | None,
    at: datetime,
) -> None:
    """Store since when the data are restricted, None where they are not, and the event of it."""
    participant.restricted_at = since
    # What was made of their answers is made anew, without them or with them.
    drop_summaries(session, participant)
    kind = EventKind.RELEASED if since is None else EventKind.RESTRICTED
    session.add(Event(participant_id=participant.id, kind=kind, detail={}, at=at))
    session.flush()
