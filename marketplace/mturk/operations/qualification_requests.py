"""Qualifications from a worker's view: list them, and request one."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import WorkerRefusedError
from marketplace.mturk.ids import new_id
from marketplace.mturk.operations.grants import grant
from marketplace.mturk.tables import Grant, QualificationRequest, QualificationType, Worker


def requestable(session: Session, worker: Worker) -> list[dict[str, Any]]:
    """Return the active qualification types, and the worker's status for each."""
    types = select(QualificationType).where(
        QualificationType.deleted_at.is_(None), QualificationType.status == "Active"
    )
    return [
        {
            "qualification_type_id": each.qualification_type_id,
            "name": each.name,
            "description": each.description,
            "status": _status(session, worker, each),
        }
        for each in session.scalars(types.order_by(QualificationType.name)).all()
    ]


def ask(session: Session, worker: Worker, type_id: str, now: datetime) -> None:
    """Request a qualification; automatically granted ones are granted immediately.

    Raises:
        WorkerRefusedError: No such type exists, or the worker has it or has requested it already.
    """
    of = session.scalar(
        select(QualificationType).where(
            QualificationType.qualification_type_id == type_id,
            QualificationType.deleted_at.is_(None),
            QualificationType.status == "Active",
        )
    )
    if of is None:
        raise WorkerRefusedError("unknown", "There is no such qualification.", status=404)
    status = _status(session, worker, of)
    if status in ("granted", "requested"):
        raise WorkerRefusedError(status, f"This qualification is {status} already.")
    if status == "rejected" and not _may_ask_again(session, worker, of, now):
        raise WorkerRefusedError("rejected", "You cannot ask for this qualification again yet.")
    session.add(
        QualificationRequest(
            request_id=new_id(),
            type=of,
            worker_id=worker.worker_id,
            state="accepted" if of.auto_granted else "pending",
            submitted_at=now,
        )
    )
    if of.auto_granted:
        grant(session, of, worker.worker_id, of.auto_granted_value, now)


def _status(session: Session, worker: Worker, of: QualificationType) -> str:
    held = session.scalar(
        select(Grant.status).where(Grant.type_id == of.id, Grant.worker_id == worker.worker_id)
    )
    if held == "Granted":
        return "granted"
    asked = _last_request(session, worker, of)
    states = {"pending": "requested", "rejected": "rejected"}
    return states.get(asked.state, "") if asked else ""


def _may_ask_again(session: Session, worker: Worker, of: QualificationType, now: datetime) -> bool:
    asked = _last_request(session, worker, of)
    if asked is None or of.retry_delay_s is None:
        return asked is None
    return now >= asked.submitted_at + timedelta(seconds=of.retry_delay_s)


def _last_request(
    session: Session, worker: Worker, of: QualificationType
) -> QualificationRequest | None:
    return session.scalars(
        select(QualificationRequest)
        .where(
            QualificationRequest.type_id == of.id,
            QualificationRequest.worker_id == worker.worker_id,
        )
        .order_by(QualificationRequest.id.desc())
    ).first()
