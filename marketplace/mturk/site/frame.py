"""An accepted HIT: its frame and timer, returning it, and the address its form is sent to."""

from datetime import datetime
from math import ceil
from typing import Any

from flask import Blueprint, Response, make_response, redirect, request, url_for

from marketplace.mturk.question import read_question
from marketplace.mturk.site.listing import submit_to
from marketplace.mturk.site.pages import answer, may_frame, signed_in
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Assignment
from marketplace.mturk.work import give_back, own_assignment, submit


def add_frame_pages(site: Blueprint, store: Store) -> None:
    """Add the page of an accepted HIT, and what ends it."""

    @site.get("/assignments/<assignment_id>")
    def assignment(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            worker = signed_in(session)
            found = own_assignment(session, worker, assignment_id)
            return answer("assignment.html", _context(found, now))

    @site.post("/assignments/<assignment_id>/return")
    def return_one(assignment_id: str) -> Response:
        with store.moment() as (session, now):
            give_back(session, signed_in(session), assignment_id, now)
        return make_response(redirect(url_for("site.listing"), 303))

    @site.post("/mturk/externalSubmit")
    def external_submit() -> Response:
        # Sent from inside the frame, where the browser keeps the cookie back: the assignment's
        # identifier alone says whose work it is.
        with store.moment() as (session, now):
            done = submit(session, list(request.form.items(multi=True)), now)
            facts = {"assignment_id": done.assignment_id, "status": done.status}
        return answer("submitted.html", facts)


def _context(assignment: Assignment, now: datetime) -> dict[str, Any]:
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
