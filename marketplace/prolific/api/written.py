"""Studies and submissions as the platform writes them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from marketplace.prolific.money import counts, projected, taken
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Payment, Study, Submission


def time(value: datetime | None) -> str | None:
    """Return a time as the platform writes it."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def study(moment: Moment, found: Study) -> dict[str, Any]:
    """Return a study."""
    return {**found.fields, "project": found.project, **_progress(moment, found)}


def study_short(moment: Moment, found: Study) -> dict[str, Any]:
    """Return what a list tells of a study."""
    fields = found.fields
    shown = ("name", "internal_name", "estimated_completion_time", "total_available_places")
    return {
        **{name: fields[name] for name in shown},
        "reward": found.reward,
        "study_type": "SINGLE",
        **_progress(moment, found),
    }


def _progress(moment: Moment, found: Study) -> dict[str, Any]:
    return {
        "id": found.ref,
        "status": found.status,
        "is_ready_to_publish": True,
        "places_taken": taken(moment.session, found),
        "number_of_submissions": sum(counts(moment.session, found).values()),
        "total_cost": projected(moment, found).total,
        "date_created": time(found.created_at),
        "published_at": time(found.published_at),
        "publish_at": time(found.publish_at),
    }


def submission_short(found: Submission) -> dict[str, Any]:
    """Return what a list tells of a submission."""
    return {
        "id": found.ref,
        "participant_id": found.participant,
        "status": found.status,
        "started_at": time(found.started_at or found.reserved_at),
        "completed_at": time(found.completed_at),
        "has_siblings": False,
        "study_code": found.entered_code,
        "return_requested": time(found.return_requested),
    }


def submission(moment: Moment, found: Submission) -> dict[str, Any]:
    """Return a submission with its bonuses, minor units."""
    bonuses = moment.session.scalars(
        select(Payment.amount_minor)
        .where(Payment.submission_id == found.id, Payment.kind == "bonus")
        .order_by(Payment.id)
    )
    return {
        "id": found.ref,
        "participant": found.participant,
        "status": found.status,
        "study_id": found.study.ref,
        "started_at": time(found.started_at or found.reserved_at),
        "completed_at": time(found.completed_at),
        "entered_code": found.entered_code,
        "return_requested": time(found.return_requested),
        "bonus_payments": list(bonuses),
    }
