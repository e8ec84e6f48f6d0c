"""Match a participant with the platform's assignment."""

from datetime import datetime

from sqlalchemy import bindparam, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from webapp.core.i18n import gettext
from webapp.database.models import Assignment, Hit, Participant, Run
from webapp.errors import RequestError
from webapp.recruiters.arrivals import Acceptance
from webapp.recruiters.statuses import RETURNED_STATUSES, SUBMITTED_STATUSES, AssignmentStatus


def accept(
    session: Session,
    run: Run,
    participant: Participant,
    acceptance: Acceptance,
    now: datetime,
    *,
    worker_id: str | None = None,
) -> Assignment:
    """Return the assignment under which the participant works from now on.

    A participant who returned one assignment and accepted another continues the same session under
    the new one.

    Args:
        session: An open session that writes.
        run: The run.
        participant: The participant.
        acceptance: The accepted assignment.
        now: The time.
        worker_id: The worker's id in the link; by default the participant's platform id.

    Raises:
        RequestError: Another participant has submitted this assignment, or the participant has
            already submitted their work.
    """
    worker_id = worker_id or participant.platform_id
    known = _known(session, worker_id, acceptance)
    if known is None or known.status not in SUBMITTED_STATUSES:
        _leave_others(session, participant, acceptance)
    if known is None:
        try:
            with session.begin_nested():
                known = _new(session, run, participant, worker_id, acceptance, now)
        except IntegrityError:
            # The same page was sent twice, and the other request was first.
            known = _known(session, worker_id, acceptance)
            if known is None:
                raise
    if known.status not in SUBMITTED_STATUSES:
        known.status = AssignmentStatus.ACTIVE
    known.participant_id = participant.id
    known.submit_to = known.submit_to or acceptance.submit_to
    session.flush()
    return known


# Built once, because every end of a visit runs it. A platform may assign an id again that the
# participant had returned.
_CURRENT = (
    select(Assignment)
    .where(Assignment.participant_id == bindparam("who"))
    .order_by(
        Assignment.status.not_in(SUBMITTED_STATUSES),
        Assignment.status.in_(RETURNED_STATUSES),
        Assignment.id.desc(),
    )
    .limit(1)
)


def current_assignment(session: Session, participant: Participant) -> Assignment | None:
    """Return the participant's present or last assignment; None without one.

    A worker who has submitted one cannot work on another.
    """
    return session.scalar(_CURRENT, {"who": participant.id})


def is_returning(session: Session, run: Run, platform_id: str | None) -> bool:
    """Return whether the platform id belongs to an existing participant of the run."""
    if platform_id is None:
        return False
    known = select(Participant.id).where(
        Participant.run_id == run.id, Participant.platform_id == platform_id
    )
    return session.scalar(known) is not None


def _known(session: Session, worker_id: str | None, acceptance: Acceptance) -> Assignment | None:
    return session.scalar(
        select(Assignment).where(
            Assignment.platform_id == acceptance.assignment_id,
            Assignment.worker_id == worker_id,
        )
    )


def _leave_others(session: Session, participant: Participant, acceptance: Acceptance) -> None:
    """Mark the participant's other assignments, and others' claims to this one, as returned."""
    others = session.scalars(
        select(Assignment).where(
            or_(
                Assignment.participant_id == participant.id,
                Assignment.platform_id == acceptance.assignment_id,
            )
        )
    ).all()
    for other in others:
        if other.status in SUBMITTED_STATUSES:
            raise taken_part() if other.participant_id == participant.id else _in_use()
        other.status = AssignmentStatus.RETURNED


def taken_part() -> RequestError:
    """Return the error for a participant who has already submitted their work."""
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
    session: Session,
    run: Run,
    participant: Participant,
    worker_id: str | None,
    acceptance: Acceptance,
    now: datetime,
) -> Assignment:
    hit = select(Hit.id).where(Hit.run_id == run.id, Hit.platform_id == acceptance.hit_id)
    assignment = Assignment(
        run_id=run.id,
        hit_id=session.scalar(hit),
        platform_id=acceptance.assignment_id,
        participant_id=participant.id,
        worker_id=worker_id,
        status=AssignmentStatus.ACTIVE,
        submit_to=acceptance.submit_to,
        receipt="",
        accepted_at=now,
    )
    session.add(assignment)
    return assignment
