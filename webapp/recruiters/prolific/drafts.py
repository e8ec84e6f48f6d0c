"""Build Prolific's draft of a study from a task and an offer, describe it, and find later edits."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from experiment.money import in_words
from webapp.recruiters.platform import Audience, Offer, PlatformError, Task
from webapp.recruiters.prolific.api import Recommendation, StudyAnswer
from webapp.recruiters.prolific.codes import make_completion_codes
from webapp.recruiters.prolific.settings import ProlificSettings

_PLACEHOLDERS = {
    "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
    "STUDY_ID": "{{%STUDY_ID%}}",
    "SESSION_ID": "{{%SESSION_ID%}}",
}
_MARK_CHARS = 16
SIGNS_LINKS = "is_external_study_url_secure"
# Hides a study from participants of these earlier studies.
_BLOCKLIST = "previous_studies_blocklist"
# Shows a study only to participants of these earlier studies.
_ALLOWLIST = "previous_studies_allowlist"


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


def remove_placeholders(entry: str) -> str:
    """Return an address without the platform's id placeholders."""
    return entry.removesuffix(entry_link("?").removeprefix("?"))


def compute_mark(token: str) -> str:
    """Return the mark in a draft's internal name, by which a lost draft is found again."""
    return f"[{token[:_MARK_CHARS]}]"


def build_draft(task: Task, offer: Offer, settings: ProlificSettings) -> dict[str, Any]:
    """Return the study that offers a task.

    Raises:
        PlatformError: The task needs a feature that the platform lacks.
    """
    _refuse_other_platforms_terms(task.audience)
    draft: dict[str, Any] = {
        "name": task.title,
        "internal_name": f"{task.title} {compute_mark(offer.token)}",
        "description": task.description,
        "external_study_url": entry_link(offer.link),
        "prolific_id_option": "url_parameters",
        "completion_codes": make_completion_codes(task, offer.token),
        "total_available_places": offer.places,
        "estimated_completion_time": _estimated_minutes(task),
        "maximum_allowed_time": round(task.duration.total_seconds() / 60),
        "reward": task.reward_minor,
        "device_compatibility": list(task.devices),
        "peripheral_requirements": list(task.peripherals),
        "submissions_config": _submission_limits(task),
        SIGNS_LINKS: settings.signed_arrivals is not False,
    }
    if offer.quotas:
        del draft["external_study_url"]
        draft["access_details"] = access_details(offer.quotas)
    return draft | _participant_filters(task) | _optional_fields(task, settings)


def make_test_draft(task: Task, offer: Offer, settings: ProlificSettings) -> dict[str, Any]:
    """Return a test draft of a task, whose pages are only a preview.

    Its name has no mark, so it is never mistaken for an offer of the run.
    """
    draft = build_draft(task, offer, settings)
    link = f"{offer.link}{'&' if '?' in offer.link else '?'}preview=1"
    return {
        **draft,
        "internal_name": f"{task.title} (test)",
        "external_study_url": entry_link(link),
        "total_available_places": 1,
    }


def _submission_limits(task: Task) -> dict[str, int]:
    limits = {} if task.most_at_once is None else {"max_concurrent_submissions": task.most_at_once}
    return {"max_submissions_per_participant": 1, **limits}


def _participant_filters(task: Task) -> dict[str, Any]:
    """Return the draft's filters of participants."""
    if not task.filter_set:
        return {"filters": list_filters(task)}
    if task.audience.not_of or task.audience.one_of:
        raise PlatformError(
            "a filter set cannot be combined with exclude_earlier_runs or after",
            where="study.toml, recruitment",
            expected="filters in study.toml, or a filter set alone",
            remedy="Write the set's filters into [[recruitment.filters]]",
        )
    version = task.filter_set_version
    filter_set = {"filter_set_id": task.filter_set}
    return filter_set if version is None else {**filter_set, "filter_set_version": version}


