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

from marketplace.faults import FaultPlan
from marketplace.mturk.qualifications import may, requirement_in_words, unmet
from marketplace.mturk.question import PREVIEW, read_question
from marketplace.mturk.site.pages import (
    add_page_manners,
    add_signing_in,
    answer,
    may_frame,
    signed_in,
)
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Assignment, HitType, Payment, Worker, WorkerMessage
from marketplace.mturk.workers import (
    Group,
    accept,
    ask,
    find_group,
    give_back,
    groups,
    own_assignment,
    requestable,
    submit,
)

# The stylesheet of every stand-in.
_SHARED = Path(__file__).parents[2] / "static"


def worker_site(store: Store, faults: FaultPlan, *, public: bool) -> Blueprint:
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
    add_page_manners(site)

    @site.get("/site/pages.css")
    def shared_style() -> Response:
        return send_from_directory(_SHARED, "pages.css")

    add_signing_in(site, store, public=public)
    add_listing_pages(site, store, faults)
    add_frame_pages(site, store)
    add_my_work(site, store)
    return site


def add_listing_pages(site: Blueprint, store: Store, faults: FaultPlan) -> None:
    """Add the listing, the preview and the accept button."""

    @site.get("/projects")
    def listing() -> Response:
        with store.moment() as (session, now):
            worker = signed_in(session)
            seen = [_context(session, worker, each, now) for each in groups(session, worker, now)]
            return answer("listing.html", {"groups": seen})

    @site.get("/mturk/preview")
    def linked_preview() -> Response:
        group_id = request.args.get("groupId", "")
        return make_response(redirect(url_for("site.preview", group_id=group_id), 303))

    @site.get("/projects/<group_id>/tasks")
    def preview(group_id: str) -> Response:
        with store.moment() as (session, now):
            worker = signed_in(session)
            group = find_group(session, worker, group_id, now)
            facts = _context(session, worker, group, now)
            if not may(session, worker, group.type, "preview"):
                return answer("preview.html", {"group": facts, "frame": None})
            question = read_question(group.hits[0].question)
            may_frame(question.origin)
            address = question.address(
                assignmentId=PREVIEW, hitId=group.hits[0].hit_id, turkSubmitTo=submit_to()
            )
            frame = {"address": address, "height_px": question.height_px}
            return answer("preview.html", {"group": facts, "frame": frame})

    @site.post("/projects/<group_id>/tasks/accept")
    def accept_one(group_id: str) -> Response:
        with store.moment() as (session, now):
            worker = signed_in(session)
            assignment = accept(session, worker, group_id, now, faults)
            where = url_for("site.assignment", assignment_id=assignment.assignment_id)
        return make_response(redirect(where, 303))


def submit_to() -> str:
    """Return the target of the frame's form: this site, by the host name that the worker uses."""
    return request.host_url.rstrip("/")


def _context(session: Session, worker: Worker, group: Group, now: datetime) -> dict[str, Any]:
    of = group.type
    return {
        "group_id": of.group_id,
        "title": of.title,
        "description": of.description,
        "keywords": of.keywords,
        "reward_cents": of.reward_cents,
        "duration_s": of.duration_s,
        "hits": len(group.hits),
        "qualified": may(session, worker, of, "accept"),
        "requirements": _requirements(session, worker, of),
    }


def _requirements(session: Session, worker: Worker, of: HitType) -> list[Mapping[str, str | bool]]:
    missing = unmet(session, worker, of, "accept")
    return [
        {"text": requirement_in_words(session, each), "met": each not in missing}
        for each in of.requirements
    ]


def add_frame_pages(site: Blueprint, store: Store) -> None:
    """Add the page of an accepted HIT, and the routes that submit or return it."""

    @site.get("/assignments/<assignment_id>")
    def assignment(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            worker = signed_in(session)
            found = own_assignment(session, worker, assignment_id)
            return answer("assignment.html", _assignment_facts(found, now))

    @site.post("/assignments/<assignment_id>/return")
    def return_one(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            give_back(session, signed_in(session), assignment_id, now)
        return make_response(redirect(url_for("site.listing"), 303))

    @site.post("/mturk/externalSubmit")
    def external_submit() -> Response:
        # The form is sent from inside the frame, where the browser withholds the cookie: only the
        # assignment's identifier tells whose work it is.
        with store.moment() as (session, now):
            done = submit(session, list(request.form.items(multi=True)), now)
            facts = {"assignment_id": done.assignment_id, "status": done.status}
        return answer("submitted.html", facts)


def _assignment_facts(assignment: Assignment, now: datetime) -> dict[str, Any]:
    of, frame = assignment.hit.type, None
    if assignment.status == "accepted":
        question = read_question(assignment.hit.question)
        may_frame(question.origin)
        address = question.address(
            assignmentId=assignment.assignment_id,
            hitId=assignment.hit.hit_id,
            turkSubmitTo=submit_to(),
            workerId=assignment.worker_id,
        )
        frame = {"address": address, "height_px": question.height_px}
    return {
        "assignment_id": assignment.assignment_id,
        "hit_id": assignment.hit.hit_id,
        "group_id": of.group_id,
        "title": of.title,
        "reward_cents": of.reward_cents,
        "status": assignment.status,
        "left_s": max(0, ceil((assignment.deadline - now).total_seconds())),
        "frame": frame,
    }


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
