"""Validation of a requester's qualification requirements."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, unknown
from marketplace.mturk.qualifications.system import LOCALE, NAMES
from marketplace.mturk.tables import QualificationType
from marketplace.mturk.wire import Request

_MOST = 10
_SET_SIZES = {"IntegerValues": 15, "LocaleValues": 30}
_OF_LOCALES = ("EqualTo", "NotEqualTo", "In", "NotIn")


def checked_requirements(
    session: Session, now: datetime, request: Request
) -> list[dict[str, object]]:
    """Return a HIT type's validated requirements.

    Raises:
        RefusedError: There are too many requirements, or one is invalid.
    """
    requirements: list[dict[str, object]] = request.get("QualificationRequirements", [])
    if len(requirements) > _MOST:
        raise _refused(f"A HIT can have at most {_MOST} qualification requirements.", now)
    for requirement in requirements:
        type_id = str(requirement["QualificationTypeId"])
        if type_id not in NAMES:
            find_qualification_type(session, type_id, now)
        problem = _problem(requirement)
        if problem:
            raise _refused(f"QualificationRequirement of {type_id}: {problem}", now)
    return requirements


def find_qualification_type(session: Session, type_id: str, now: datetime) -> QualificationType:
    """Return one of the requester's qualification types.

    Raises:
        RefusedError: No type has that identifier.
    """
    found = session.scalar(
        select(QualificationType).where(
            QualificationType.qualification_type_id == type_id,
            QualificationType.deleted_at.is_(None),
        )
    )
    if found is None:
        raise unknown("QualificationType", type_id, now)
    return found


def _problem(requirement: Mapping[str, Any]) -> str:
    comparator, is_locale = requirement["Comparator"], requirement["QualificationTypeId"] == LOCALE
    ours, other = ("LocaleValues", "IntegerValues")[:: 1 if is_locale else -1]
    values = requirement.get(ours, [])
    if requirement.get(other):
        return f"{other} do not fit it."
    if comparator in ("Exists", "DoesNotExist"):
        return f"{comparator} takes no values." if values else ""
    if is_locale and comparator not in _OF_LOCALES:
        return f"A locale cannot be compared with {comparator}."
    if comparator in ("In", "NotIn"):
        most = _SET_SIZES[ours]
        return "" if 1 <= len(values) <= most else f"{comparator} takes 1 to {most} {ours}."
    return "" if len(values) == 1 else f"{comparator} takes exactly one of {ours}."


def _refused(message: str, now: datetime) -> RefusedError:
    return RefusedError("ParameterValidationError", message, now)
