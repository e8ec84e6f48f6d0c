"""Qualifications granted to workers, and workers' requests for them."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown, wrong_state
from marketplace.mturk.paging import page
from marketplace.mturk.qualifications.checks import find_qualification_type
from marketplace.mturk.qualifications.system import NAMES
from marketplace.mturk.tables import Grant, QualificationRequest, QualificationType, WorkerMessage
from marketplace.mturk.wire import Reply, Request


def associate(session: Session, now: datetime, request: Request) -> Reply:
    """AssociateQualificationWithWorker: notifies the worker unless SendNotification is false."""
    of = _own_type(session, request["QualificationTypeId"], now)
    grant(session, of, request["WorkerId"], request.get("IntegerValue", 1), now)
    if request.get("SendNotification", True):
        text = f"You were given the qualification {of.name}."
        session.add(
            WorkerMessage(worker_id=request["WorkerId"], subject=of.name, text=text, sent_at=now)
        )
    return {}


def grant(
    session: Session, of: QualificationType, worker_id: str, value: int, now: datetime
) -> None:
    """Grant a worker a qualification, or change the value of a granted one."""
    held = _held(session, of, worker_id)
    if held is None:
        held = Grant(type=of, worker_id=worker_id)
        session.add(held)
    held.value, held.status, held.granted_at, held.reason = value, "Granted", now, None


def disassociate(session: Session, now: datetime, request: Request) -> Reply:
    """DisassociateQualificationFromWorker."""
    held = _granted(session, now, request)
    held.status, held.reason = "Revoked", request.get("Reason")
    return {}


def get_score(session: Session, now: datetime, request: Request) -> Reply:
    """GetQualificationScore."""
    return {"Qualification": _to_api(_granted(session, now, request))}


def list_workers(session: Session, now: datetime, request: Request) -> Reply:
    """ListWorkersWithQualificationType: lists grants, revoked ones included."""
    of = _own_type(session, request["QualificationTypeId"], now)
    rows = select(Grant).where(Grant.type_id == of.id)
    if "Status" in request:
        rows = rows.where(Grant.status == request["Status"])
    found, paging = page(session, request, rows, Grant.id, now)
    return {"Qualifications": [_to_api(held) for held in found], **paging}


def list_requests(session: Session, now: datetime, request: Request) -> Reply:
    """ListQualificationRequests: lists the pending requests."""
    rows = select(QualificationRequest).where(QualificationRequest.state == "pending")
    if "QualificationTypeId" in request:
        of = _own_type(session, request["QualificationTypeId"], now)
        rows = rows.where(QualificationRequest.type_id == of.id)
    found, paging = page(session, request, rows, QualificationRequest.id, now)
    asked = [
        {
            "QualificationRequestId": each.request_id,
            "QualificationTypeId": each.type.qualification_type_id,
            "WorkerId": each.worker_id,
            "SubmitTime": each.submitted_at,
        }
        for each in found
    ]
    return {"QualificationRequests": asked, **paging}


def accept_request(session: Session, now: datetime, request: Request) -> Reply:
    """AcceptQualificationRequest."""
    asked = _pending(session, request["QualificationRequestId"], now)
    asked.state = "accepted"
    grant(session, asked.type, asked.worker_id, request.get("IntegerValue", 1), now)
    return {}


def reject_request(session: Session, now: datetime, request: Request) -> Reply:
    """RejectQualificationRequest."""
    asked = _pending(session, request["QualificationRequestId"], now)
    asked.state, asked.reason = "rejected", request.get("Reason")
    return {}


def _own_type(session: Session, type_id: str, now: datetime) -> QualificationType:
    if type_id in NAMES:
        raise RefusedError(
            "AccessDenied", f"QualificationType {type_id} belongs to the system.", now
        )
    return find_qualification_type(session, type_id, now)


def _held(session: Session, of: QualificationType, worker_id: str) -> Grant | None:
    return session.scalar(select(Grant).where(Grant.type_id == of.id, Grant.worker_id == worker_id))


def _granted(session: Session, now: datetime, request: Request) -> Grant:
    of = _own_type(session, request["QualificationTypeId"], now)
    held = _held(session, of, request["WorkerId"])
    if held is None:
        raise RefusedError(
            "QualificationDoesNotExist", "You requested a Qualification that does not exist.", now
        )
    if held.status != "Granted":
        raise wrong_state("InvalidQualificationState", "Granted", now)
    return held


def _to_api(held: Grant) -> dict[str, Any]:
    return {
        "QualificationTypeId": held.type.qualification_type_id,
        "WorkerId": held.worker_id,
        "GrantTime": held.granted_at,
        "IntegerValue": held.value,
        "Status": held.status,
    }


def _pending(session: Session, request_id: str, now: datetime) -> QualificationRequest:
    asked = session.scalar(
        select(QualificationRequest).where(QualificationRequest.request_id == request_id)
    )
    if asked is None:
        raise unknown("QualificationRequest", request_id, now)
    if asked.state != "pending":
        raise wrong_state("InvalidQualificationRequestState", "Pending", now)
    return asked
