"""The workers' site: find, preview, accept, return and submit HITs, and see earnings."""

from collections.abc import Mapping
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Any

from flask import (
    Blueprint,
    Response,
    make_response,
    redirect,
    request,
    send_from_directory,
    url_for,
)
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.control import FaultPlan
from marketplace.mturk.qualifications import describe_requirement, is_qualified, unmet_requirements
from marketplace.mturk.question import PREVIEW_ID, read_question
from marketplace.mturk.site.pages import (
    add_page_handlers,
    add_sign_in_pages,
    allow_frame,
    render_facts,
    require_worker,
)
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Assignment, HitType, Payment, Worker, WorkerMessage
from marketplace.mturk.workers import (
    Group,
    accept_hit,
    find_group,
    find_own_assignment,
    list_groups,
    list_requestable_qualifications,
    request_qualification,
    return_assignment,
    submit_assignment,
)

# The stylesheet of every stand-in.
_STATIC_FOLDER = Path(__file__).parents[2] / "static"


def create_worker_site(store: Store, faults: FaultPlan, *, public: bool) -> Blueprint:
    """Return the blueprint of the workers' pages.

    Args:
        store: The marketplace's state.
        faults: The planned faults.
        public: Whether to prevent workers from setting their own record of approved work.
    """
    site = Blueprint(
        "site", __name__, template_folder="templates", static_folder="static",
        static_url_path="/site",
    )  # fmt: skip
    add_page_handlers(site)

    @site.get("/site/pages.css")
    def shared_style() -> Response:
        return send_from_directory(_STATIC_FOLDER, "pages.css")

    add_sign_in_pages(site, store, public=public)
    add_listing_pages(site, store, faults)
    add_frame_pages(site, store)
    add_my_work(site, store)
    return site


def add_listing_pages(site: Blueprint, store: Store, faults: FaultPlan) -> None:
    """Add the listing, the preview and the accept button."""

    @site.get("/projects")
    def listing() -> Response:
        with store.moment() as (session, now):
            worker = require_worker(session)
            group_facts = [
                _group_facts(session, worker, group, now)
                for group in list_groups(session, worker, now)
            ]
            return render_facts("listing.html", {"groups": group_facts})

    @site.get("/mturk/preview")
    def linked_preview() -> Response:
        group_id = request.args.get("groupId", "")
        return make_response(redirect(url_for("site.preview", group_id=group_id), 303))

    @site.get("/projects/<group_id>/tasks")
    def preview(group_id: str) -> Response:
        with store.moment() as (session, now):
            worker = require_worker(session)
            group = find_group(session, worker, group_id, now)
            facts = _group_facts(session, worker, group, now)
            if not is_qualified(session, worker, group.type, "preview"):
                return render_facts("preview.html", {"group": facts, "frame": None})
            question = read_question(group.hits[0].question)
            allow_frame(question.origin)
            address = question.address(
                assignmentId=PREVIEW_ID, hitId=group.hits[0].hit_id, turkSubmitTo=submit_url()
            )
            frame = {"address": address, "height_px": question.height_px}
            return render_facts("preview.html", {"group": facts, "frame": frame})

    @site.post("/projects/<group_id>/tasks/accept")
    def accept_one(group_id: str) -> Response:
        with store.moment() as (session, now):
            worker = require_worker(session)
            assignment = accept_hit(session, worker, group_id, now, faults)
            assignment_url = url_for("site.assignment", assignment_id=assignment.assignment_id)
        return make_response(redirect(assignment_url, 303))


def submit_url() -> str:
    """Return the target of the frame's form: this site, by the host name that the worker uses."""
    return request.host_url.rstrip("/")


def _group_facts(session: Session, worker: Worker, group: Group, now: datetime) -> dict[str, Any]:
    hit_type = group.type
    return {
        "group_id": hit_type.group_id,
        "title": hit_type.title,
        "description": hit_type.description,
        "keywords": hit_type.keywords,
        "reward_cents": hit_type.reward_cents,
        "duration_s": hit_type.duration_s,
        "hits": len(group.hits),
        "qualified": is_qualified(session, worker, hit_type, "accept"),
        "requirements": _describe_requirements(session, worker, hit_type),
    }


def _describe_requirements(
    session: Session, worker: Worker, hit_type: HitType
) -> list[Mapping[str, str | bool]]:
    missing = unmet_requirements(session, worker, hit_type, "accept")
    return [
        {"text": describe_requirement(session, requirement), "met": requirement not in missing}
        for requirement in hit_type.requirements
    ]


