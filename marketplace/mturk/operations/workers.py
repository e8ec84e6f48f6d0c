"""Blocks of workers, and messages to workers."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError
from marketplace.mturk.operations import paginate
from marketplace.mturk.tables import Assignment, WorkerBlock, WorkerMessage
from marketplace.mturk.wire import Reply, Request

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
