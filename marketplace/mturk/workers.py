"""Workers: profiles, qualification requests, and HITs found, accepted, returned and submitted."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from marketplace.control import FaultPlan
from marketplace.mturk.errors import WorkerRefusedError
from marketplace.mturk.events import notify_subscribers
from marketplace.mturk.operations.qualifications import grant_qualification
from marketplace.mturk.qualifications import is_qualified
from marketplace.mturk.question import answer_xml
from marketplace.mturk.store import notify_if_reviewable
from marketplace.mturk.tables import (
    Assignment,
    Grant,
    Hit,
    HitType,
    QualificationRequest,
    QualificationType,
    Worker,
    new_id,
)


def _has_format(form: str, message: str) -> AfterValidator:
    """Return a validator that refuses text of another form, with a message."""

    def check_format(text: str) -> str:
        if not re.fullmatch(form, text):
            raise ValueError(message)
        return text

    return AfterValidator(check_format)


_WorkerId = Annotated[
    str,
    Field(max_length=64),
    _has_format(
        "A[A-Z0-9]+", "a worker ID begins with A and goes on with capital letters and digits"
    ),
]
_Country = Annotated[str, _has_format("([A-Z]{2})?", "a country is two capital letters, e.g. US")]
_Subdivision = Annotated[
    str, _has_format("([A-Z0-9]{2})?", "a state or province is two capital letters, e.g. CA")
]


class Profile(BaseModel):
    """The attributes of a worker; omitted fields keep their values.

    Attributes:
        worker_id: Letters and digits, the first an A.
        country: Two letters, e.g. US.
        subdivision: Two letters, e.g. CA; may be empty.
        approved_percent: The approval rate; null computes it from the work done here.
        approved_before: HITs approved before the worker came to this marketplace.
        masters: Whether the worker has the Masters qualification.
        adult: Whether the worker agreed to see adult content.
    """

    model_config = ConfigDict(extra="forbid")

    worker_id: _WorkerId
    country: _Country = "US"
    subdivision: _Subdivision = ""
    approved_percent: int | None = Field(default=None, ge=0, le=100)
    approved_before: int = Field(default=0, ge=0, le=10_000_000)
    masters: bool = False
    adult: bool = False


def save_profile(session: Session, profile: Profile) -> Worker:
    """Create or update the profile's worker, and return them."""
    worker = find_worker(session, profile.worker_id)
    facts = profile.model_dump(exclude_unset=worker is not None)
    if worker is None:
        worker = Worker()
        session.add(worker)
    for name, value in facts.items():
        setattr(worker, name, value)
    session.flush()
    return worker


def find_worker(session: Session, worker_id: str) -> Worker | None:
    """Return the worker who signed in under that identifier, or None."""
    return session.scalar(select(Worker).where(Worker.worker_id == worker_id))


_TAKEN_STATUSES = ("accepted", "submitted", "approved", "rejected")
# The frame's own parameters, which are not part of the answers.
_RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "turkSubmitTo", "workerId"})


@dataclass(frozen=True, slots=True)
class Group:
    """A listing as one worker sees it.

    Attributes:
        type: The HIT type.
        hits: The HITs that the worker can accept now, oldest first.
    """

    type: HitType
    hits: list[Hit]


def list_groups(session: Session, worker: Worker, now: datetime) -> list[Group]:
    """Return all listings with work that the worker may see, newest first."""
    return _visible_groups(session, worker, _select_open_hits(worker, now))


def find_group(session: Session, worker: Worker, group_id: str, now: datetime) -> Group:
    """Return one listing.

    Raises:
        WorkerRefusedError: It is unknown, hidden from the worker, or has no work left.
    """
    hits = _select_open_hits(worker, now).where(Hit.type.has(HitType.group_id == group_id))
    for group in _visible_groups(session, worker, hits):
        return group
    raise WorkerRefusedError(
        "no_work", "There are no more of these HITs available to you.", status=404
    )


