"""Qualifications: the system's types, valid requirements, and whether a worker meets them."""

import operator
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown_object_error
from marketplace.mturk.tables import (
    Assignment,
    Grant,
    HitType,
    QualificationType,
    Worker,
    WorkerBlock,
)
from marketplace.mturk.wire import Request

MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
APPROVED_COUNT = "00000000000000000040"
APPROVED_PERCENT = "000000000000000000L0"

SYSTEM_TYPE_NAMES = {
    MASTERS[0]: "Masters",
    MASTERS[1]: "Masters (sandbox)",
    LOCALE: "Worker_Locale",
    ADULT: "Worker_Adult",
    APPROVED_COUNT: "Worker_NumberHITsApproved",
    APPROVED_PERCENT: "Worker_PercentAssignmentsApproved",
}
# Below this number of submissions the service reports 100 percent for every worker.
_LEAST_RATED = 100


def system_value(worker: Worker, type_id: str, approved: int, rejected: int) -> int | None:
    """Return the worker's value of a system qualification other than the locale.

    Args:
        worker: The worker.
        type_id: The qualification type.
        approved: How many of the worker's assignments were approved here.
        rejected: How many were rejected here.

    Returns:
        The value; None if the worker does not have the qualification.
    """
    if type_id == APPROVED_COUNT:
        return worker.approved_before + approved
    if type_id == APPROVED_PERCENT:
        return _approval_percent(worker, approved, rejected)
    is_held = worker.adult if type_id == ADULT else worker.masters
    return 1 if is_held else None


def _approval_percent(worker: Worker, approved: int, rejected: int) -> int:
    if worker.approved_percent is not None:
        return worker.approved_percent
    total_approved = worker.approved_before + approved
    return (
        100 * total_approved // (total_approved + rejected)
        if total_approved + rejected >= _LEAST_RATED
        else 100
    )


_MOST_REQUIREMENTS = 10
_MOST_VALUES = {"IntegerValues": 15, "LocaleValues": 30}
_LOCALE_COMPARATORS = ("EqualTo", "NotEqualTo", "In", "NotIn")


def validate_requirements(
    session: Session, now: datetime, request: Request
) -> list[dict[str, object]]:
    """Return a HIT type's validated requirements.

    Raises:
        RefusedError: There are too many requirements, or one is invalid.
    """
    requirements: list[dict[str, object]] = request.get("QualificationRequirements", [])
    if len(requirements) > _MOST_REQUIREMENTS:
        raise _requirement_error(
            f"A HIT can have at most {_MOST_REQUIREMENTS} qualification requirements.", now
        )
    for requirement in requirements:
        type_id = str(requirement["QualificationTypeId"])
        if type_id not in SYSTEM_TYPE_NAMES:
            find_qualification_type(session, type_id, now)
        problem = _find_problem(requirement)
        if problem:
            raise _requirement_error(f"QualificationRequirement of {type_id}: {problem}", now)
    return requirements


def find_qualification_type(session: Session, type_id: str, now: datetime) -> QualificationType:
    """Return one of the requester's qualification types.

    Raises:
        RefusedError: No type has that identifier.
    """
    qualification = session.scalar(
        select(QualificationType).where(
            QualificationType.qualification_type_id == type_id,
            QualificationType.deleted_at.is_(None),
        )
    )
    if qualification is None:
        raise unknown_object_error("QualificationType", type_id, now)
    return qualification


def _find_problem(requirement: Mapping[str, Any]) -> str:
    comparator, is_locale = requirement["Comparator"], requirement["QualificationTypeId"] == LOCALE
    value_key, other_key = ("LocaleValues", "IntegerValues")[:: 1 if is_locale else -1]
    values = requirement.get(value_key, [])
    if requirement.get(other_key):
        return f"{other_key} do not fit it."
    if comparator in ("Exists", "DoesNotExist"):
        return f"{comparator} takes no values." if values else ""
    if is_locale and comparator not in _LOCALE_COMPARATORS:
        return f"A locale cannot be compared with {comparator}."
    if comparator in ("In", "NotIn"):
        most_values = _MOST_VALUES[value_key]
        return (
            ""
            if 1 <= len(values) <= most_values
            else f"{comparator} takes 1 to {most_values} {value_key}."
        )
    return "" if len(values) == 1 else f"{comparator} takes exactly one of {value_key}."


def _requirement_error(message: str, now: datetime) -> RefusedError:
    return RefusedError("ParameterValidationError", message, now)


