"""Two browsers with one worker's id: which of them the platform means.

A platform that signs nothing puts the worker's id into a link, and anybody can forge such a link.
The first browser with an id works under it. A later browser with the same id and another
assignment, which cannot show that it holds the session, gets a session of its own without the id:
nobody takes over a session by writing an id. In the end the platform reports which of the
assignments was the worker's, and that session gets the id (docs/decisions/forged-arrivals.md).
"""

from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from webapp.database.models import Assignment, Hit, Participant, Run
from webapp.recruiters.arrivals import Acceptance, Arrival, other_study
from webapp.recruiters.statuses import ACTIVE_STATUSES, SUBMITTED_STATUSES, AssignmentStatus
from webapp.recruitment.assignments import taken_part
from webapp.sessions.assign import free_places
from webapp.sessions.lease import ACTIVE_STATES

# Kept with the visit of somebody whom the platform could not be asked about.
UNCONFIRMED = "unconfirmed"


def refuse_other_offers(session: Session, run: Run, acceptance: Acceptance) -> None:
    """Let pass only work of an offer of the run's.

    Raises:
        ArrivalError: The platform's offers of the run are others.
    """
    offers = session.execute(
        select(Hit.platform_id, Hit.called_at).where(Hit.run_id == run.id)
    ).all()
    known = {offer_id for offer_id, _ in offers}
    # Somebody may be faster than the answer to our posting it.
    is_posting = any(offer_id is None and called_at for offer_id, called_at in offers)
    if acceptance.hit_id not in known and not is_posting:
        raise other_study(acceptance.offer_parameter)


def name_to_work_under(
    session: Session, run: Run, arrival: Arrival, shown: str | None
) -> tuple[Participant | None, str | None]:
    """Return the participant who goes on, or else the name under which somebody begins.

    Args:
        session: An open session.
        run: The run they came to.
        arrival: What their link says.
        shown: The reference of the participant whose session their browser holds; None without.

    Returns:
        The participant, None for a newcomer; and the platform's id of the newcomer, None where
        somebody else works under it.

    Raises:
        RequestError: The worker of that id has handed in another assignment.
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
        if shown is not None and participant.ref == shown:
            return participant, worker_id
    if any(assignment.status in SUBMITTED_STATUSES for assignment, _ in rows):
        raise taken_part()
    holder = _holder(session, run.id, worker_id)
    return None, worker_id if holder is None else None


def refuse_unconfirmed(arrival: Arrival, known: bool | None, *, is_second: bool) -> None:
    """Let pass only whom the platform knows, or the first of a name while it does not answer.

    Args:
        arrival: What their link says.
        known: What the platform says of it; None where it does not answer.
        is_second: Whether they would be a second participant under one name.

    Raises:
        ArrivalError: The platform has not sent them, or nobody knows whether it has.
    """
    if arrival.acceptance is not None and (known is False or (known is None and is_second)):
        raise other_study(arrival.acceptance.offer_parameter)


def confirm_claim(
    session: Session, run_id: int, assignment: Assignment, status: AssignmentStatus, now: datetime
) -> int | None:
    """Return whose a reported assignment is, and settle other browsers' claims to it.

    Args:
        session: An open session that writes.
        run_id: The run.
        assignment: The assignment as stored here, with the participant who works on it.
        status: What the platform says of it.
        now: The time.
    """
    holder = _holder(session, run_id, assignment.worker_id)
    claimant = assignment.participant_id and session.get_one(Participant, assignment.participant_id)
    if not claimant:
        return holder.id if holder else None
    if status not in (*SUBMITTED_STATUSES, *ACTIVE_STATUSES):
        return claimant.id
    if holder is not None and holder.id != claimant.id:
        if _rows_of(session, Assignment.participant_id == holder.id, SUBMITTED_STATUSES):
            # The worker has handed in another one: this is a second piece of the same person's.
            give_up(session, claimant)
            return holder.id
        holder.platform_id = None
        session.flush()
        give_up(session, holder)
    if claimant.platform_id is None:
        claimant.platform_id = assignment.worker_id
        session.flush()
    others = Assignment.worker_id == assignment.worker_id, Assignment.participant_id != claimant.id
    for row in _rows_of(session, Assignment.run_id == run_id, ACTIVE_STATUSES, *others):
        row.status, row.seen_at = AssignmentStatus.RETURNED, now
        if row.participant_id is not None:
            give_up(session, session.get_one(Participant, row.participant_id))
    return claimant.id


def give_up(session: Session, participant: Participant) -> None:
    """Free the place of somebody whose claim or assignment is gone.

    A finished session keeps its place, unless it has no id: nobody will ever learn whose it is.
    """
    if participant.state in ACTIVE_STATES:
        participant.state = move(State(participant.state), State.ABANDONED)
        free_places(session, [participant.id])
    elif participant.platform_id is None:
        free_places(session, [participant.id])


def _holder(session: Session, run_id: int, worker_id: str) -> Participant | None:
    named = (Participant.run_id == run_id, Participant.platform_id == worker_id)
    return session.scalar(select(Participant).where(*named))


def _rows_of(
    session: Session,
    whose: ColumnElement[bool],
    statuses: tuple[AssignmentStatus, ...],
    *more: ColumnElement[bool],
) -> list[Assignment]:
    found = select(Assignment).where(whose, Assignment.status.in_(statuses), *more)
    return list(session.scalars(found).all())
