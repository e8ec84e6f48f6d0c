"""HIT types and HITs: create, extend, expire, list, review, delete."""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, wrong_state_error
from marketplace.mturk.events import notify_subscribers
from marketplace.mturk.hits import find_hit, find_type, hit_status, hit_to_api, place_counts
from marketplace.mturk.money import (
    LARGE_HIT,
    MOST_PAID_CENTS,
    format_amount,
    parse_cents,
    refuse_overdraft,
    reward_fee_cents,
)
from marketplace.mturk.operations import find_earlier_result, paginate, store_request_token
from marketplace.mturk.qualifications import validate_requirements
from marketplace.mturk.question import QuestionError, read_question
from marketplace.mturk.store import notify_if_reviewable
from marketplace.mturk.tables import Hit, HitType, new_id
from marketplace.mturk.wire import Reply, Request

_DAY_S = 24 * 60 * 60
_AUTO_APPROVAL_S = 30 * _DAY_S
# Least and greatest values, from the service's documentation.
_LIMITS_S = {
    "AssignmentDurationInSeconds": (30, 365 * _DAY_S),
    "AutoApprovalDelayInSeconds": (0, _AUTO_APPROVAL_S),
    "LifetimeInSeconds": (30, 365 * _DAY_S),
}
_LONGEST_TEXTS = {"Title": 128, "Description": 2000, "Keywords": 1000, "RequesterAnnotation": 255}


def create_hit_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHITType: equal properties return the existing type."""
    return {"HITTypeId": find_or_create_type(session, now, request).hit_type_id}


def find_or_create_type(session: Session, now: datetime, request: Request) -> HitType:
    """Return the HIT type with a request's properties, created if necessary.

    Raises:
        RefusedError: A property is outside its limits.
    """
    refuse_out_of_limits(request, now)
    facts = {
        "title": request["Title"],
        "description": request["Description"],
        "keywords": request.get("Keywords", ""),
        "reward_cents": parse_cents(request["Reward"]),
        "duration_s": request["AssignmentDurationInSeconds"],
        "auto_approval_s": request.get("AutoApprovalDelayInSeconds", _AUTO_APPROVAL_S),
        "requirements": validate_requirements(session, now, request),
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    hit_type = session.scalar(select(HitType).where(HitType.content_hash == digest))
    if hit_type is None:
        hit_type = HitType(hit_type_id=new_id(), group_id=new_id(), content_hash=digest, **facts)
        session.add(hit_type)
        session.flush()
    return hit_type


def refuse_out_of_limits(request: Request, now: datetime) -> None:
    """Refuse times, texts and rewards outside the service's limits.

    Raises:
        RefusedError: A value is outside its limits.
    """
    for name, (minimum, maximum) in _LIMITS_S.items():
        if name in request and not minimum <= request[name] <= maximum:
            raise RefusedError(
                "ParameterValidationError",
                f"The value of {name}, {request[name]}, must be from {minimum} to {maximum}.",
                now,
            )
    for name, longest in _LONGEST_TEXTS.items():
        if len(request.get(name, "")) > longest:
            raise RefusedError(
                "ParameterValidationError", f"{name} must not exceed {longest} characters.", now
            )
    if parse_cents(request.get("Reward", "0")) > MOST_PAID_CENTS:
        raise RefusedError(
            "ParameterValidationError",
            f"Reward must not exceed {format_amount(MOST_PAID_CENTS)}.",
            now,
        )
    if not request.get("Title", "a title").strip():
        raise RefusedError("ParameterValidationError", "Title must not be empty.", now)


def update_hit_type_of_hit(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateHITTypeOfHIT: gives the HIT the properties of another type."""
    hit = find_hit(session, request["HITId"], now)
    hit.type = find_type(session, request["HITTypeId"], now)
    fee = reward_fee_cents(hit.type.reward_cents, hit.max_assignments, hit.type.requirements)
    hit.unit_cents = hit.type.reward_cents + fee
    refuse_overdraft(session, now)
    return {}


_MOST_ASSIGNMENTS = 1_000_000_000
_UNSUPPORTED = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")


