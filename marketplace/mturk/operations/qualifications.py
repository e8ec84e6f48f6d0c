"""Qualification types, grants to workers and their requests; blocks of and messages to workers."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown_object_error, wrong_state_error
from marketplace.mturk.operations import paginate
from marketplace.mturk.qualifications import SYSTEM_TYPE_NAMES, find_qualification_type
from marketplace.mturk.tables import (
    Assignment,
    Grant,
    QualificationRequest,
    QualificationType,
    WorkerBlock,
    WorkerMessage,
    new_id,
)
from marketplace.mturk.wire import Reply, Request

_TEST_KEYS = ("Test", "TestDurationInSeconds", "AnswerKey")
_LONGEST_DELAY_S = 10 * 365 * 24 * 60 * 60
_LONGEST_NAME, _LONGEST_DESCRIPTION = 200, 2000


def create_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """CreateQualificationType: requires an unused name."""
    _refuse_unknown(request, now)
    name = request["Name"]
    _refuse_texts(name, request["Description"], now)
    same_name_query = select(QualificationType).where(
        QualificationType.name == name, QualificationType.deleted_at.is_(None)
    )
    if session.scalar(same_name_query) is not None:
        raise RefusedError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name. A QualificationType's"
            " name must be unique among all of the QualificationTypes created by the same user.",
            now,
        )
    qualification = QualificationType(
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
    session.add(qualification)
    return {"QualificationType": qualification_type_to_api(qualification)}


def qualification_type_to_api(qualification: QualificationType) -> dict[str, Any]:
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
    """GetQualificationType: returns a qualification type."""
    qualification = find_qualification_type(session, request["QualificationTypeId"], now)
    return {"QualificationType": qualification_type_to_api(qualification)}


def update_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateQualificationType: changes any property except the name and the keywords."""
    _refuse_unknown(request, now)
    qualification = find_qualification_type(session, request["QualificationTypeId"], now)
    qualification.description = request.get("Description", qualification.description)
    _refuse_texts(qualification.name, qualification.description, now)
    qualification.status = request.get("QualificationTypeStatus", qualification.status)
    qualification.retry_delay_s = request.get("RetryDelayInSeconds", qualification.retry_delay_s)
    qualification.auto_granted = request.get("AutoGranted", qualification.auto_granted)
    qualification.auto_granted_value = request.get(
        "AutoGrantedValue", qualification.auto_granted_value
    )
    return {"QualificationType": qualification_type_to_api(qualification)}


