"""Assent: the participant agrees too, after somebody else consented for them.

A child's parent or an adult's guardian reads the consent text and consents; then the participant
reads a text of their own. Nobody gets a place before both have agreed. Both texts are kept with
their versions.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import Ending, EventKind, State
from experiment.studies.study import Study
from webapp.database.models import Event, Participant, Run
from webapp.sessions.consent import Decision, give_place
from webapp.sessions.consent_texts import agreed_text
from webapp.sessions.leave import leave
from webapp.sessions.sharing import Sender


def has_assented(session: Session, participant: Participant, study: Study) -> bool:
    """Return whether a participant agreed, or need not because nobody consented for them."""
    if not study.taking_part.assent:
        return True
    noted = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ASSENTED
    )
    return session.scalar(noted.limit(1)) is not None


def assent(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    decision: Decision,
    now: datetime,
    sender: Sender | None = None,
) -> None:
    """Take what the participant decided: they go on, or they leave.

    Args:
        session: An open session that holds the participant's lock.
        run: The run they came to.
        participant: For whom somebody consented, and who has no place yet; for anybody else, and
            for who decided already, nothing happens.
        study: The run's study.
        decision: Theirs.
        now: The time.
        sender: Where they come from; None for somebody who is not counted.

    Raises:
        NoRoomError: They agree, nothing else is asked, and no place is free.
    """
    waiting = participant.state == State.ARRIVED and participant.consented_at is not None
    if not waiting or has_assented(session, participant, study):
        return
    if decision is Decision.DECLINE:
        leave(session, participant, Ending.DECLINED, now)
        return
    text = agreed_text(session, run, study.text("assent"), now)
    detail = {"consent_text": text.sha256, "version": str(text.version)}
    session.add(
        Event(participant_id=participant.id, kind=EventKind.ASSENTED, detail=detail, at=now)
    )
    session.flush()
    if not (study.screening or study.comprehension):
        give_place(session, run, study, participant, now, sender)
