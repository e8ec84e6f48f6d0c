"""Bonuses and the balance."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, wrong_state
from marketplace.mturk.hits import find_hit
from marketplace.mturk.ids import made_before, remember
from marketplace.mturk.money import (
    HIGHEST_CENTS,
    amount,
    available_cents,
    bonus_fee_cents,
    cents,
    held_cents,
    refuse_overdraft,
)
from marketplace.mturk.operations.assignments import find_assignment
from marketplace.mturk.operations.hits import repeated
from marketplace.mturk.paging import page
from marketplace.mturk.tables import Assignment, Payment
from marketplace.mturk.wire import Reply, Request

_AFTER_WORK = timedelta(days=182)


def send_bonus(session: Session, now: datetime, request: Request) -> Reply:
    """SendBonus: pays a worker whose work was reviewed within the last half year."""
    if made_before(session, "SendBonus", request, now) is not None:
        raise repeated(request, now)
    assignment = find_assignment(session, request["AssignmentId"], now)
    _refuse_bonus(assignment, request, now)
    payment = Payment(
        kind="bonus",
        worker_id=assignment.worker_id,
        assignment_id=assignment.assignment_id,
        hit_id=assignment.hit_id,
        amount_cents=cents(request["BonusAmount"]),
        fee_cents=bonus_fee_cents(cents(request["BonusAmount"])),
        reason=request["Reason"],
        paid_at=now,
    )
    session.add(payment)
    refuse_overdraft(session, now)
    remember(session, "SendBonus", request, str(payment.id), now)
    return {}


def _refuse_bonus(assignment: Assignment, request: Request, now: datetime) -> None:
    if assignment.worker_id != request["WorkerId"]:
        raise RefusedError(
            "InvalidParameterValue",
            f"Worker {request['WorkerId']} did not work on assignment {assignment.assignment_id}.",
            now,
        )
    if assignment.status not in ("approved", "rejected"):
        raise wrong_state("InvalidAssignmentState", "Approved,Rejected", now)
    if now > (assignment.judged_at or now) + _AFTER_WORK:
        raise RefusedError(
            "InvalidAssignmentState", "The assignment is too old to award a bonus for it.", now
        )
    if not 1 <= cents(request["BonusAmount"]) <= HIGHEST_CENTS:
        raise RefusedError(
            "ParameterValidationError",
            f"The bonus must be from 0.01 to {amount(HIGHEST_CENTS)}.",
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
    found, paging = page(session, request, rows, Payment.id, now)
    payments = [
        {
            "WorkerId": payment.worker_id,
            "BonusAmount": amount(payment.amount_cents),
            "AssignmentId": payment.assignment_id,
            "Reason": payment.reason,
            "GrantTime": payment.paid_at,
        }
        for payment in found
    ]
    return {"BonusPayments": payments, **paging}


def get_account_balance(session: Session, now: datetime, request: Request) -> Reply:
    """GetAccountBalance: returns the available money and the money reserved for open HITs."""
    return {
        "AvailableBalance": amount(available_cents(session, now)),
        "OnHoldBalance": amount(held_cents(session, now)),
    }
