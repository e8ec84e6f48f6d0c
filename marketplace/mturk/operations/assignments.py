"""Assignments: get, list, approve, reject; bonuses and the balance."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown_object_error, wrong_state_error
from marketplace.mturk.events import notify_subscribers
from marketplace.mturk.hits import find_hit
from marketplace.mturk.hits import hit_to_api as hit_to_api
from marketplace.mturk.money import (
    MOST_PAID_CENTS,
    available_cents,
    bonus_fee_cents,
    format_amount,
    parse_cents,
    pay_reward,
    refuse_overdraft,
    reserved_cents,
)
from marketplace.mturk.operations import find_earlier_result, paginate, store_request_token
from marketplace.mturk.operations.hits import duplicate_request_error
from marketplace.mturk.tables import Assignment, Payment
from marketplace.mturk.wire import Reply, Request

_DONE_STATUSES = ("submitted", "approved", "rejected")
_OVERRIDE_WINDOW = timedelta(days=30)
_LONGEST_FEEDBACK = 1024
_WRONG_STATE = "InvalidAssignmentState"


def find_assignment(session: Session, assignment_id: str, now: datetime) -> Assignment:
    """Return the assignment; if the identifier was reused, the latest.

    Raises:
        RefusedError: No assignment has that identifier.
    """
    assignment = session.scalars(
        select(Assignment)
        .where(Assignment.assignment_id == assignment_id)
        .order_by(Assignment.id.desc())
    ).first()
    if assignment is None:
        raise unknown_object_error("Assignment", assignment_id, now)
    return assignment


def assignment_to_api(assignment: Assignment) -> dict[str, Any]:
    """Return a finished assignment in the format of the service's API."""
    facts = {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": assignment.worker_id,
        "HITId": assignment.hit.hit_id,
        "AssignmentStatus": assignment.status.capitalize(),
        "AutoApprovalTime": assignment.auto_approval_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.judged_at if assignment.status == "approved" else None,
        "RejectionTime": assignment.judged_at if assignment.status == "rejected" else None,
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.feedback,
    }
    return {name: value for name, value in facts.items() if value is not None}


def list_assignments(session: Session, now: datetime, request: Request) -> Reply:
    """ListAssignmentsForHIT: lists finished assignments in order of arrival."""
    hit = find_hit(session, request["HITId"], now)
    statuses = [state.lower() for state in request.get("AssignmentStatuses", ())] or _DONE_STATUSES
    rows = select(Assignment).where(Assignment.hit_id == hit.id, Assignment.status.in_(statuses))
    assignments, paging = paginate(session, request, rows, Assignment.submission, now)
    return {"Assignments": [assignment_to_api(assignment) for assignment in assignments], **paging}


def get_assignment(session: Session, now: datetime, request: Request) -> Reply:
    """GetAssignment: returns a finished assignment with its HIT."""
    assignment = find_assignment(session, request["AssignmentId"], now)
    if assignment.status not in _DONE_STATUSES:
        raise wrong_state_error(_WRONG_STATE, "Reviewable,Approved,Rejected", now)
    return {
        "Assignment": assignment_to_api(assignment),
        "HIT": hit_to_api(session, assignment.hit, now),
    }


def approve_assignment(session: Session, now: datetime, request: Request) -> Reply:
    """ApproveAssignment: pays the worker; a rejected assignment needs OverrideRejection."""
    assignment = find_assignment(session, request["AssignmentId"], now)
    if assignment.status == "rejected" and request.get("OverrideRejection", False):
        _refuse_late_override(assignment, now)
    else:
        _refuse_unless_submitted(assignment, now)
    pay_reward(session, assignment, now, _read_feedback(request, now))
    refuse_overdraft(session, now)
    return {}


def reject_assignment(session: Session, now: datetime, request: Request) -> Reply:
    """RejectAssignment: the worker is not paid, and gets the reason."""
    assignment = find_assignment(session, request["AssignmentId"], now)
    _refuse_unless_submitted(assignment, now)
    assignment.status, assignment.judged_at = "rejected", now
    assignment.feedback = _read_feedback(request, now)
    notify_subscribers(session, "AssignmentRejected", assignment.hit, now, assignment)
    return {}