def delete_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteQualificationType: keeps existing grants, and rejects pending requests."""
    qualification = find_qualification_type(session, request["QualificationTypeId"], now)
    qualification.deleted_at = now
    pending = select(QualificationRequest).where(
        QualificationRequest.type_id == qualification.id, QualificationRequest.state == "pending"
    )
    for pending_request in session.scalars(pending):
        pending_request.state = "rejected"
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
    types, paging = paginate(session, request, rows, QualificationType.id, now)
    return {
        "QualificationTypes": [qualification_type_to_api(qualification) for qualification in types],
        **paging,
    }


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
    if any(name in request for name in _TEST_KEYS):
        raise RefusedError(
            "ParameterValidationError", "This marketplace holds no qualification tests.", now
        )


def associate_qualification(session: Session, now: datetime, request: Request) -> Reply:
    """AssociateQualificationWithWorker: notifies the worker unless SendNotification is false."""
    qualification = _find_own_type(session, request["QualificationTypeId"], now)
    grant_qualification(
        session, qualification, request["WorkerId"], request.get("IntegerValue", 1), now
    )
    if request.get("SendNotification", True):
        text = f"You were given the qualification {qualification.name}."
        session.add(
            WorkerMessage(
                worker_id=request["WorkerId"], subject=qualification.name, text=text, sent_at=now
            )
        )
    return {}


def grant_qualification(
    session: Session, qualification: QualificationType, worker_id: str, value: int, now: datetime
) -> None:
    """Grant a worker a qualification, or change the value of a granted one."""
    grant = _find_grant(session, qualification, worker_id)
    if grant is None:
        grant = Grant(type=qualification, worker_id=worker_id)
        session.add(grant)
    grant.value, grant.status, grant.granted_at, grant.reason = value, "Granted", now, None


def disassociate_qualification(session: Session, now: datetime, request: Request) -> Reply:
    """DisassociateQualificationFromWorker."""
    grant = _require_grant(session, now, request)
    grant.status, grant.reason = "Revoked", request.get("Reason")
    return {}


def get_qualification_score(session: Session, now: datetime, request: Request) -> Reply:
    """GetQualificationScore."""
    return {"Qualification": _grant_to_api(_require_grant(session, now, request))}


def list_workers(session: Session, now: datetime, request: Request) -> Reply:
    """ListWorkersWithQualificationType: lists grants, revoked ones included."""
    qualification = _find_own_type(session, request["QualificationTypeId"], now)
    rows = select(Grant).where(Grant.type_id == qualification.id)
    if "Status" in request:
        rows = rows.where(Grant.status == request["Status"])
    grants, paging = paginate(session, request, rows, Grant.id, now)
    return {"Qualifications": [_grant_to_api(grant) for grant in grants], **paging}


def list_requests(session: Session, now: datetime, request: Request) -> Reply:
    """ListQualificationRequests: lists the pending requests."""
    rows = select(QualificationRequest).where(QualificationRequest.state == "pending")
    if "QualificationTypeId" in request:
        qualification = _find_own_type(session, request["QualificationTypeId"], now)
        rows = rows.where(QualificationRequest.type_id == qualification.id)
    requests, paging = paginate(session, request, rows, QualificationRequest.id, now)
    entries = [
        {
            "QualificationRequestId": pending_request.request_id,
            "QualificationTypeId": pending_request.type.qualification_type_id,
            "WorkerId": pending_request.worker_id,
            "SubmitTime": pending_request.submitted_at,
        }
        for pending_request in requests
    ]
    return {"QualificationRequests": entries, **paging}


def accept_request(session: Session, now: datetime, request: Request) -> Reply:
    """AcceptQualificationRequest."""
    pending_request = _require_pending_request(session, request["QualificationRequestId"], now)
    pending_request.state = "accepted"
    grant_qualification(
        session,
        pending_request.type,
        pending_request.worker_id,
        request.get("IntegerValue", 1),
        now,
    )
    return {}


def reject_request(session: Session, now: datetime, request: Request) -> Reply:
    """RejectQualificationRequest."""
    pending_request = _require_pending_request(session, request["QualificationRequestId"], now)
    pending_request.state, pending_request.reason = "rejected", request.get("Reason")
    return {}


def _find_own_type(session: Session, type_id: str, now: datetime) -> QualificationType:
    if type_id in SYSTEM_TYPE_NAMES:
        raise RefusedError(
            "AccessDenied", f"QualificationType {type_id} belongs to the system.", now
        )
    return find_qualification_type(session, type_id, now)


def _find_grant(session: Session, qualification: QualificationType, worker_id: str) -> Grant | None:
    return session.scalar(
        select(Grant).where(Grant.type_id == qualification.id, Grant.worker_id == worker_id)
    )


def _require_grant(session: Session, now: datetime, request: Request) -> Grant:
    qualification = _find_own_type(session, request["QualificationTypeId"], now)
    grant = _find_grant(session, qualification, request["WorkerId"])
    if grant is None:
        raise RefusedError(
            "QualificationDoesNotExist", "You requested a Qualification that does not exist.", now
        )
    if grant.status != "Granted":
        raise wrong_state_error("InvalidQualificationState", "Granted", now)
    return grant


def _grant_to_api(grant: Grant) -> dict[str, Any]:
    return {
        "QualificationTypeId": grant.type.qualification_type_id,
        "WorkerId": grant.worker_id,
        "GrantTime": grant.granted_at,
        "IntegerValue": grant.value,
        "Status": grant.status,
    }


def _require_pending_request(
    session: Session, request_id: str, now: datetime
) -> QualificationRequest:
    pending_request = session.scalar(
        select(QualificationRequest).where(QualificationRequest.request_id == request_id)
    )
    if pending_request is None:
        raise unknown_object_error("QualificationRequest", request_id, now)
    if pending_request.state != "pending":
        raise wrong_state_error("InvalidQualificationRequestState", "Pending", now)
    return pending_request


_LONGEST_TEXTS = {"Subject": 200, "MessageText": 4096}
_MOST_WORKERS = 100


def create_worker_block(session: Session, now: datetime, request: Request) -> Reply:
    """CreateWorkerBlock: blocks a worker."""
    block = _find_block(session, request["WorkerId"])
    if block is None:
        block = WorkerBlock(worker_id=request["WorkerId"])
        session.add(block)
    block.reason = request["Reason"]
    return {}


def delete_worker_block(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteWorkerBlock: also succeeds for a worker who is not blocked."""
    block = _find_block(session, request["WorkerId"])
    if block is not None:
        session.delete(block)
    return {}


def list_worker_blocks(session: Session, now: datetime, request: Request) -> Reply:
    """ListWorkerBlocks: returns the blocked workers."""
    page_blocks, paging = paginate(session, request, select(WorkerBlock), WorkerBlock.id, now)
    blocks = [{"WorkerId": block.worker_id, "Reason": block.reason} for block in page_blocks]
    return {"WorkerBlocks": blocks, **paging}


def _find_block(session: Session, worker_id: str) -> WorkerBlock | None:
    return session.scalar(select(WorkerBlock).where(WorkerBlock.worker_id == worker_id))


def notify_workers(session: Session, now: datetime, request: Request) -> Reply:
    """NotifyWorkers: delivers only to workers whose work has been reviewed before."""
    for name, longest in _LONGEST_TEXTS.items():
        if len(request[name]) > longest:
            raise RefusedError(
                "ParameterValidationError", f"{name} must not exceed {longest} characters.", now
            )
    worker_ids = request["WorkerIds"]
    if not 1 <= len(worker_ids) <= _MOST_WORKERS:
        raise RefusedError(
            "ParameterValidationError", f"WorkerIds takes 1 to {_MOST_WORKERS} workers.", now
        )
    reviewed = select(Assignment.worker_id).where(
        Assignment.worker_id.in_(worker_ids), Assignment.status.in_(("approved", "rejected"))
    )
    reviewed_ids = set(session.scalars(reviewed))
    for worker_id in worker_ids:
        if worker_id in reviewed_ids:
            message = {"subject": request["Subject"], "text": request["MessageText"]}
            session.add(WorkerMessage(worker_id=worker_id, sent_at=now, **message))
    failures = [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": "You have never approved or rejected this Worker's work",
            "WorkerId": worker_id,
        }
        for worker_id in worker_ids
        if worker_id not in reviewed_ids
    ]
    return {"NotifyWorkersFailureStatuses": failures}
