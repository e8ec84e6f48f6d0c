"""Finding who and what a participant's request is about."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.errors import RequestError
from webapp.models import Participant, Run


def find_run(session: Session, ref: str) -> Run:
    """Return the run of that reference.

    Raises:
        RequestError: There is none.
    """
    run = session.scalar(select(Run).where(Run.ref == ref))
    if run is None:
        raise RequestError(
            "There is no study at this address. Please check the link you were given.",
            status=404,
            code="unknown_run",
        )
    return run


def find_participant(
    session: Session, ref: str, now: datetime, session_days: int, *, writing: bool = False
) -> tuple[Participant, Run]:
    """Return the participant of that reference and their run.

    Args:
        session: An open session.
        ref: The reference a token stood for.
        now: The time, against which the link's age is measured.
        session_days: How many days after arrival a link works.
        writing: Whether the participant's record is about to change: then no other request of
            the same participant changes it meanwhile, on databases with many writers too.

    Raises:
        RequestError: There is no such participant, or the link is too old.
    """
    query = select(Participant, Run).join(Run).where(Participant.ref == ref)
    found = session.execute(query.with_for_update(of=Participant) if writing else query).first()
    if found is None:
        raise RequestError(
            "There is no session at this address. Please check the link you were given.",
            status=404,
            code="unknown_participant",
        )
    participant, run = found
    if now - participant.arrived_at > timedelta(days=session_days):
        raise RequestError(
            f"This link was good for {session_days} days and has expired.",
            status=401,
            code="expired_token",
        )
    return participant, run
