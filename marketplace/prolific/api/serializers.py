"""Studies, submissions and pages of lists in the platform's format."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import request
from sqlalchemy import select

from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import count_by_status, count_taken_places, projected_cost
from marketplace.prolific.store import Moment, Payment, Study, Submission

_PAGE_SIZE, _LARGEST_PAGE = 20, 1000
# Python refuses to read numbers of thousands of digits.
_MOST_DIGITS = 9


def format_time(value: datetime | None) -> str | None:
    """Return a time in the platform's format."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def serialize_study(moment: Moment, study: Study) -> dict[str, Any]:
    """Return a study in the platform's format."""
    return {**study.fields, "project": study.project, **_serialize_progress(moment, study)}


def serialize_study_summary(moment: Moment, study: Study) -> dict[str, Any]:
    """Return the fields of a study that lists show."""
    fields = study.fields
    names = ("name", "internal_name", "estimated_completion_time", "total_available_places")
    return {
        **{name: fields[name] for name in names},
        "reward": study.reward,
        "study_type": "SINGLE",
        **_serialize_progress(moment, study),
    }


def _serialize_progress(moment: Moment, study: Study) -> dict[str, Any]:
    return {
        "id": study.ref,
        "status": study.status,
        "is_ready_to_publish": True,
        "places_taken": count_taken_places(moment.session, study),
        "number_of_submissions": sum(count_by_status(moment.session, study).values()),
        "total_cost": projected_cost(moment, study).total,
        "date_created": format_time(study.created_at),
        "published_at": format_time(study.published_at),
        "publish_at": format_time(study.publish_at),
    }


def serialize_submission_summary(submission: Submission) -> dict[str, Any]:
    """Return the fields of a submission that lists show."""
    return {
        "id": submission.ref,
        "participant_id": submission.participant,
        "status": submission.status,
        "started_at": format_time(submission.started_at or submission.reserved_at),
        "completed_at": format_time(submission.completed_at),
        "has_siblings": False,
        "study_code": submission.entered_code,
        "return_requested": format_time(submission.return_requested),
    }


def serialize_submission(moment: Moment, submission: Submission) -> dict[str, Any]:
    """Return a submission with its bonuses, in minor units."""
    bonuses = moment.session.scalars(
        select(Payment.amount_minor)
        .where(Payment.submission_id == submission.id, Payment.kind == "bonus")
        .order_by(Payment.id)
    )
    return {
        "id": submission.ref,
        "participant": submission.participant,
        "status": submission.status,
        "study_id": submission.study.ref,
        "started_at": format_time(submission.started_at or submission.reserved_at),
        "completed_at": format_time(submission.completed_at),
        "entered_code": submission.entered_code,
        "return_requested": format_time(submission.return_requested),
        "bonus_payments": list(bonuses),
    }


def paginate(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the page of a list that the current request asks for.

    Raises:
        UnknownError: The list has no such page.
        RefusedError: The paging parameters are invalid.
    """
    number, size = (
        _read_page_argument("page", 1),
        min(_read_page_argument("page_size", _PAGE_SIZE), _LARGEST_PAGE),
    )
    last = max(1, -(-len(entries) // size))
    if number > last:
        raise UnknownError("page")
    return {
        "results": list(entries[(number - 1) * size : number * size]),
        "_links": {
            "self": _page_link(number, size),
            "next": _page_link(number + 1 if number < last else None, size),
            "previous": _page_link(number - 1 if number > 1 else None, size),
            "last": _page_link(last, size),
        },
        "meta": {"count": len(entries)},
    }


def _read_page_argument(name: str, otherwise: int) -> int:
    text = request.args.get(name, str(otherwise))
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise RefusedError({name: ["A whole number from 1 on."]})
    return int(text)


def _page_link(number: int | None, size: int) -> dict[str, Any]:
    if number is None:
        return {"href": None, "title": "Page"}
    arguments = {**request.args.to_dict(), "page": number, "page_size": size}
    return {"href": f"{request.base_url}?{urlencode(arguments)}", "title": "Page"}
