"""Studies, submissions and pages of lists in the platform's format."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import request
from sqlalchemy import select

from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import counts, projected, taken
from marketplace.prolific.store import Moment, Payment, Study, Submission

_PAGE_SIZE, _LARGEST_PAGE = 20, 1000
# Python refuses to read numbers of thousands of digits.
_MOST_DIGITS = 9


def time(value: datetime | None) -> str | None:
    """Return a time in the platform's format."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def study(moment: Moment, found: Study) -> dict[str, Any]:
    """Return a study in the platform's format."""
    return {**found.fields, "project": found.project, **_progress(moment, found)}


def study_short(moment: Moment, found: Study) -> dict[str, Any]:
    """Return the fields of a study that lists show."""
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
    """Return the fields of a submission that lists show."""
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
    """Return a submission with its bonuses, in minor units."""
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


def page_of(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the page of a list that the current request asks for.

    Raises:
        UnknownError: The list has no such page.
        RefusedError: The paging parameters are invalid.
    """
    number, size = _asked("page", 1), min(_asked("page_size", _PAGE_SIZE), _LARGEST_PAGE)
    last = max(1, -(-len(found) // size))
    if number > last:
        raise UnknownError("page")
    return {
        "results": list(found[(number - 1) * size : number * size]),
        "_links": {
            "self": _link(number, size),
            "next": _link(number + 1 if number < last else None, size),
            "previous": _link(number - 1 if number > 1 else None, size),
            "last": _link(last, size),
        },
        "meta": {"count": len(found)},
    }


def _asked(name: str, otherwise: int) -> int:
    text = request.args.get(name, str(otherwise))
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise RefusedError({name: ["A whole number from 1 on."]})
    return int(text)


def _link(number: int | None, size: int) -> dict[str, Any]:
    if number is None:
        return {"href": None, "title": "Page"}
    wanted = {**request.args.to_dict(), "page": number, "page_size": size}
    return {"href": f"{request.base_url}?{urlencode(wanted)}", "title": "Page"}