def _visible_groups(session: Session, worker: Worker, hits: Select[Any]) -> list[Group]:
    groups_by_type: dict[int, Group] = {}
    for hit in session.scalars(hits):
        groups_by_type.setdefault(hit.type_id, Group(hit.type, [])).hits.append(hit)
    visible = [
        group
        for group in groups_by_type.values()
        if is_qualified(session, worker, group.type, "discover")
    ]
    return sorted(visible, key=lambda group: -group.hits[-1].id)


def _select_open_hits(worker: Worker, now: datetime) -> Select[Any]:
    n_taken = (
        select(func.count())
        .where(Assignment.hit_id == Hit.id, Assignment.status.in_(_TAKEN_STATUSES))
        .scalar_subquery()
    )
    has_own = exists().where(
        Assignment.hit_id == Hit.id,
        Assignment.status.in_(_TAKEN_STATUSES),
        Assignment.worker_id == worker.worker_id,
    )
    return (
        select(Hit)
        .where(
            Hit.disposed_at.is_(None), Hit.expires_at > now, n_taken < Hit.max_assignments, ~has_own
        )
        .order_by(Hit.id)
    )


def accept_hit(
    session: Session, worker: Worker, group_id: str, now: datetime, faults: FaultPlan
) -> Assignment:
    """Accept a HIT of the listing for the worker, and return the assignment.

    Raises:
        WorkerRefusedError: No HIT is left, or the worker is not qualified.
    """
    group = find_group(session, worker, group_id, now)
    if not is_qualified(session, worker, group.type, "accept"):
        raise WorkerRefusedError(
            "not_qualified", "You do not meet the qualifications of this HIT.", status=403
        )
    hit = group.hits[0]
    assignment = Assignment(
        assignment_id=_choose_assignment_id(session, hit, faults),
        hit=hit,
        worker_id=worker.worker_id,
        status="accepted",
        accepted_at=now,
        deadline=now + timedelta(seconds=hit.type.duration_s),
    )
    session.add(assignment)
    session.flush()
    notify_subscribers(session, "AssignmentAccepted", hit, now, assignment)
    return assignment


def _choose_assignment_id(session: Session, hit: Hit, faults: FaultPlan) -> str:
    returned_ids = session.scalars(
        select(Assignment.assignment_id).where(
            Assignment.hit_id == hit.id, Assignment.status.in_(("returned", "abandoned"))
        )
    ).all()
    used_ids = set(
        session.scalars(
            select(Assignment.assignment_id).where(
                Assignment.assignment_id.in_(returned_ids), Assignment.status.in_(_TAKEN_STATUSES)
            )
        )
    )
    free = [assignment_id for assignment_id in returned_ids if assignment_id not in used_ids]
    return free[0] if free and faults.draw_fault("accept", "id_reused") else new_id()


def find_own_assignment(session: Session, worker: Worker, assignment_id: str) -> Assignment:
    """Return the worker's assignment.

    Raises:
        WorkerRefusedError: The worker has no assignment with that identifier.
    """
    assignment = session.scalars(
        select(Assignment)
        .where(Assignment.assignment_id == assignment_id, Assignment.worker_id == worker.worker_id)
        .order_by(Assignment.id.desc())
    ).first()
    if assignment is None:
        raise WorkerRefusedError("unknown", "You have no such HIT.", status=404)
    return assignment


def return_assignment(
    session: Session, worker: Worker, assignment_id: str, now: datetime
) -> Assignment:
    """Return an accepted assignment that the worker no longer wants to do.

    Raises:
        WorkerRefusedError: The worker no longer has the assignment.
    """
    assignment = find_own_assignment(session, worker, assignment_id)
    if assignment.status != "accepted":
        raise WorkerRefusedError(assignment.status, f"This HIT is {assignment.status} already.")
    assignment.status = "returned"
    notify_subscribers(session, "AssignmentReturned", assignment.hit, now, assignment)
    notify_if_reviewable(session, assignment.hit, now)
    return assignment


