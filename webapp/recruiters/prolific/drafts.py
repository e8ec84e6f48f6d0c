"""A task and an offer as a draft of Prolific's."""

from typing import Any

from webapp.recruiters.platform import Audience, Offer, PlatformError, Task
from webapp.recruiters.prolific.codes import completion_codes
from webapp.recruiters.prolific.settings import ProlificSettings

_PLACEHOLDERS = {
    "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
    "STUDY_ID": "{{%STUDY_ID%}}",
    "SESSION_ID": "{{%SESSION_ID%}}",
}
_MARK_CHARS = 16
# Prolific hides a study from whoever took part in one of these.
_NOT_OF = "previous_studies_blocklist"


def entry_link(link: str) -> str:
    """Return the address of a run with the ids that the platform fills in."""
    joined = "&" if "?" in link else "?"
    return link + joined + "&".join(f"{name}={value}" for name, value in _PLACEHOLDERS.items())


def mark(token: str) -> str:
    """Return what finds a draft again, by its internal name, when the answer was lost."""
    return f"[{token[:_MARK_CHARS]}]"


def draft_of(task: Task, offer: Offer, settings: ProlificSettings) -> dict[str, Any]:
    """Return the study that offers a task.

    Raises:
        PlatformError: The task wants what the platform has not.
    """
    _refuse_other_platforms_terms(task.audience)
    made: dict[str, Any] = {
        "name": task.title,
        "internal_name": f"{task.title} {mark(offer.token)}",
        "description": task.description,
        "external_study_url": entry_link(offer.link),
        "prolific_id_option": "url_parameters",
        "completion_codes": completion_codes(task, offer.token),
        "total_available_places": offer.places,
        "estimated_completion_time": _minutes(task),
        "maximum_allowed_time": round(task.duration.total_seconds() / 60),
        "reward": task.reward_minor,
        "device_compatibility": list(task.devices),
        "peripheral_requirements": [],
        "filters": filters_of(task),
        "submissions_config": {"max_submissions_per_participant": 1},
        "is_external_study_url_secure": settings.signed_arrivals,
    }
    return made | ({"project": settings.project} if settings.project else {})


def filters_of(task: Task) -> list[dict[str, Any]]:
    """Return who finds the task: the study's own filters, and nobody of an earlier run's studies.

    Raises:
        PlatformError: The study's own filters name earlier studies, too.
    """
    filters: list[dict[str, Any]] = [dict(each) for each in task.filters]
    if not task.audience.not_of:
        return filters
    if any(each.get("filter_id") == _NOT_OF for each in filters):
        raise PlatformError(
            f"the study excludes earlier runs, and has a filter {_NOT_OF} of its own",
            where="study.toml, recruitment",
            expected="one of the two",
            remedy="Remove exclude_earlier_runs and name all of the studies in the filter,"
            " or remove the filter",
        )
    return [*filters, {"filter_id": _NOT_OF, "selected_values": list(task.audience.not_of)}]


def _minutes(task: Task) -> int:
    median = task.median_minutes or task.duration.total_seconds() / 60 / 4
    return max(1, round(median))


def _refuse_other_platforms_terms(audience: Audience) -> None:
    asked = {
        "countries": audience.countries,
        "min_approval_percent": audience.min_approval_percent,
        "min_approved": audience.min_approved,
        "masters": audience.masters,
        "require": audience.having,
        "refuse": audience.lacking,
    }
    wrong = [name for name, value in asked.items() if value]
    if wrong:
        raise PlatformError(
            f"Prolific does not know {', '.join(wrong)}",
            where="study.toml, recruitment",
            expected="filters by Prolific's own names",
            remedy="docs/prolific.md shows how to choose the same people with filters",
        )
