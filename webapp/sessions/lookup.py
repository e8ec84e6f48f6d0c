"""Find the run or the participant of a request."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from webapp.core.i18n import gettext
from webapp.database.models import Link, Participant, Run
from webapp.errors import RequestError

# Built once, because every participant request begins with one of these.
_FIND_FOR_READING = select(Participant, Run).join(Run).where(Participant.ref == bindparam("ref"))
_FIND_RUN = select(Run).where(Run.ref == bindparam("ref"))
_FIND_FOR_WRITING = _FIND_FOR_READING.with_for_update(of=Participant)


def find_run(session: Session, ref: str) -> Run:
    """Return the run with this reference.

    Raises:
        RequestError: There is no such run.
    """
    run = session.scalar(_FIND_RUN, {"ref": ref})
    if run is None:
        raise RequestError(
            gettext("There is no study at this address. Please check the link you were given."),
            status=404,
            code="unknown_run",
        )
    return run


def find_participant(
    session: Session, ref: str, now: datetime, session_days: int, *, writing: bool = False
) -> tuple[Participant, Run]:
    """Return the participant with this reference, and their run.

    Args:
        session: An open session.
        ref: The reference from the token.
        now: The time, used to check the link's age.
        session_days: How many days after arrival a link works.
        writing: Whether to lock the participant's record for a change, so that no other request of
            the same participant changes it meanwhile.

    Raises:
        RequestError: There is no such participant, or the link has expired.
    """
    row = session.execute(_FIND_FOR_WRITING if writing else _FIND_FOR_READING, {"ref": ref}).first()
    if row is None:
        raise RequestError(
            gettext("There is no session at this address. Please check the link you were given."),
            status=404,
            code="unknown_participant",
        )
    participant, run = row
    if now - participant.arrived_at > timedelta(days=session_days):
        raise RequestError(
            gettext("This link was valid for %(days)s days and has expired.", days=session_days),
            status=401,
            code="expired_token",
        )
    return participant, run


PARAMETER = "link"
MULTI, SINGLE, CODE = "multi", "single", "code"


def link_person_id(link: Link | None) -> str | None:
    """Return the id that identifies the user of a link; None for no link or a multi-use link."""
    return None if link is None or link.kind == MULTI else f"{PARAMETER}:{link.token}"


def find_person_of_link(session: Session, run: Run, link: Link | None) -> Participant | None:
    """Return who came by a link or a code for one person; None if nobody did."""
    person_id = link_person_id(link)
    if person_id is None:
        return None
    of_run = Participant.run_id == run.id, Participant.platform_id == person_id
    return session.scalar(select(Participant).where(*of_run))


def is_of_link(person: str | None) -> bool:
    """Return whether no platform identifies the participant (an invitation link may do so)."""
    return person is None or person.startswith(f"{PARAMETER}:")
