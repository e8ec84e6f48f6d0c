"""Match a participant with the platform's assignment, also if two browsers claim one worker's id.

A platform that does not sign its links puts the worker's id into a link, and anybody can forge such
a link. The first browser with an id works under it. A later browser with the same id and another
assignment, which cannot show that it holds the session, gets a session of its own without the id: a
forged id takes over no session. In the end the platform reports which of the assignments was the
worker's, and that session gets the id (docs/decisions/forged-arrivals.md).
"""

from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, not_, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from experiment.participation import State, move
from webapp.core.i18n import gettext
from webapp.database.models import Assignment, Hit, Participant, Run
from webapp.errors import RequestError
from webapp.recruiters.arrivals import Acceptance, Arrival, other_study
from webapp.recruiters.statuses import (
    ACTIVE_STATUSES,
    RETURNED_STATUSES,
    SUBMITTED_STATUSES,
    AssignmentStatus,
)
from webapp.sessions.assign import free_places
from webapp.sessions.lease import ACTIVE_STATES


def accept_assignment(
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
    assignment = _find_assignment(session, worker_id, acceptance)
    if assignment is None or assignment.status not in SUBMITTED_STATUSES:
        _return_others(session, participant, acceptance)
    if assignment is None:
        try:
            with session.begin_nested():
                assignment = _add_assignment(session, run, participant, worker_id, acceptance, now)
        except IntegrityError:
            # The same page was sent twice, and the other request was first.
            assignment = _find_assignment(session, worker_id, acceptance)
            if assignment is None:
                raise
    if assignment.status not in SUBMITTED_STATUSES:
        assignment.status = AssignmentStatus.ACTIVE
    assignment.participant_id = participant.id
    assignment.submit_to = assignment.submit_to or acceptance.submit_to
    session.flush()
    return assignment


# Built once, because every end of a visit runs it; SQLAlchemy would expand IN lists each time. A
# platform may assign an id again that the participant had returned.
_CURRENT_ASSIGNMENT = (
    select(Assignment)
    .where(Assignment.participant_id == bindparam("who"))
    .order_by(
        not_(or_(*(Assignment.status == status for status in SUBMITTED_STATUSES))),
        or_(*(Assignment.status == status for status in RETURNED_STATUSES)),
        Assignment.id.desc(),
    )
    .limit(1)
)


def find_current_assignment(session: Session, participant: Participant) -> Assignment | None:
    """Return the participant's present or last assignment; None without one.

    A worker who has submitted one cannot work on another.
    """
    return session.scalar(_CURRENT_ASSIGNMENT, {"who": participant.id})


def is_known_participant(session: Session, run: Run, platform_id: str | None) -> bool:
    """Return whether the platform id belongs to an existing participant of the run."""
    if platform_id is None:
        return False
    query = select(Participant.id).where(
        Participant.run_id == run.id, Participant.platform_id == platform_id
    )
    return session.scalar(query) is not None


def _find_assignment(
    session: Session, worker_id: str | None, acceptance: Acceptance
) -> Assignment | None:
    return session.scalar(
        select(Assignment).where(
            Assignment.platform_id == acceptance.assignment_id,
            Assignment.worker_id == worker_id,
        )
    )


def _return_others(session: Session, participant: Participant, acceptance: Acceptance) -> None:
    """Mark the participant's other assignments, and others' claims to this one, as returned."""
    other_assignments = session.scalars(
        select(Assignment).where(
            or_(
                Assignment.participant_id == participant.id,
                Assignment.platform_id == acceptance.assignment_id,
            )
        )
    ).all()
    for assignment in other_assignments:
        if assignment.status in SUBMITTED_STATUSES:
            raise (
                already_submitted_error()
                if assignment.participant_id == participant.id
                else _assignment_in_use_error()
            )
        assignment.status = AssignmentStatus.RETURNED


def already_submitted_error() -> RequestError:
    """Return the error for a participant who has already submitted their work."""
    return RequestError(
        gettext(
            "You have taken part already, and your work was handed in. Please return this"
            " assignment, so that somebody else can take it."
        ),
        status=409,
        code="taken_part",
    )


def _assignment_in_use_error() -> RequestError:
    return RequestError(
        gettext("Somebody else has handed in this assignment. Please return it."),
        status=409,
        code="assignment_in_use",
    )


def _add_assignment(
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


# Stored with a visit if the platform could not be asked about the participant.
UNCONFIRMED = "unconfirmed"


def refuse_other_offers(session: Session, run: Run, acceptance: Acceptance) -> None:
    """Check that an assignment belongs to an offer of the run.

    Raises:
        ArrivalError: The run has other offers on the platform.
    """
    offers = session.execute(
        select(Hit.platform_id, Hit.called_at).where(Hit.run_id == run.id)
    ).all()
    offer_ids = {offer_id for offer_id, _ in offers}
    # A worker may arrive before the platform's answer to posting the offer.
    is_posting = any(offer_id is None and called_at for offer_id, called_at in offers)
    if acceptance.hit_id not in offer_ids and not is_posting:
        raise other_study(acceptance.offer_parameter)


def resolve_participant(
    session: Session, run: Run, arrival: Arrival, session_ref: str | None
) -> tuple[Participant | None, str | None]:
    """Return the participant who continues, or the platform id under which a new one begins.

    Args:
        session: An open session.
        run: The run they came to.
        arrival: The link's data.
        session_ref: The reference of the participant whose session the browser holds; None without.

    Returns:
        The participant, None for a new one; and the new participant's platform id, None if another
        participant works under that id.

    Raises:
        RequestError: The worker of that id has submitted another assignment.
    """
    acceptance, worker_id = arrival.acceptance, arrival.platform_id
    if acceptance is None or worker_id is None:
        return None, worker_id
    rows = session.execute(
        select(Assignment, Participant)
        .join(Participant, Participant.id == Assignment.participant_id)
        .where(Assignment.run_id == run.id, Assignment.worker_id == worker_id)
    ).all()
    for assignment, participant in rows:
        if assignment.platform_id == acceptance.assignment_id:
            return participant, worker_id
    for _, participant in rows:
        if session_ref is not None and participant.ref == session_ref:
            return participant, worker_id
    if any(assignment.status in SUBMITTED_STATUSES for assignment, _ in rows):
        raise already_submitted_error()
    holder = _find_holder(session, run.id, worker_id)
    return None, worker_id if holder is None else None


def refuse_unconfirmed(arrival: Arrival, is_known: bool | None, *, is_second: bool) -> None:
    """Check that the platform knows an arriving participant.

    While the platform does not answer, only the first participant of an id is admitted.

    Args:
        arrival: The link's data.
        is_known: The platform's answer; None if it does not answer.
        is_second: Whether this would be a second participant under one id.

    Raises:
        ArrivalError: The platform has not sent the participant, or its answer is needed and
            missing.
    """
    if arrival.acceptance is not None and (is_known is False or (is_known is None and is_second)):
        raise other_study(arrival.acceptance.offer_parameter)


def confirm_claim(
    session: Session, run_id: int, assignment: Assignment, status: AssignmentStatus, now: datetime
) -> int | None:
    """Settle browsers' claims to a reported assignment, and return its participant's id.

    Args:
        session: An open session that writes.
        run_id: The run.
        assignment: The stored assignment, with the participant who works on it.
        status: The platform's status of the assignment.
        now: The time.
    """
    holder = _find_holder(session, run_id, assignment.worker_id)
    claimant = assignment.participant_id and session.get_one(Participant, assignment.participant_id)
    if not claimant:
        return holder.id if holder else None
    if status not in (*SUBMITTED_STATUSES, *ACTIVE_STATUSES):
        return claimant.id
    if holder is not None and holder.id != claimant.id:
        if _load_platform_assignments(
            session, Assignment.participant_id == holder.id, SUBMITTED_STATUSES
        ):
            # The worker has submitted another assignment: this is a second session of the same
            # person.
            free_participant_place(session, claimant)
            return holder.id
        holder.platform_id = None
        session.flush()
        free_participant_place(session, holder)
    if claimant.platform_id is None:
        claimant.platform_id = assignment.worker_id
        session.flush()
    is_other_claim = (
        Assignment.worker_id == assignment.worker_id,
        Assignment.participant_id != claimant.id,
    )
    for row in _load_platform_assignments(
        session, Assignment.run_id == run_id, ACTIVE_STATUSES, *is_other_claim
    ):
        row.status, row.seen_at = AssignmentStatus.RETURNED, now
        if row.participant_id is not None:
            free_participant_place(session, session.get_one(Participant, row.participant_id))
    return claimant.id


def free_participant_place(session: Session, participant: Participant) -> None:
    """Free the place of a participant whose claim or assignment is gone.

    A finished session keeps its place, unless it has no platform id: its owner would stay unknown.
    """
    if participant.state in ACTIVE_STATES:
        participant.state = move(State(participant.state), State.ABANDONED)
        free_places(session, [participant.id])
    elif participant.platform_id is None:
        free_places(session, [participant.id])


def _find_holder(session: Session, run_id: int, worker_id: str) -> Participant | None:
    has_worker_id = (Participant.run_id == run_id, Participant.platform_id == worker_id)
    return session.scalar(select(Participant).where(*has_worker_id))


def _load_platform_assignments(
    session: Session,
    condition: ColumnElement[bool],
    statuses: tuple[AssignmentStatus, ...],
    *further_conditions: ColumnElement[bool],
) -> list[Assignment]:
    query = select(Assignment).where(
        condition, Assignment.status.in_(statuses), *further_conditions
    )
    return list(session.scalars(query).all())
