"""The qualification types that the requester created."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError
from marketplace.mturk.ids import new_id
from marketplace.mturk.paging import page
from marketplace.mturk.qualifications.checks import find_qualification_type
from marketplace.mturk.tables import QualificationRequest, QualificationType
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
