"""Accepting: which piece of a platform's paid work a participant does here."""

from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from webapp.errors import RequestError
from webapp.language import gettext
from webapp.models import Assignment, Hit, Participant, Run
from webapp.recruiters.base import Acceptance

HANDED_IN = ("submitted", "approved", "rejected")


def accept(
    session: Session, run: Run, participant: Participant, acceptance: Acceptance, now: datetime
) -> Assignment:
    """Return the assignment under which the participant works from now on.

    Who gave one back and accepted another goes on where they were, under the new one.

    Raises:
        RequestError: Somebody else has handed it in, or they have handed in their work already.
    """
    known = _known(session, participant, acceptance)
    if known is None or known.status not in HANDED_IN:
        _leave_others(session, participant, acceptance)
    if known is None:
        try:
            with session.begin_nested():
                known = _new(session, run, participant, acceptance, now)
        except IntegrityError:
            # The same page was sent twice, and the other request came first.
            known = _known(session, participant, acceptance)
            if known is None:
                raise
    if known.status not in HANDED_IN:
        known.status = "accepted"
    known.participant_id = participant.id
    known.submit_to = known.submit_to or acceptance.submit_to
    session.flush()
    return known


def current_assignment(session: Session, participant: Participant) -> Assignment | None:
    """Return the assignment under which the participant works, or worked last; None without one.

    Who has handed one in works under no other.
    """
    return session.scalar(
        select(Assignment)
        .where(Assignment.participant_id == participant.id)
        # A platform may give somebody the id again that they had returned.
        .order_by(
            Assignment.status.not_in(HANDED_IN),
            Assignment.status == "returned",
            Assignment.id.desc(),
        )
        .limit(1)
    )


def has_come(session: Session, run: Run, platform_id: str | None) -> bool:
    """Return whether somebody whom the platform names is a participant of the run already."""
    if platform_id is None:
        return False
    known = select(Participant.id).where(
        Participant.run_id == run.id, Participant.platform_id == platform_id
    )
    return session.scalar(known) is not None


def _known(session: Session, participant: Participant, acceptance: Acceptance) -> Assignment | None:
    return session.scalar(
        select(Assignment).where(
            Assignment.platform_id == acceptance.assignment_id,
            Assignment.worker_id == participant.platform_id,
        )
    )


def _leave_others(session: Session, participant: Participant, acceptance: Acceptance) -> None:
    """Take the participant's other assignments, and others' claims to this one, as returned."""
    others = session.scalars(
        select(Assignment).where(
            or_(
                Assignment.participant_id == participant.id,
                Assignment.platform_id == acceptance.assignment_id,
            )
        )
    ).all()
    for other in others:
        if other.status in HANDED_IN:
            raise _taken_part() if other.participant_id == participant.id else _in_use()
        other.status = "returned"


def _taken_part() -> RequestError:
    return RequestError(
        gettext(
            "You have taken part already, and your work was handed in. Please return this"
            " assignment, so that somebody else can take it."
        ),
        status=409,
        code="taken_part",
    )


def _in_use() -> RequestError:
    return RequestError(
        gettext("Somebody else has handed in this assignment. Please return it."),
        status=409,
        code="assignment_in_use",
    )


def _new(
    session: Session, run: Run, participant: Participant, acceptance: Acceptance, now: datetime
) -> Assignment:
    hit = select(Hit.id).where(Hit.run_id == run.id, Hit.platform_id == acceptance.hit_id)
    assignment = Assignment(
        run_id=run.id,
        hit_id=session.scalar(hit),
        platform_id=acceptance.assignment_id,
        participant_id=participant.id,
        worker_id=participant.platform_id,
        status="accepted",
        submit_to=acceptance.submit_to,
        receipt="",
        accepted_at=now,
    )
    session.add(assignment)
    return assignment