def _optional_fields(task: Task, settings: ProlificSettings) -> dict[str, Any]:
    """Return the draft's optional fields, set by the study or the installation."""
    fields = {
        "project": settings.project,
        "naivety_distribution_rate": task.naivety,
        "study_labels": [task.label] if task.label else None,
        "content_warnings": [task.content_warning] if task.content_warning else None,
        "content_warning_details": task.content_warning_details,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def list_filters(task: Task) -> list[dict[str, Any]]:
    """Return the task's filters: the study's own, and the conditions on earlier runs.

    Raises:
        PlatformError: The study's own filters also name earlier studies.
    """
    earlier_run_filters = [
        *([{"filter_id": _BLOCKLIST, "selected_values": list(task.audience.not_of)}]
          if task.audience.not_of else []),
        *({"filter_id": _ALLOWLIST, "selected_values": list(ids)} for ids in task.audience.one_of),
    ]  # fmt: skip
    own_filter_ids = {
        str(participant_filter.get("filter_id")) for participant_filter in task.filters
    }
    for participant_filter in earlier_run_filters:
        if participant_filter["filter_id"] in own_filter_ids:
            raise PlatformError(
                f"the study has a filter {participant_filter['filter_id']} of its own"
                " in addition to exclude_earlier_runs or after",
                where="study.toml, recruitment",
                expected="one of the two",
                remedy="Remove the key and name all of the studies in the filter,"
                " or remove the filter",
            )
    return [
        *(dict(participant_filter) for participant_filter in task.filters),
        *earlier_run_filters,
    ]


def _estimated_minutes(task: Task) -> int:
    median = task.median_minutes or task.duration.total_seconds() / 60 / 4
    return max(1, round(median))


def _refuse_other_platforms_terms(audience: Audience) -> None:
    terms = {
        "countries": audience.countries,
        "min_approval_percent": audience.min_approval_percent,
        "min_approved": audience.min_approved,
        "masters": audience.masters,
        "require": audience.having,
        "refuse": audience.lacking,
    }
    unsupported = [name for name, value in terms.items() if value]
    if unsupported:
        raise PlatformError(
            f"Prolific does not know {', '.join(unsupported)}",
            where="study.toml, recruitment",
            expected="filters by Prolific's own names",
            remedy="docs/prolific.md shows how to choose the same people with filters",
        )


_OWN_ADDRESS_OF_LIST = "one of its own for each list"
_LINKS = {
    None: "signed where the workspace can; Prolific is asked about each arrival that is not",
    True: "signed by Prolific; nobody else is let in",
    False: "not signed, so Prolific is asked about each arrival",
}


def list_notes(
    task: Task,
    recommended: Recommendation | None,
    settings: ProlificSettings,
) -> Sequence[tuple[str, str]]:
    """Return the notes on a task for the researcher to read before publishing."""
    return [
        *_describe_pay(task, recommended),
        ("devices", _devices_in_words(task.devices)),
        ("filters", _audience_in_words(task)),
        *_describe_optional_terms(task),
        ("links", _LINKS[settings.signed_arrivals]),
        ("who finishes", "submitted by our server, awaits review"),
        ("participants who fail the attention check", "submitted by our server, awaits review"),
        ("who withdraws", _withdrawal_in_words(task)),
        ("participants who are screened out", _screen_out_in_words(task)),
        (
            "participants who decline, come late or find the study full",
            "are asked to return the submission",
        ),
    ]


def list_edits(
    study: StudyAnswer, task: Task, link: str, settings: ProlificSettings
) -> Sequence[str]:
    """Return descriptions of each difference between a study and what was posted."""
    pairs = (
        (
            "the reward",
            in_words(study.reward, task.currency),
            in_words(task.reward_minor, task.currency),
        ),
        (
            "the address",
            _posted_address(study, link),
            _OWN_ADDRESS_OF_LIST if task.list_quotas else entry_link(link),
        ),
        ("the audience", *_describe_audiences(study, task)),
        (
            "the choice of devices",
            _devices_in_words(study.device_compatibility),
            _devices_in_words(task.devices),
        ),
    )
    edits = [f"{name} is {now}, not {posted}" for name, now, posted in pairs if now != posted]
    if settings.signed_arrivals and not study.is_external_study_url_secure:
        edits.append(
            "its links are not signed, so that prolific_signed_arrivals keeps everybody out"
        )
    our_codes = [code for code in study.completion_codes if code.actor == "researcher"]
    return (
        edits
        if our_codes
        else [*edits, "no completion code is under the researcher's control any more"]
    )


def _posted_address(study: StudyAnswer, link: str) -> str | None:
    addresses = [str(details.get("external_url")) for details in study.access_details]
    if addresses and all(details.startswith(f"{link}?") for details in addresses):
        return _OWN_ADDRESS_OF_LIST
    return " and ".join(addresses) or study.external_study_url


def _describe_audiences(study: StudyAnswer, task: Task) -> tuple[str, str]:
    if task.filter_set:
        return f"filter set {study.filter_set_id}", f"filter set {task.filter_set}"
    return _filters_in_words(study.filters), _filters_in_words(list_filters(task))


def _describe_pay(task: Task, recommended: Recommendation | None) -> Iterator[tuple[str, str]]:
    if recommended is None:
        yield "Prolific recommends", "no amount for this currency"
        return
    good = in_words(recommended.recommended_reward_per_hour, task.currency)
    recommended_minimum = in_words(recommended.min_reward_per_hour, task.currency)
    yield "hourly pay that Prolific recommends", f"{good}, and at least {recommended_minimum}"
    if task.median_minutes:
        hourly = round(task.reward_minor * 60 / task.median_minutes)
        if hourly < recommended.min_reward_per_hour:
            yield (
                "WARNING",
                "the pay is below Prolific's minimum, so Prolific will not publish the study",
            )
        elif hourly < recommended.recommended_reward_per_hour:
            yield "WARNING", "the pay is below what Prolific recommends"


def _devices_in_words(devices: Iterable[str]) -> str:
    return ", ".join(sorted(devices)) or "any"


def _audience_in_words(task: Task) -> str:
    return (
        f"filter set {task.filter_set}"
        if task.filter_set
        else _filters_in_words(list_filters(task))
    )


def _describe_optional_terms(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the task's optional terms."""
    if task.peripherals:
        yield "participants need", ", ".join(task.peripherals)
    if task.list_quotas:
        yield "address and places", _OWN_ADDRESS_OF_LIST
    if task.most_at_once is not None:
        yield "at work at the same time, at most", str(task.most_at_once)
    if task.naivety is not None:
        yield "naivety", f"{task.naivety:g}"
    if task.label:
        yield "label", task.label
    if task.group:
        yield "who finishes is put into", f"the participant group {task.group}"
    if task.content_warning:
        yield "content warning", f"{task.content_warning}: {task.content_warning_details or '-'}"


def _filters_in_words(filters: Iterable[object]) -> str:
    return "; ".join(sorted(map(_filter_in_words, filters))) or "everybody"


def _filter_in_words(chosen: object) -> str:
    if not isinstance(chosen, dict):
        return str(chosen)
    name = chosen.get("filter_id", "?")
    span = chosen.get("selected_range")
    if isinstance(span, dict):
        return f"{name} from {span.get('lower', '')} to {span.get('upper', '')}"
    return f"{name}: {', '.join(map(str, chosen.get('selected_values', [])))}"


def _withdrawal_in_words(task: Task) -> str:
    if task.withdrawn_percent is None:
        return "submitted by our server, awaits review"
    paid = in_words(task.reward_minor * task.withdrawn_percent // 100, task.currency)
    share = f"{task.withdrawn_percent} %"
    return f"is paid {paid} at once ({share}) after {share} of the study's time; else awaits review"


def _screen_out_in_words(task: Task) -> str:
    if not (task.screen_out_minor and task.screen_out_places):
        return "are asked to return the submission"
    paid = in_words(task.screen_out_minor, task.currency)
    return f"are paid {paid} at once, up to {task.screen_out_places} times; then the study pauses"