def submit_assignment(
    session: Session, fields: Collection[tuple[str, str]], now: datetime
) -> Assignment:
    """Submit the assignment of a form sent from the frame, and return the assignment.

    Args:
        session: The database.
        fields: The form's fields; the content is untrusted.
        now: The time.

    Raises:
        WorkerRefusedError: The form lacks a field, or the assignment is not in progress.
    """
    assignment = _find_latest_assignment(
        session, [value for name, value in fields if name == "assignmentId"]
    )
    answers = [(name, value) for name, value in fields if name not in _RESERVED_FIELDS]
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
    notify_subscribers(session, "AssignmentSubmitted", assignment.hit, now, assignment)
    notify_if_reviewable(session, assignment.hit, now)
    return assignment


def _find_latest_assignment(session: Session, ids: list[str]) -> Assignment:
    if not ids or not ids[0]:
        raise WorkerRefusedError(
            "no_assignment_id", "A submission needs the field assignmentId.", status=400
        )
    assignment = session.scalars(
        select(Assignment).where(Assignment.assignment_id == ids[0]).order_by(Assignment.id.desc())
    ).first()
    if assignment is None:
        raise WorkerRefusedError("unknown", "There is no such assignment.", status=404)
    return assignment


def list_requestable_qualifications(session: Session, worker: Worker) -> list[dict[str, Any]]:
    """Return the active qualification types, and the worker's status for each."""
    types = select(QualificationType).where(
        QualificationType.deleted_at.is_(None), QualificationType.status == "Active"
    )
    return [
        {
            "qualification_type_id": qualification.qualification_type_id,
            "name": qualification.name,
            "description": qualification.description,
            "status": _request_status(session, worker, qualification),
        }
        for qualification in session.scalars(types.order_by(QualificationType.name)).all()
    ]


def request_qualification(session: Session, worker: Worker, type_id: str, now: datetime) -> None:
    """Request a qualification; automatically granted ones are granted immediately.

    Raises:
        WorkerRefusedError: No such type exists, or the worker has it or has requested it already.
    """
    qualification = session.scalar(
        select(QualificationType).where(
            QualificationType.qualification_type_id == type_id,
            QualificationType.deleted_at.is_(None),
            QualificationType.status == "Active",
        )
    )
    if qualification is None:
        raise WorkerRefusedError("unknown", "There is no such qualification.", status=404)
    status = _request_status(session, worker, qualification)
    if status in ("granted", "requested"):
        raise WorkerRefusedError(status, f"This qualification is {status} already.")
    if status == "rejected" and not _may_ask_again(session, worker, qualification, now):
        raise WorkerRefusedError("rejected", "You cannot ask for this qualification again yet.")
    session.add(
        QualificationRequest(
            request_id=new_id(),
            type=qualification,
            worker_id=worker.worker_id,
            state="accepted" if qualification.auto_granted else "pending",
            submitted_at=now,
        )
    )
    if qualification.auto_granted:
        grant_qualification(
            session, qualification, worker.worker_id, qualification.auto_granted_value, now
        )


def _request_status(session: Session, worker: Worker, qualification: QualificationType) -> str:
    grant_status = session.scalar(
        select(Grant.status).where(
            Grant.type_id == qualification.id, Grant.worker_id == worker.worker_id
        )
    )
    if grant_status == "Granted":
        return "granted"
    last_request = _last_request(session, worker, qualification)
    states = {"pending": "requested", "rejected": "rejected"}
    return states.get(last_request.state, "") if last_request else ""


def _may_ask_again(
    session: Session, worker: Worker, qualification: QualificationType, now: datetime
) -> bool:
    last_request = _last_request(session, worker, qualification)
    if last_request is None or qualification.retry_delay_s is None:
        return last_request is None
    return now >= last_request.submitted_at + timedelta(seconds=qualification.retry_delay_s)


def _last_request(
    session: Session, worker: Worker, qualification: QualificationType
) -> QualificationRequest | None:
    return session.scalars(
        select(QualificationRequest)
        .where(
            QualificationRequest.type_id == qualification.id,
            QualificationRequest.worker_id == worker.worker_id,
        )
        .order_by(QualificationRequest.id.desc())
    ).first()
