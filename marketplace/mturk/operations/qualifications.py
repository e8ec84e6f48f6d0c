"""The requester's qualification types, their grants to workers, and workers' requests for them."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown, wrong_state
from marketplace.mturk.operations import page
from marketplace.mturk.qualifications import NAMES, find_qualification_type
from marketplace.mturk.tables import (
    Grant,
    QualificationRequest,
    QualificationType,
    WorkerMessage,
    new_id,
)
from marketplace.mturk.wire import Reply, Request

_TESTS = ("Test", "TestDurationInSeconds", "AnswerKey")
_LONGEST_DELAY_S = 10 * 365 * 24 * 60 * 60
_LONGEST_NAME, _LONGEST_DESCRIPTION = 200, 2000


def create_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateQualificationType: requires an unused name."""
    _refuse_unknown(request, now)
    name = request["Name"]
    _refuse_texts(name, request["Description"], now)
    same = select(QualificationType).where(
        QualificationType.name == name, QualificationType.deleted_at.is_(None)
    )
    if session.scalar(same) is not None:
        raise RefusedError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name. A QualificationType's"
            " name must be unique among all of the QualificationTypes created by the same user.",
            now,
        )
    made = QualificationType(
        qualification_type_id=new_id(),
        name=name,
        description=request["Description"],
        keywords=request.get("Keywords", ""),
        status=request["QualificationTypeStatus"],
        retry_delay_s=request.get("RetryDelayInSeconds"),
        auto_granted=request.get("AutoGranted", False),
        auto_granted_value=request.get("AutoGrantedValue", 1),
        created_at=now,
    )
    session.add(made)
    return {"QualificationType": to_api(made)}


def to_api(qualification: QualificationType) -> dict[str, Any]:
    """Return the type in the format of the service's API."""
    facts = {
        "QualificationTypeId": qualification.qualification_type_id,
        "CreationTime": qualification.created_at,
        "Name": qualification.name,
        "Description": qualification.description,
        "Keywords": qualification.keywords,
        "QualificationTypeStatus": qualification.status,
        "RetryDelayInSeconds": qualification.retry_delay_s,
        "IsRequestable": True,
        "AutoGranted": qualification.auto_granted,
        "AutoGrantedValue": qualification.auto_granted_value
        if qualification.auto_granted
        else None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def get_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """GetQualificationType."""
    found = find_qualification_type(session, request["QualificationTypeId"], now)
    return {"QualificationType": to_api(found)}


def update_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateQualificationType: changes any property except the name and the keywords."""
    _refuse_unknown(request, now)
    found = find_qualification_type(session, request["QualificationTypeId"], now)
    found.description = request.get("Description", found.description)
    _refuse_texts(found.name, found.description, now)
    found.status = request.get("QualificationTypeStatus", found.status)
    found.retry_delay_s = request.get("RetryDelayInSeconds", found.retry_delay_s)
    found.auto_granted = request.get("AutoGranted", found.auto_granted)
    found.auto_granted_value = request.get("AutoGrantedValue", found.auto_granted_value)
    return {"QualificationType": to_api(found)}


def delete_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteQualificationType: keeps existing grants, and rejects pending requests."""
    found = find_qualification_type(session, request["QualificationTypeId"], now)
    found.deleted_at = now
    pending = select(QualificationRequest).where(
        QualificationRequest.type_id == found.id, QualificationRequest.state == "pending"
    )
    for asked in session.scalars(pending):
        asked.state = "rejected"
    return {}


def list_qualification_types(session: Session, now: datetime, request: Request) -> Reply:
    """ListQualificationTypes: lists the requester's own types, searched by name and description."""
    rows = select(QualificationType).where(QualificationType.deleted_at.is_(None))
    for word in request.get("Query", "").split():
        rows = rows.where(
            QualificationType.name.icontains(word, autoescape=True)
            | QualificationType.description.icontains(word, autoescape=True)
            | QualificationType.keywords.icontains(word, autoescape=True)
        )
    found, paging = page(session, request, rows, QualificationType.id, now)
    return {"QualificationTypes": [to_api(each) for each in found], **paging}


def _refuse_texts(name: str, description: str, now: datetime) -> None:
    if not 1 <= len(name) <= _LONGEST_NAME or not 1 <= len(description) <= _LONGEST_DESCRIPTION:
        raise RefusedError(
            "ParameterValidationError",
            f"Name takes 1 to {_LONGEST_NAME} characters, Description {_LONGEST_DESCRIPTION}.",
            now,
        )


def _refuse_unknown(request: Request, now: datetime) -> None:
    if not 0 <= request.get("RetryDelayInSeconds", 0) <= _LONGEST_DELAY_S:
        raise RefusedError(
            "ParameterValidationError",
            f"RetryDelayInSeconds must be from 0 to {_LONGEST_DELAY_S}.",
            now,
        )
    if any(name in request for name in _TESTS):
        raise RefusedError(
            "ParameterValidationError", "This marketplace holds no qualification tests.", now
        )


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
    return {"Qualification": _grant_to_api(_granted(session, now, request))}


def list_workers(session: Session, now: datetime, request: Request) -> Reply:
    """ListWorkersWithQualificationType: lists grants, revoked ones included."""
    of = _own_type(session, request["QualificationTypeId"], now)
    rows = select(Grant).where(Grant.type_id == of.id)
    if "Status" in request:
        rows = rows.where(Grant.status == request["Status"])
    found, paging = page(session, request, rows, Grant.id, now)
    return {"Qualifications": [_grant_to_api(held) for held in found], **paging}


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


def _grant_to_api(held: Grant) -> dict[str, Any]:
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