def create_hit(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHIT: creates a HIT; HITs with equal properties share a listing."""
    _refuse_repeated(session, "CreateHIT", request, now)
    return _create_hit(
        session, now, request, find_or_create_type(session, now, request), "CreateHIT"
    )


def create_hit_with_hit_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHITWithHITType: creates a HIT of an existing type."""
    _refuse_repeated(session, "CreateHITWithHITType", request, now)
    hit_type = find_type(session, request["HITTypeId"], now)
    return _create_hit(session, now, request, hit_type, "CreateHITWithHITType")


def _refuse_repeated(session: Session, operation: str, request: Request, now: datetime) -> None:
    hit_id = find_earlier_result(session, operation, request, now)
    if hit_id is not None:
        raise RefusedError("HitAlreadyExists", f"The HIT already exists: HITId {hit_id}", now)


def _create_hit(
    session: Session, now: datetime, request: Request, hit_type: HitType, operation: str
) -> Reply:
    refuse_out_of_limits(request, now)
    _refuse_question(request, now)
    most_assignments = request.get("MaxAssignments", 1)
    if not 1 <= most_assignments <= _MOST_ASSIGNMENTS:
        raise RefusedError(
            "ParameterValidationError",
            f"MaxAssignments must be at least 1, not {most_assignments}.",
            now,
        )
    fee_cents = reward_fee_cents(hit_type.reward_cents, most_assignments, hit_type.requirements)
    hit = Hit(
        hit_id=new_id(),
        type=hit_type,
        question=request["Question"],
        annotation=request.get("RequesterAnnotation"),
        max_assignments=most_assignments,
        unit_cents=hit_type.reward_cents + fee_cents,
        created_at=now,
        expires_at=now + timedelta(seconds=request["LifetimeInSeconds"]),
    )
    session.add(hit)
    refuse_overdraft(session, now)
    store_request_token(session, operation, request, hit.hit_id, now)
    notify_subscribers(session, "HITCreated", hit, now)
    return {"HIT": hit_to_api(session, hit, now)}


def _refuse_question(request: Request, now: datetime) -> None:
    unknown = [name for name in _UNSUPPORTED if name in request]
    if unknown:
        raise RefusedError(
            "ParameterValidationError", f"This marketplace does not know {unknown[0]}.", now
        )
    if "Question" not in request:
        raise RefusedError(
            "ParameterValidationError", "Either a Question or a HITLayoutId must be provided.", now
        )
    try:
        read_question(request["Question"])
    except QuestionError as error:
        raise RefusedError(
            "XMLParseError", f"The question cannot be shown: {error}", now
        ) from error


def create_additional_assignments(session: Session, now: datetime, request: Request) -> Reply:
    """CreateAdditionalAssignmentsForHIT: adds places, but never from below ten to ten or more."""
    operation = "CreateAdditionalAssignmentsForHIT"
    if find_earlier_result(session, operation, request, now) is not None:
        raise duplicate_request_error(request, now)
    hit = find_hit(session, request["HITId"], now)
    _refuse_disposed(hit, now)
    added_places = request["NumberOfAdditionalAssignments"]
    if not 1 <= added_places <= _MOST_ASSIGNMENTS:
        raise RefusedError(
            "ParameterValidationError", "NumberOfAdditionalAssignments must be at least 1.", now
        )
    if hit.max_assignments < LARGE_HIT <= hit.max_assignments + added_places:
        raise RefusedError(
            "InvalidMaximumAssignmentsIncrease",
            f"HIT {hit.hit_id} was created with fewer than {LARGE_HIT} assignments and cannot be"
            f" extended to have {LARGE_HIT} or more.",
            now,
        )
    hit.max_assignments += added_places
    hit.reviewable_notified = False
    refuse_overdraft(session, now)
    store_request_token(session, operation, request, hit.hit_id, now)
    notify_subscribers(session, "HITExtended", hit, now)
    return {}


def duplicate_request_error(request: Request, now: datetime) -> RefusedError:
    """Return the service's error for a token that was used within the last day."""
    return RefusedError(
        "DuplicateRequest",
        f'The idempotency token "{request["UniqueRequestToken"]}" has already been processed.',
        now,
    )


def update_expiration(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateExpirationForHIT: a time in the past expires the HIT immediately."""
    hit = find_hit(session, request["HITId"], now)
    _refuse_disposed(hit, now)
    is_later = request["ExpireAt"] > hit.expires_at
    hit.expires_at = max(request["ExpireAt"], hit.created_at)
    if hit.expires_at > now:
        hit.expiry_notified = hit.reviewable_notified = False
        refuse_overdraft(session, now)
        if is_later:
            notify_subscribers(session, "HITExtended", hit, now)
    elif not hit.expiry_notified:
        hit.expiry_notified = True
        notify_subscribers(session, "HITExpired", hit, now)
        notify_if_reviewable(session, hit, now)
    return {}


def _refuse_disposed(hit: Hit, now: datetime) -> None:
    if hit.disposed_at is not None:
        raise _hit_state_error("Disposed", "Assignable,Unassignable,Reviewable,Reviewing", now)


def _hit_state_error(state: str, allowed: str, now: datetime) -> RefusedError:
    introduction = f"This HIT is currently in the state '{state}'."
    return wrong_state_error("InvalidHITState", allowed, now, introduction)


def get_hit(session: Session, now: datetime, request: Request) -> Reply:
    """GetHIT: returns a HIT."""
    return {"HIT": hit_to_api(session, find_hit(session, request["HITId"], now), now)}


def update_review_status(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateHITReviewStatus: changes reviewable to reviewing, or back."""
    hit = find_hit(session, request["HITId"], now)
    back = request.get("Revert", False)
    state = hit_status(hit, place_counts(session, hit), now)
    needed = "Reviewing" if back else "Reviewable"
    if state != needed:
        raise _hit_state_error(state, needed, now)
    hit.reviewing = not back
    return {}


def delete_hit(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteHIT: requires that the HIT is reviewable and all of its work is reviewed."""
    hit = find_hit(session, request["HITId"], now)
    places = place_counts(session, hit)
    state = hit_status(hit, places, now)
    if state not in ("Reviewable", "Reviewing"):
        raise _hit_state_error(state, "Reviewable,Reviewing", now)
    if places.submitted:
        raise RefusedError(
            "InvalidHITState",
            f"{places.submitted} of the HIT's assignments are neither approved nor rejected.",
            now,
        )
    hit.disposed_at = now
    notify_subscribers(session, "HITDisposed", hit, now)
    return {}


def list_hits(session: Session, now: datetime, request: Request) -> Reply:
    """ListHITs: lists all HITs that are not disposed, newest first."""
    return _list_page(session, now, request, _select_existing())


def list_hits_for_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """ListHITsForQualificationType: lists the HITs that require the qualification."""
    type_id = request["QualificationTypeId"]
    types = [
        hit_type.id
        for hit_type in session.scalars(select(HitType))
        if any(
            requirement["QualificationTypeId"] == type_id for requirement in hit_type.requirements
        )
    ]
    return _list_page(session, now, request, _select_existing().where(Hit.type_id.in_(types)))


def list_reviewable_hits(session: Session, now: datetime, request: Request) -> Reply:
    """ListReviewableHITs: lists the HITs whose work is complete."""
    wanted_status, hits = request.get("Status", "Reviewable"), _select_existing()
    if "HITTypeId" in request:
        hits = hits.where(Hit.type_id == find_type(session, request["HITTypeId"], now).id)
    # A HIT's status follows from its assignments, so it is computed for each HIT.
    ready = [
        hit.id
        for hit in session.scalars(hits)
        if hit_status(hit, place_counts(session, hit), now) == wanted_status
    ]
    return _list_page(session, now, request, _select_existing().where(Hit.id.in_(ready)))


def _select_existing() -> Select[Any]:
    return select(Hit).where(Hit.disposed_at.is_(None))


def _list_page(session: Session, now: datetime, request: Request, hits: Select[Any]) -> Reply:
    page_hits, paging = paginate(session, request, hits, Hit.id, now, newest_first=True)
    return {"HITs": [hit_to_api(session, hit, now) for hit in page_hits], **paging}