Action = Literal["discover", "preview", "accept"]
_GUARDED_ACTIONS: dict[str, tuple[Action, ...]] = {
    "Accept": ("accept",),
    "PreviewAndAccept": ("preview", "accept"),
    "DiscoverPreviewAndAccept": ("discover", "preview", "accept"),
}
_COMPARISONS = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
    "EqualTo": operator.eq,
    "NotEqualTo": operator.ne,
}
_NAMES_FOR_WORKERS = {
    LOCALE: "Location",
    ADULT: "Adult content qualification",
    APPROVED_COUNT: "Number of approved HITs",
    APPROVED_PERCENT: "HIT approval rate (%)",
    **dict.fromkeys(MASTERS, "Masters"),
}
_COMPARATORS = {
    "LessThan": "is less than",
    "LessThanOrEqualTo": "is not more than",
    "GreaterThan": "is greater than",
    "GreaterThanOrEqualTo": "is not less than",
    "EqualTo": "is",
    "NotEqualTo": "is not",
    "Exists": "has been granted",
    "DoesNotExist": "has not been granted",
    "In": "is one of",
    "NotIn": "is none of",
}


def is_qualified(session: Session, worker: Worker, hit_type: HitType, action: Action) -> bool:
    """Return whether the worker meets all requirements for the action on HITs of this type."""
    blocked = select(WorkerBlock).where(WorkerBlock.worker_id == worker.worker_id)
    if session.scalar(blocked) is not None:
        return False
    return not unmet_requirements(session, worker, hit_type, action)


def unmet_requirements(
    session: Session, worker: Worker, hit_type: HitType, action: Action
) -> list[Mapping[str, Any]]:
    """Return the requirements for the action that the worker does not meet."""
    guarding = [
        requirement
        for requirement in hit_type.requirements
        if action in _guarded_actions(requirement)
    ]
    return [
        requirement
        for requirement in guarding
        if not _meets_requirement(session, worker, requirement)
    ]


def _guarded_actions(requirement: Mapping[str, Any]) -> tuple[Action, ...]:
    # The older way to protect the preview as well.
    preview = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return _GUARDED_ACTIONS[requirement.get("ActionsGuarded", preview)]


def _meets_requirement(session: Session, worker: Worker, requirement: Mapping[str, Any]) -> bool:
    comparator, type_id = requirement["Comparator"], requirement["QualificationTypeId"]
    if type_id == LOCALE:
        return _meets_locale(worker, comparator, requirement.get("LocaleValues", []))
    value = _qualification_value(session, worker, type_id)
    if comparator in ("Exists", "DoesNotExist"):
        return (value is not None) is (comparator == "Exists")
    values = requirement.get("IntegerValues", [])
    if value is None:
        return False
    if comparator in ("In", "NotIn"):
        return (value in values) is (comparator == "In")
    return bool(_COMPARISONS[comparator](value, values[0]))


def _meets_locale(worker: Worker, comparator: str, places: list[Mapping[str, str]]) -> bool:
    has_country = bool(worker.country)
    if comparator in ("Exists", "DoesNotExist"):
        return has_country == (comparator == "Exists")
    lives_there = any(
        locale["Country"] == worker.country
        and locale.get("Subdivision", worker.subdivision) == worker.subdivision
        for locale in places
    )
    return has_country and lives_there == (comparator in ("EqualTo", "In"))


def _qualification_value(session: Session, worker: Worker, type_id: str) -> int | None:
    if type_id in SYSTEM_TYPE_NAMES:
        return system_value(worker, type_id, *_count_reviewed(session, worker))
    return session.scalar(
        select(Grant.value)
        .join(QualificationType)
        .where(
            QualificationType.qualification_type_id == type_id,
            Grant.worker_id == worker.worker_id,
            Grant.status == "Granted",
        )
    )


def _count_reviewed(session: Session, worker: Worker) -> tuple[int, int]:
    rows = session.execute(
        select(Assignment.status, func.count())
        .where(Assignment.worker_id == worker.worker_id)
        .group_by(Assignment.status)
    )
    counts = dict(rows.all())
    return counts.get("approved", 0), counts.get("rejected", 0)


def describe_requirement(session: Session, requirement: Mapping[str, Any]) -> str:
    """Return e.g. ``HIT approval rate (%) is not less than 95``."""
    type_id = requirement["QualificationTypeId"]
    name = _NAMES_FOR_WORKERS.get(type_id) or session.scalar(
        select(QualificationType.name).where(QualificationType.qualification_type_id == type_id)
    )
    places = [
        "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
        for locale in requirement.get("LocaleValues", ())
    ]
    values = [*places, *map(str, requirement.get("IntegerValues", ()))]
    words = (name, _COMPARATORS[requirement["Comparator"]], ", ".join(values))
    return " ".join(word for word in words if word)
