"""HITs: their states, and their form in API answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import unknown_object_error
from marketplace.mturk.money import format_amount
from marketplace.mturk.tables import Assignment, Hit, HitType

_TAKEN_STATUSES = ("accepted", "submitted", "approved", "rejected")


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """How many of a HIT's places (assignments) are in each state.

    Attributes:
        available: Free; no worker can take one after the HIT has expired.
        pending: Accepted, but neither submitted nor returned.
        submitted: Waiting for review.
        completed: Approved or rejected.
    """

    available: int
    pending: int
    submitted: int
    completed: int


def place_counts(session: Session, hit: Hit) -> PlaceCounts:
    """Return the number of the HIT's places in each state."""
    rows = session.execute(
        select(Assignment.status, func.count())
        .where(Assignment.hit_id == hit.id, Assignment.status.in_(_TAKEN_STATUSES))
        .group_by(Assignment.status)
    )
    counts = dict(rows.all())
    return PlaceCounts(
        available=hit.max_assignments - sum(counts.values()),
        pending=counts.get("accepted", 0),
        submitted=counts.get("submitted", 0),
        completed=counts.get("approved", 0) + counts.get("rejected", 0),
    )


def hit_status(hit: Hit, places: PlaceCounts, now: datetime) -> str:
    """Return the HIT's status by the service's name for it."""
    if hit.disposed_at is not None:
        return "Disposed"
    if hit.expires_at > now and places.available > 0:
        return "Assignable"
    if places.pending:
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"


def find_hit(session: Session, hit_id: str, now: datetime) -> Hit:
    """Return the HIT.

    Raises:
        RefusedError: No object has that identifier.
    """
    hit = session.scalar(select(Hit).where(Hit.hit_id == hit_id))
    if hit is None:
        raise unknown_object_error("HIT", hit_id, now)
    return hit


def find_type(session: Session, hit_type_id: str, now: datetime) -> HitType:
    """Return the HIT type.

    Raises:
        RefusedError: No object has that identifier.
    """
    hit_type = session.scalar(select(HitType).where(HitType.hit_type_id == hit_type_id))
    if hit_type is None:
        raise unknown_object_error("HITType", hit_type_id, now)
    return hit_type


def hit_to_api(session: Session, hit: Hit, now: datetime) -> dict[str, Any]:
    """Return the HIT in the format of the service's API."""
    places = place_counts(session, hit)
    return {
        "HITId": hit.hit_id,
        "HITTypeId": hit.type.hit_type_id,
        "HITGroupId": hit.type.group_id,
        "CreationTime": hit.created_at,
        "Title": hit.type.title,
        "Description": hit.type.description,
        "Question": hit.question,
        "Keywords": hit.type.keywords,
        "HITStatus": hit_status(hit, places, now),
        "MaxAssignments": hit.max_assignments,
        "Reward": format_amount(hit.type.reward_cents),
        "AutoApprovalDelayInSeconds": hit.type.auto_approval_s,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": hit.type.duration_s,
        **({} if hit.annotation is None else {"RequesterAnnotation": hit.annotation}),
        "QualificationRequirements": hit.type.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": places.pending,
        "NumberOfAssignmentsAvailable": places.available,
        "NumberOfAssignmentsCompleted": places.completed,
    }
