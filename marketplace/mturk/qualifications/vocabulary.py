"""Requirements in the words a worker reads."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.qualifications.system import (
    ADULT,
    APPROVED_COUNT,
    APPROVED_PERCENT,
    LOCALE,
    MASTERS,
)
from marketplace.mturk.tables import QualificationType

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
