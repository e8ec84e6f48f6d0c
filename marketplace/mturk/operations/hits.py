"""HITs: create, extend, expire, list, review, delete."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, wrong_state
from marketplace.mturk.events import tell
from marketplace.mturk.expiry import tell_if_reviewable
from marketplace.mturk.hits import find_hit, find_type, place_counts, status, to_api
from marketplace.mturk.ids import made_before, new_id, remember
from marketplace.mturk.money import LARGE_HIT, refuse_overdraft, reward_fee_cents
from marketplace.mturk.operations.hit_types import refuse_out_of_limits, type_of
from marketplace.mturk.question import QuestionError, read_question
from marketplace.mturk.tables import Hit, HitType
from marketplace.mturk.wire import Reply, Request

_MOST_ASSIGNMENTS = 1_000_000_000
_NOT_HERE = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")


def create_hit(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHIT: creates a HIT; HITs with equal properties share a listing."""
    _refuse_repeated(session, "CreateHIT", request, now)
    return _create(session, now, request, type_of(session, now, request), "CreateHIT")


def create_hit_with_hit_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateHITWithHITType: creates a HIT of an existing type."""
    _refuse_repeated(session, "CreateHITWithHITType", request, now)
    hit_type = find_type(session, request["HITTypeId"], now)
    return _create(session, now, request, hit_type, "CreateHITWithHITType")


def _refuse_repeated(session: Session, operation: str, request: Request, now: datetime) -> None:
    made = made_before(session, operation, request, now)
    if made is not None:
        raise RefusedError("HitAlreadyExists", f"The HIT already exists: HITId {made}", now)


def _create(
    session: Session, now: datetime, request: Request, hit_type: HitType, operation: str
) -> Reply:
    refuse_out_of_limits(request, now)
    _refuse_question(request, now)
    most = request.get("MaxAssignments", 1)
    if not 1 <= most <= _MOST_ASSIGNMENTS:
        raise RefusedError(
            "ParameterValidationError", f"MaxAssignments must be at least 1, not {most}.", now
        )
    fee_cents = reward_fee_cents(hit_type.reward_cents, most, hit_type.requirements)
    hit = Hit(
        hit_id=new_id(),
        type=hit_type,
        question=request["Question"],
        annotation=request.get("RequesterAnnotation"),
        max_assignments=most,
        unit_cents=hit_type.reward_cents + fee_cents,
        created_at=now,
        expires_at=now + timedelta(seconds=request["LifetimeInSeconds"]),
    )
    session.add(hit)
    refuse_overdraft(session, now)
    remember(session, operation, request, hit.hit_id, now)
    tell(session, "HITCreated", hit, now)
    return {"HIT": to_api(session, hit, now)}


def _refuse_question(request: Request, now: datetime) -> None:
    unknown = [name for name in _NOT_HERE if name in request]
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
    if made_before(session, operation, request, now) is not None:
        raise repeated(request, now)
    hit = find_hit(session, request["HITId"], now)
    _refuse_disposed(hit, now)
    more = request["NumberOfAdditionalAssignments"]
    if not 1 <= more <= _MOST_ASSIGNMENTS:
        raise RefusedError(
            "ParameterValidationError", "NumberOfAdditionalAssignments must be at least 1.", now
        )
    if hit.max_assignments < LARGE_HIT <= hit.max_assignments + more:
        raise RefusedError(
            "InvalidMaximumAssignmentsIncrease",
            f"HIT {hit.hit_id} was created with fewer than {LARGE_HIT} assignments and cannot be"
            f" extended to have {LARGE_HIT} or more.",
            now,
        )
    hit.max_assignments += more
    hit.reviewable_told = False
    refuse_overdraft(session, now)
    remember(session, operation, request, hit.hit_id, now)
    tell(session, "HITExtended", hit, now)
    return {}


def repeated(request: Request, now: datetime) -> RefusedError:
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
    later = request["ExpireAt"] > hit.expires_at
    hit.expires_at = max(request["ExpireAt"], hit.created_at)
    if hit.expires_at > now:
        hit.expiry_told = hit.reviewable_told = False
        refuse_overdraft(session, now)
        if later:
            tell(session, "HITExtended", hit, now)
    elif not hit.expiry_told:
        hit.expiry_told = True
        tell(session, "HITExpired", hit, now)
        tell_if_reviewable(session, hit, now)
    return {}


def _refuse_disposed(hit: Hit, now: datetime) -> None:
    if hit.disposed_at is not None:
        raise _wrong_state("Disposed", "Assignable,Unassignable,Reviewable,Reviewing", now)


def _wrong_state(state: str, allowed: str, now: datetime) -> RefusedError:
    before = f"This HIT is currently in the state '{state}'."
    return wrong_state("InvalidHITState", allowed, now, before)


def get_hit(session: Session, now: datetime, request: Request) -> Reply:
    """GetHIT."""
    return {"HIT": to_api(session, find_hit(session, request["HITId"], now), now)}


def update_review_status(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateHITReviewStatus: changes reviewable to reviewing, or back."""
    hit = find_hit(session, request["HITId"], now)
    back = request.get("Revert", False)
    state = status(hit, place_counts(session, hit), now)
    needed = "Reviewing" if back else "Reviewable"
    if state != needed:
        raise _wrong_state(state, needed, now)
    hit.reviewing = not back
    return {}


def delete_hit(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteHIT: requires that the HIT is reviewable and all of its work is reviewed."""
    hit = find_hit(session, request["HITId"], now)
    places = place_counts(session, hit)
    state = status(hit, places, now)
    if state not in ("Reviewable", "Reviewing"):
        raise _wrong_state(state, "Reviewable,Reviewing", now)
    if places.submitted:
        raise RefusedError(
            "InvalidHITState",
            f"{places.submitted} of the HIT's assignments are neither approved nor rejected.",
            now,
        )
    hit.disposed_at = now
    tell(session, "HITDisposed", hit, now)
    return {}
