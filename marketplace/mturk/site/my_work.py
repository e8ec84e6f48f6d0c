"""A worker's own pages: work and earnings, messages, qualifications."""

from datetime import datetime
from typing import Any

from flask import Blueprint, Response, make_response, redirect, url_for
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.mturk.operations.qualification_requests import ask, requestable
from marketplace.mturk.site.pages import answer, signed_in
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Assignment, Payment, Worker, WorkerMessage

_SHOWN = 200


def add_my_work(site: Blueprint, store: Store) -> None:
    """Add the worker's own pages."""

    @site.get("/work")
    def own_work() -> Response:
        with store.moment() as (session, _):
            worker = signed_in(session)
            facts = {
                "earned_cents": _earned(session, worker),
                "assignments": _assignments(session, worker),
                "messages": _messages(session, worker),
            }
            return answer("work.html", facts)

    @site.get("/qualifications")
    def qualifications() -> Response:
        with store.moment() as (session, _):
            facts = {"qualifications": requestable(session, signed_in(session))}
            return answer("qualifications.html", facts)

    @site.post("/qualifications/<type_id>/request")
    def request_one(type_id: str) -> Response:
        with store.moment() as (session, now):
            ask(session, signed_in(session), type_id, now)
        return make_response(redirect(url_for("site.qualifications"), 303))


def _earned(session: Session, worker: Worker) -> int:
    of = select(func.sum(Payment.amount_cents)).where(Payment.worker_id == worker.worker_id)
    return session.scalar(of) or 0


def _assignments(session: Session, worker: Worker) -> list[dict[str, Any]]:
    found = session.scalars(
        select(Assignment)
        .where(Assignment.worker_id == worker.worker_id)
        .order_by(Assignment.id.desc())
        .limit(_SHOWN)
    ).all()
    return [
        {
            "assignment_id": each.assignment_id,
            "title": each.hit.type.title,
            "status": each.status,
            "since": _since(each).isoformat(),
            "paid_cents": paid,
            "bonus_cents": bonus,
            "feedback": each.feedback,
        }
        for each in found
        for paid, bonus in [_paid(session, each)]
    ]


def _since(assignment: Assignment) -> datetime:
    return assignment.judged_at or assignment.submitted_at or assignment.accepted_at


def _paid(session: Session, assignment: Assignment) -> tuple[int, int]:
    rows = session.execute(
        select(Payment.kind, func.sum(Payment.amount_cents))
        .where(
            Payment.assignment_id == assignment.assignment_id,
            Payment.worker_id == assignment.worker_id,
        )
        .group_by(Payment.kind)
    )
    sums = dict(rows.all())
    return sums.get("reward", 0), sums.get("bonus", 0)


def _messages(session: Session, worker: Worker) -> list[dict[str, str]]:
    found = session.scalars(
        select(WorkerMessage)
        .where(WorkerMessage.worker_id == worker.worker_id)
        .order_by(WorkerMessage.id.desc())
        .limit(_SHOWN)
    )
    return [
        {"subject": each.subject, "text": each.text, "sent_at": each.sent_at.isoformat()}
        for each in found
    ]
