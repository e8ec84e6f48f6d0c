"""Check of a worker against a HIT's requirements, and the requirements in words for workers."""

import operator
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.mturk.qualifications.system import (
    ADULT,
    APPROVED_COUNT,
    APPROVED_PERCENT,
    LOCALE,
    MASTERS,
    NAMES,
    system_value,
)
from marketplace.mturk.tables import (
    Assignment,
    Grant,
    HitType,
    QualificationType,
    Worker,
    WorkerBlock,
)

Action = Literal["discover", "preview", "accept"]
_GUARDED: dict[str, tuple[Action, ...]] = {
    "Accept": ("accept",),
    "PreviewAndAccept": ("preview", "accept"),
    "DiscoverPreviewAndAccept": ("discover", "preview", "accept"),
}
_COMPARE = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
    "EqualTo": operator.eq,
    "NotEqualTo": operator.ne,
}
_NAMES = {
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


def may(session: Session, worker: Worker, hit_type: HitType, action: Action) -> bool:
    """Return whether the worker meets all requirements for the action on HITs of this type."""
    blocked = select(WorkerBlock).where(WorkerBlock.worker_id == worker.worker_id)
    if session.scalar(blocked) is not None:
        return False
    return not unmet(session, worker, hit_type, action)


def unmet(
    session: Session, worker: Worker, hit_type: HitType, action: Action
) -> list[Mapping[str, Any]]:
    """Return the requirements for the action that the worker does not meet."""
    guarding = [each for each in hit_type.requirements if action in _guarded(each)]
    return [each for each in guarding if not _meets(session, worker, each)]


def _guarded(requirement: Mapping[str, Any]) -> tuple[Action, ...]:
    # The older way to protect the preview as well.
    preview = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return _GUARDED[requirement.get("ActionsGuarded", preview)]


def _meets(session: Session, worker: Worker, requirement: Mapping[str, Any]) -> bool:
    comparator, type_id = requirement["Comparator"], requirement["QualificationTypeId"]
    if type_id == LOCALE:
        return _locale_met(worker, comparator, requirement.get("LocaleValues", []))
    value = _value(session, worker, type_id)
    if comparator in ("Exists", "DoesNotExist"):
        return (value is not None) is (comparator == "Exists")
    wanted = requirement.get("IntegerValues", [])
    if value is None:
        return False
    if comparator in ("In", "NotIn"):
        return (value in wanted) is (comparator == "In")
    return bool(_COMPARE[comparator](value, wanted[0]))


def _locale_met(worker: Worker, comparator: str, places: list[Mapping[str, str]]) -> bool:
    known = bool(worker.country)
    if comparator in ("Exists", "DoesNotExist"):
        return known == (comparator == "Exists")
    lives_there = any(
        place["Country"] == worker.country
        and place.get("Subdivision", worker.subdivision) == worker.subdivision
        for place in places
    )
    return known and lives_there == (comparator in ("EqualTo", "In"))


def _value(session: Session, worker: Worker, type_id: str) -> int | None:
    if type_id in NAMES:
        return system_value(worker, type_id, *_judged(session, worker))
    return session.scalar(
        select(Grant.value)
        .join(QualificationType)
        .where(
            QualificationType.qualification_type_id == type_id,
            Grant.worker_id == worker.worker_id,
            Grant.status == "Granted",
        )
    )


def _judged(session: Session, worker: Worker) -> tuple[int, int]:
    rows = session.execute(
        select(Assignment.status, func.count())
        .where(Assignment.worker_id == worker.worker_id)
        .group_by(Assignment.status)
    )
    counts = dict(rows.all())
    return counts.get("approved", 0), counts.get("rejected", 0)


def requirement_in_words(session: Session, requirement: Mapping[str, Any]) -> str:
    """Return e.g. ``HIT approval rate (%) is not less than 95``."""
    type_id = requirement["QualificationTypeId"]
    name = _NAMES.get(type_id) or session.scalar(
        select(QualificationType.name).where(QualificationType.qualification_type_id == type_id)
    )
    places = [
        "-".join(filter(None, (place["Country"], place.get("Subdivision"))))
        for place in requirement.get("LocaleValues", ())
    ]
    values = [*places, *map(str, requirement.get("IntegerValues", ()))]
    words = (name, _COMPARATORS[requirement["Comparator"]], ", ".join(values))
    return " ".join(word for word in words if word)