def add_frame_pages(site: Blueprint, store: Store) -> None:
    """Add the page of an accepted HIT, and the routes that submit or return it."""

    @site.get("/assignments/<assignment_id>")
    def assignment(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            worker = require_worker(session)
            own_assignment = find_own_assignment(session, worker, assignment_id)
            return render_facts("assignment.html", _assignment_facts(own_assignment, now))

    @site.post("/assignments/<assignment_id>/return")
    def return_one(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            return_assignment(session, require_worker(session), assignment_id, now)
        return make_response(redirect(url_for("site.listing"), 303))

    @site.post("/mturk/externalSubmit")
    def external_submit() -> Response:
        # The form is sent from inside the frame, where the browser withholds the cookie: only the
        # assignment's identifier tells whose work it is.
        with store.moment() as (session, now):
            done = submit_assignment(session, list(request.form.items(multi=True)), now)
            facts = {"assignment_id": done.assignment_id, "status": done.status}
        return render_facts("submitted.html", facts)


def _assignment_facts(assignment: Assignment, now: datetime) -> dict[str, Any]:
    hit_type, frame = assignment.hit.type, None
    if assignment.status == "accepted":
        question = read_question(assignment.hit.question)
        allow_frame(question.origin)
        address = question.address(
            assignmentId=assignment.assignment_id,
            hitId=assignment.hit.hit_id,
            turkSubmitTo=submit_url(),
            workerId=assignment.worker_id,
        )
        frame = {"address": address, "height_px": question.height_px}
    return {
        "assignment_id": assignment.assignment_id,
        "hit_id": assignment.hit.hit_id,
        "group_id": hit_type.group_id,
        "title": hit_type.title,
        "reward_cents": hit_type.reward_cents,
        "status": assignment.status,
        "left_s": max(0, ceil((assignment.deadline - now).total_seconds())),
        "frame": frame,
    }


_MOST_SHOWN = 200


def add_my_work(site: Blueprint, store: Store) -> None:
    """Add the worker's own pages."""

    @site.get("/work")
    def own_work() -> Response:
        with store.moment() as (session, _):
            worker = require_worker(session)
            facts = {
                "earned_cents": _earned_cents(session, worker),
                "assignments": _list_assignments(session, worker),
                "messages": _list_messages(session, worker),
            }
            return render_facts("work.html", facts)

    @site.get("/qualifications")
    def qualifications() -> Response:
        with store.moment() as (session, _):
            facts = {
                "qualifications": list_requestable_qualifications(session, require_worker(session))
            }
            return render_facts("qualifications.html", facts)

    @site.post("/qualifications/<type_id>/request")
    def request_one(type_id: str) -> Response:
        with store.moment() as (session, now):
            request_qualification(session, require_worker(session), type_id, now)
        return make_response(redirect(url_for("site.qualifications"), 303))


def _earned_cents(session: Session, worker: Worker) -> int:
    query = select(func.sum(Payment.amount_cents)).where(Payment.worker_id == worker.worker_id)
    return session.scalar(query) or 0


def _list_assignments(session: Session, worker: Worker) -> list[dict[str, Any]]:
    assignments = session.scalars(
        select(Assignment)
        .where(Assignment.worker_id == worker.worker_id)
        .order_by(Assignment.id.desc())
        .limit(_MOST_SHOWN)
    ).all()
    return [
        {
            "assignment_id": assignment.assignment_id,
            "title": assignment.hit.type.title,
            "status": assignment.status,
            "since": _last_change(assignment).isoformat(),
            "paid_cents": paid,
            "bonus_cents": bonus,
            "feedback": assignment.feedback,
        }
        for assignment in assignments
        for paid, bonus in [_paid_cents(session, assignment)]
    ]


def _last_change(assignment: Assignment) -> datetime:
    return assignment.judged_at or assignment.submitted_at or assignment.accepted_at


def _paid_cents(session: Session, assignment: Assignment) -> tuple[int, int]:
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


def _list_messages(session: Session, worker: Worker) -> list[dict[str, str]]:
    messages = session.scalars(
        select(WorkerMessage)
        .where(WorkerMessage.worker_id == worker.worker_id)
        .order_by(WorkerMessage.id.desc())
        .limit(_MOST_SHOWN)
    )
    return [
        {"subject": message.subject, "text": message.text, "sent_at": message.sent_at.isoformat()}
        for message in messages
    ]
