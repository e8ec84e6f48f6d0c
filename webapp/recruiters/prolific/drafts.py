"""Build Prolific's draft of a study from a task and an offer."""

from collections.abc import Iterable
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
SIGNS_LINKS = "is_external_study_url_secure"
# Hides a study from participants of these earlier studies.
_NOT_OF = "previous_studies_blocklist"
# Shows a study only to participants of these earlier studies.
_ONE_OF = "previous_studies_allowlist"


def entry_link(link: str) -> str:
    """Return a run's address with the platform's id placeholders."""
    joined = "&" if "?" in link else "?"
    return link + joined + "&".join(f"{name}={value}" for name, value in _PLACEHOLDERS.items())


def access_details(quotas: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    """Return addresses with their places, in the platform's format."""
    return [
        {"external_url": entry_link(address), "total_allocation": places}
        for address, places in quotas
    ]


def own_address(entry: str) -> str:
    """Return an address without the platform's id placeholders."""
    return entry.removesuffix(entry_link("?").removeprefix("?"))


def mark(token: str) -> str:
    """Return the mark in a draft's internal name, by which a lost draft is found again."""
    return f"[{token[:_MARK_CHARS]}]"


def draft_of(task: Task, offer: Offer, settings: ProlificSettings) -> dict[str, Any]:
    """Return the study that offers a task.

    Raises:
        PlatformError: The task needs a feature that the platform lacks.
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
        "peripheral_requirements": list(task.peripherals),
        "submissions_config": _submissions(task),
        SIGNS_LINKS: settings.signed_arrivals is not False,
    }
    if offer.quotas:
        del made["external_study_url"]
        made["access_details"] = access_details(offer.quotas)
    return made | _who(task) | _chosen(task, settings)


def test_draft_of(task: Task, offer: Offer, settings: ProlificSettings) -> dict[str, Any]:
    """Return a test draft of a task, whose pages are only a preview.

    Its name has no mark, so it is never mistaken for an offer of the run.
    """
    made = draft_of(task, offer, settings)
    link = f"{offer.link}{'&' if '?' in offer.link else '?'}preview=1"
    return {
        **made,
        "internal_name": f"{task.title} (test)",
        "external_study_url": entry_link(link),
        "total_available_places": 1,
    }


def _submissions(task: Task) -> dict[str, int]:
    most = {} if task.most_at_once is None else {"max_concurrent_submissions": task.most_at_once}
    return {"max_submissions_per_participant": 1, **most}


def _who(task: Task) -> dict[str, Any]:
    """Return the draft's filters of participants."""
    if not task.filter_set:
        return {"filters": filters_of(task)}
    if task.audience.not_of or task.audience.one_of:
        raise PlatformError(
            "a filter set cannot be combined with exclude_earlier_runs or after",
            where="study.toml, recruitment",
            expected="filters in study.toml, or a filter set alone",
            remedy="Write the set's filters into [[recruitment.filters]]",
        )
    version = task.filter_set_version
    chosen = {"filter_set_id": task.filter_set}
    return chosen if version is None else {**chosen, "filter_set_version": version}


def _chosen(task: Task, settings: ProlificSettings) -> dict[str, Any]:
    """Return the draft's optional fields, set by the study or the installation."""
    said = {
        "project": settings.project,
        "naivety_distribution_rate": task.naivety,
        "study_labels": [task.label] if task.label else None,
        "content_warnings": [task.content_warning] if task.content_warning else None,
        "content_warning_details": task.content_warning_details,
    }
    return {name: value for name, value in said.items() if value not in (None, "")}


def filters_of(task: Task) -> list[dict[str, Any]]:
    """Return the task's filters: the study's own, and the conditions on earlier runs.

    Raises:
        PlatformError: The study's own filters also name earlier studies.
    """
    ours = [
        *([{"filter_id": _NOT_OF, "selected_values": list(task.audience.not_of)}]
          if task.audience.not_of else []),
        *({"filter_id": _ONE_OF, "selected_values": list(part)} for part in task.audience.one_of),
    ]  # fmt: skip
    written = {str(each.get("filter_id")) for each in task.filters}
    for each in ours:
        if each["filter_id"] in written:
            raise PlatformError(
                f"the study has a filter {each['filter_id']} of its own beside"
                " exclude_earlier_runs or after",
                where="study.toml, recruitment",
                expected="one of the two",
                remedy="Remove the key and name all of the studies in the filter,"
                " or remove the filter",
            )
    return [*(dict(each) for each in task.filters), *ours]


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
