"""Workers' actions: find, accept, return and submit HITs."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from marketplace.faults import FaultPlan
from marketplace.mturk.errors import WorkerRefusedError
from marketplace.mturk.events import tell
from marketplace.mturk.expiry import tell_if_reviewable
from marketplace.mturk.ids import new_id
from marketplace.mturk.qualifications.matching import may
from marketplace.mturk.question import answer_xml
from marketplace.mturk.tables import Assignment, Hit, HitType, Worker

_TAKING = ("accepted", "submitted", "approved", "rejected")
# The frame's own parameters, which are not part of the answers.
_RESERVED = frozenset({"assignmentId", "hitId", "turkSubmitTo", "workerId"})


@dataclass(frozen=True, slots=True)
class Group:
    """A listing as one worker sees it.

    Attributes:
        type: The HIT type.
        hits: The HITs that the worker can accept now, oldest first.
    """

    type: HitType
    hits: list[Hit]


def groups(session: Session, worker: Worker, now: datetime) -> list[Group]:
    """Return all listings with work that the worker may see, newest first."""
    return _seen(session, worker, _open_hits(worker, now))


def find_group(session: Session, worker: Worker, group_id: str, now: datetime) -> Group:
    """Return one listing.

    Raises:
        WorkerRefusedError: It is unknown, hidden from the worker, or has no work left.
    """
    hits = _open_hits(worker, now).where(Hit.type.has(HitType.group_id == group_id))
    for each in _seen(session, worker, hits):
        return each
    raise WorkerRefusedError(
        "no_work", "There are no more of these HITs available to you.", status=404
    )


def _seen(session: Session, worker: Worker, hits: Select[Any]) -> list[Group]:
    found: dict[int, Group] = {}
    for hit in session.scalars(hits):
        found.setdefault(hit.type_id, Group(hit.type, [])).hits.append(hit)
    seen = [each for each in found.values() if may(session, worker, each.type, "discover")]
    return sorted(seen, key=lambda each: -each.hits[-1].id)


def _open_hits(worker: Worker, now: datetime) -> Select[Any]:
    taken = (
        select(func.count())
        .where(Assignment.hit_id == Hit.id, Assignment.status.in_(_TAKING))
        .scalar_subquery()
    )
    own = exists().where(
        Assignment.hit_id == Hit.id,
        Assignment.status.in_(_TAKING),
        Assignment.worker_id == worker.worker_id,
    )
    return (
        select(Hit)
        .where(Hit.disposed_at.is_(None), Hit.expires_at > now, taken < Hit.max_assignments, ~own)
        .order_by(Hit.id)
    )


def accept(
    session: Session, worker: Worker, group_id: str, now: datetime, faults: FaultPlan
) -> Assignment:
    """Accept a HIT of the listing for the worker, and return the assignment.

    Raises:
        WorkerRefusedError: No HIT is left, or the worker is not qualified.
    """
    group = find_group(session, worker, group_id, now)
    if not may(session, worker, group.type, "accept"):
        raise WorkerRefusedError(
            "not_qualified", "You do not meet the qualifications of this HIT.", status=403
        )
    hit = group.hits[0]
    assignment = Assignment(
        assignment_id=_assignment_id(session, hit, faults),
        hit=hit,
        worker_id=worker.worker_id,
        status="accepted",
        accepted_at=now,
        deadline=now + timedelta(seconds=hit.type.duration_s),
    )
    session.add(assignment)
    session.flush()
    tell(session, "AssignmentAccepted", hit, now, assignment)
    return assignment


def _assignment_id(session: Session, hit: Hit, faults: FaultPlan) -> str:
    left = session.scalars(
        select(Assignment.assignment_id).where(
            Assignment.hit_id == hit.id, Assignment.status.in_(("returned", "abandoned"))
        )
    ).all()
    used = set(
        session.scalars(
            select(Assignment.assignment_id).where(
                Assignment.assignment_id.in_(left), Assignment.status.in_(_TAKING)
            )
        )
    )
    free = [each for each in left if each not in used]
    return free[0] if free and faults.strike("accept", "id_reused") else new_id()


def own_assignment(session: Session, worker: Worker, assignment_id: str) -> Assignment:
    """Return the worker's assignment.

    Raises:
        WorkerRefusedError: The worker has no assignment with that identifier.
    """
    found = session.scalars(
        select(Assignment)
        .where(Assignment.assignment_id == assignment_id, Assignment.worker_id == worker.worker_id)
        .order_by(Assignment.id.desc())
    ).first()
    if found is None:
        raise WorkerRefusedError("unknown", "You have no such HIT.", status=404)
    return found


def give_back(session: Session, worker: Worker, assignment_id: str, now: datetime) -> Assignment:
    """Return an accepted assignment that the worker no longer wants to do.

    Raises:
        WorkerRefusedError: The worker no longer has the assignment.
    """
    assignment = own_assignment(session, worker, assignment_id)
    if assignment.status != "accepted":
        raise WorkerRefusedError(assignment.status, f"This HIT is {assignment.status} already.")
    assignment.status = "returned"
    tell(session, "AssignmentReturned", assignment.hit, now, assignment)
    tell_if_reviewable(session, assignment.hit, now)
    return assignment


def submit(session: Session, fields: Collection[tuple[str, str]], now: datetime) -> Assignment:
    """Submit the assignment of a form sent from the frame, and return the assignment.

    Args:
        session: The database.
        fields: The form's fields; the content is untrusted.
        now: The time.

    Raises:
        WorkerRefusedError: The form lacks a field, or the assignment is not in progress.
    """
    assignment = _latest(session, [value for name, value in fields if name == "assignmentId"])
    answers = [(name, value) for name, value in fields if name not in _RESERVED]
    if not answers:
        raise WorkerRefusedError(
            "no_answer", "A submission needs at least one field besides assignmentId.", status=400
        )
    if assignment.status != "accepted":
        raise WorkerRefusedError(assignment.status, f"This HIT is {assignment.status} already.")
    assignment.answer = answer_xml(answers)
    assignment.status, assignment.submitted_at = "submitted", now
    assignment.submission = (session.scalar(select(func.max(Assignment.submission))) or 0) + 1
    assignment.auto_approval_at = now + timedelta(seconds=assignment.hit.type.auto_approval_s)
    tell(session, "AssignmentSubmitted", assignment.hit, now, assignment)
    tell_if_reviewable(session, assignment.hit, now)
    return assignment


def _latest(session: Session, ids: list[str]) -> Assignment:
    if not ids or not ids[0]:
        raise WorkerRefusedError(
            "no_assignment_id", "A submission needs the field assignmentId.", status=400
        )
    found = session.scalars(
        select(Assignment).where(Assignment.assignment_id == ids[0]).order_by(Assignment.id.desc())
    ).first()
    if found is None:
        raise WorkerRefusedError("unknown", "There is no such assignment.", status=404)
    return found
