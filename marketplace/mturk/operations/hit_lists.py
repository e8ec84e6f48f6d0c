"""Lists of HITs."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from marketplace.mturk.hits import find_type, place_counts, status, to_api
from marketplace.mturk.paging import page
from marketplace.mturk.tables import Hit, HitType
from marketplace.mturk.wire import Reply, Request


def list_hits(session: Session, now: datetime, request: Request) -> Reply:
    """ListHITs: lists all HITs that are not disposed, newest first."""
    return _listed(session, now, request, _kept())


def list_hits_for_qualification_type(session: Session, now: datetime, request: Request) -> Reply:
    """ListHITsForQualificationType: lists the HITs that require the qualification."""
    wanted = request["QualificationTypeId"]
    types = [
        hit_type.id
        for hit_type in session.scalars(select(HitType))
        if any(each["QualificationTypeId"] == wanted for each in hit_type.requirements)
    ]
    return _listed(session, now, request, _kept().where(Hit.type_id.in_(types)))


def list_reviewable_hits(session: Session, now: datetime, request: Request) -> Reply:
    """ListReviewableHITs: lists the HITs whose work is complete."""
    wanted, hits = request.get("Status", "Reviewable"), _kept()
    if "HITTypeId" in request:
        hits = hits.where(Hit.type_id == find_type(session, request["HITTypeId"], now).id)
    # A HIT's status follows from its assignments, so it is computed for each HIT.
    ready = [
        hit.id
        for hit in session.scalars(hits)
        if status(hit, place_counts(session, hit), now) == wanted
    ]
    return _listed(session, now, request, _kept().where(Hit.id.in_(ready)))


def _kept() -> Select[Any]:
    return select(Hit).where(Hit.disposed_at.is_(None))


def _listed(session: Session, now: datetime, request: Request, hits: Select[Any]) -> Reply:
    found, paging = page(session, request, hits, Hit.id, now, newest_first=True)
    return {"HITs": [to_api(session, hit, now) for hit in found], **paging}