def _read_feedback(request: Request, now: datetime) -> str | None:
    feedback: str | None = request.get("RequesterFeedback")
    if feedback is not None and len(feedback) > _LONGEST_FEEDBACK:
        raise RefusedError(
            "ParameterValidationError",
            f"RequesterFeedback must not exceed {_LONGEST_FEEDBACK} characters.",
            now,
        )
    return feedback


def _refuse_unless_submitted(assignment: Assignment, now: datetime) -> None:
    if assignment.status != "submitted":
        # The service uses this wording for work that has not been submitted yet.
        raise wrong_state_error(
            _WRONG_STATE, "Submitted" if assignment.status in _DONE_STATUSES else "null", now
        )


def _refuse_late_override(assignment: Assignment, now: datetime) -> None:
    submitted_at = assignment.submitted_at or now
    if assignment.hit.disposed_at is not None or now > submitted_at + _OVERRIDE_WINDOW:
        raise RefusedError(
            _WRONG_STATE,
            "A rejection can be overridden for 30 days after the work was submitted and while the"
            " HIT is not deleted.",
            now,
        )


_BONUS_WINDOW = timedelta(days=182)


def send_bonus(session: Session, now: datetime, request: Request) -> Reply:
    """SendBonus: pays a worker whose work was reviewed within the last half year."""
    if find_earlier_result(session, "SendBonus", request, now) is not None:
        raise duplicate_request_error(request, now)
    assignment = find_assignment(session, request["AssignmentId"], now)
    _refuse_bonus(assignment, request, now)
    payment = Payment(
        kind="bonus",
        worker_id=assignment.worker_id,
        assignment_id=assignment.assignment_id,
        hit_id=assignment.hit_id,
        amount_cents=parse_cents(request["BonusAmount"]),
        fee_cents=bonus_fee_cents(parse_cents(request["BonusAmount"])),
        reason=request["Reason"],
        paid_at=now,
    )
    session.add(payment)
    refuse_overdraft(session, now)
    store_request_token(session, "SendBonus", request, str(payment.id), now)
    return {}


def _refuse_bonus(assignment: Assignment, request: Request, now: datetime) -> None:
    if assignment.worker_id != request["WorkerId"]:
        raise RefusedError(
            "InvalidParameterValue",
            f"Worker {request['WorkerId']} did not work on assignment {assignment.assignment_id}.",
            now,
        )
    if assignment.status not in ("approved", "rejected"):
        raise wrong_state_error("InvalidAssignmentState", "Approved,Rejected", now)
    if now > (assignment.judged_at or now) + _BONUS_WINDOW:
        raise RefusedError(
            "InvalidAssignmentState", "The assignment is too old to award a bonus for it.", now
        )
    if not 1 <= parse_cents(request["BonusAmount"]) <= MOST_PAID_CENTS:
        raise RefusedError(
            "ParameterValidationError",
            f"The bonus must be from 0.01 to {format_amount(MOST_PAID_CENTS)}.",
            now,
        )


def list_bonus_payments(session: Session, now: datetime, request: Request) -> Reply:
    """ListBonusPayments: lists the bonuses of a HIT or of an assignment."""
    rows = select(Payment).where(Payment.kind == "bonus")
    if "AssignmentId" in request:
        assignment = find_assignment(session, request["AssignmentId"], now)
        rows = rows.where(Payment.assignment_id == assignment.assignment_id)
    elif "HITId" in request:
        rows = rows.where(Payment.hit_id == find_hit(session, request["HITId"], now).id)
    else:
        raise RefusedError(
            "ParameterValidationError", "Either the HITId or the AssignmentId is required.", now
        )
    bonuses, paging = paginate(session, request, rows, Payment.id, now)
    payments = [
        {
            "WorkerId": payment.worker_id,
            "BonusAmount": format_amount(payment.amount_cents),
            "AssignmentId": payment.assignment_id,
            "Reason": payment.reason,
            "GrantTime": payment.paid_at,
        }
        for payment in bonuses
    ]
    return {"BonusPayments": payments, **paging}


def get_account_balance(session: Session, now: datetime, request: Request) -> Reply:
    """GetAccountBalance: returns the available money and the money reserved for open HITs."""
    return {
        "AvailableBalance": format_amount(available_cents(session, now)),
        "OnHoldBalance": format_amount(reserved_cents(session, now)),
    }
