"""HIT types: the properties that the HITs of a listing share."""

import hashlib
import json
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError
from marketplace.mturk.hits import find_hit, find_type
from marketplace.mturk.ids import new_id
from marketplace.mturk.money import (
    HIGHEST_CENTS,
    amount,
    cents,
    refuse_overdraft,
    reward_fee_cents,
)
from marketplace.mturk.qualifications.checks import checked_requirements
from marketplace.mturk.tables import HitType
from marketplace.mturk.wire import Reply, Request

_DAY_S = 24 * 60 * 60
_AUTO_APPROVAL_S = 30 * _DAY_S
# Least and greatest values, from the service's documentation.
_LIMITS_S = {
    "AssignmentDurationInSeconds": (30, 365 * _DAY_S),
    "AutoApprovalDelayInSeconds": (0, _AUTO_APPROVAL_S),
    "LifetimeInSeconds": (30, 365 * _DAY_S),
}
_LONGEST = {"Title": 128, "Description": 2000, "Keywords": 1000, "RequesterAnnotation": 255}


def create_hit_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHITType: equal properties return the existing type."""
    return {"HITTypeId": type_of(session, now, request).hit_type_id}


def type_of(session: Session, now: datetime, request: Request) -> HitType:
    """Return the HIT type with a request's properties, created if necessary.

    Raises:
        RefusedError: A property is outside its limits.
    """
    refuse_out_of_limits(request, now)
    facts = {
        "title": request["Title"],
        "description": request["Description"],
        "keywords": request.get("Keywords", ""),
        "reward_cents": cents(request["Reward"]),
        "duration_s": request["AssignmentDurationInSeconds"],
        "auto_approval_s": request.get("AutoApprovalDelayInSeconds", _AUTO_APPROVAL_S),
        "requirements": checked_requirements(session, now, request),
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    found = session.scalar(select(HitType).where(HitType.content_hash == digest))
    if found is None:
        found = HitType(hit_type_id=new_id(), group_id=new_id(), content_hash=digest, **facts)
        session.add(found)
        session.flush()
    return found


def refuse_out_of_limits(request: Request, now: datetime) -> None:
    """Refuse times, texts and rewards outside the service's limits.

    Raises:
        RefusedError: A value is outside its limits.
    """
    for name, (least, most) in _LIMITS_S.items():
        if name in request and not least <= request[name] <= most:
            raise RefusedError(
                "ParameterValidationError",
                f"The value of {name}, {request[name]}, must be from {least} to {most}.",
                now,
            )
    for name, longest in _LONGEST.items():
        if len(request.get(name, "")) > longest:
            raise RefusedError(
                "ParameterValidationError", f"{name} must not exceed {longest} characters.", now
            )
    if cents(request.get("Reward", "0")) > HIGHEST_CENTS:
        raise RefusedError(
            "ParameterValidationError", f"Reward must not exceed {amount(HIGHEST_CENTS)}.", now
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
