"""The listing of HITs, their preview, and accepting one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, make_response, redirect, request, url_for
from sqlalchemy.orm import Session

from marketplace.faults import FaultPlan
from marketplace.mturk.qualifications.matching import may, unmet
from marketplace.mturk.qualifications.vocabulary import requirement_in_words
from marketplace.mturk.question import PREVIEW, read_question
from marketplace.mturk.site.pages import answer, may_frame, signed_in
from marketplace.mturk.store import Store
from marketplace.mturk.tables import HitType, Worker
from marketplace.mturk.work import Group, accept, find_group, groups


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
    """Return where the frame's form goes: this site, by the name the worker knows it by."""
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
