"""Notes for the researcher before publishing, and changes found on the platform afterwards."""

from collections.abc import Iterable, Iterator, Sequence

from experiment.money import in_words
from webapp.recruiters.platform import Task
from webapp.recruiters.prolific.answers import Recommendation, StudyAnswer
from webapp.recruiters.prolific.drafts import entry_link, filters_of
from webapp.recruiters.prolific.settings import ProlificSettings

_EACH = "one of its own for each list"
_LINKS = {
    None: "signed where the workspace can; Prolific is asked about each arrival that is not",
    True: "signed by Prolific; nobody else is let in",
    False: "not signed, so Prolific is asked about each arrival",
}


def notes_on(
    task: Task,
    recommended: Recommendation | None,
    settings: ProlificSettings,
) -> Sequence[tuple[str, str]]:
    """Return the notes on a task for the researcher to read before publishing."""
    return [
        *_pay(task, recommended),
        ("devices", _devices(task.devices)),
        ("filters", _who(task)),
        *_said(task),
        ("links", _LINKS[settings.signed_arrivals]),
        ("who finishes", "submitted by our server, awaits review"),
        ("participants who fail the attention check", "submitted by our server, awaits review"),
        ("who withdraws", _withdrawn(task)),
        ("participants who are screened out", _screened_out(task)),
        (
            "participants who decline, come late or find the study full",
            "are asked to return the submission",
        ),
    ]


def edits_of(
    study: StudyAnswer, task: Task, link: str, settings: ProlificSettings
) -> Sequence[str]:
    """Return descriptions of each difference between a study and what was posted."""
    pairs = (
        ("the reward", in_words(study.reward, task.currency),
         in_words(task.reward_minor, task.currency)),
        ("the address", _address(study, link), _EACH if task.list_quotas else entry_link(link)),
        ("the audience", *_audiences(study, task)),
        ("the choice of devices", _devices(study.device_compatibility), _devices(task.devices)),
    )  # fmt: skip
    found = [f"{name} is {now}, not {posted}" for name, now, posted in pairs if now != posted]
    if settings.signed_arrivals and not study.is_external_study_url_secure:
        found.append(
            "its links are not signed, so that prolific_signed_arrivals keeps everybody out"
        )
    ours = [code for code in study.completion_codes if code.actor == "researcher"]
    return (
        found if ours else [*found, "no completion code is under the researcher's control any more"]
    )


def _address(study: StudyAnswer, link: str) -> str | None:
    theirs = [str(each.get("external_url")) for each in study.access_details]
    if theirs and all(each.startswith(f"{link}?") for each in theirs):
        return _EACH
    return " and ".join(theirs) or study.external_study_url


def _audiences(study: StudyAnswer, task: Task) -> tuple[str, str]:
    if task.filter_set:
        return f"filter set {study.filter_set_id}", f"filter set {task.filter_set}"
    return _filters_in_words(study.filters), _filters_in_words(filters_of(task))


def _pay(task: Task, recommended: Recommendation | None) -> Iterator[tuple[str, str]]:
    if recommended is None:
        yield "Prolific recommends", "no amount for this currency"
        return
    good = in_words(recommended.recommended_reward_per_hour, task.currency)
    least = in_words(recommended.min_reward_per_hour, task.currency)
    yield "hourly pay that Prolific recommends", f"{good}, and at least {least}"
    if task.median_minutes:
        hourly = round(task.reward_minor * 60 / task.median_minutes)
        if hourly < recommended.min_reward_per_hour:
            yield (
                "WARNING",
                "the pay is below Prolific's minimum, so Prolific will not publish the study",
            )
        elif hourly < recommended.recommended_reward_per_hour:
            yield "WARNING", "the pay is below what Prolific recommends"


def _devices(devices: Iterable[str]) -> str:
    return ", ".join(sorted(devices)) or "any"


def _who(task: Task) -> str:
    return (
        f"filter set {task.filter_set}" if task.filter_set else _filters_in_words(filters_of(task))
    )


def _said(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the task's optional terms."""
    if task.peripherals:
        yield "participants need", ", ".join(task.peripherals)
    if task.list_quotas:
        yield "address and places", _EACH
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


def _withdrawn(task: Task) -> str:
    if task.withdrawn_percent is None:
        return "submitted by our server, awaits review"
    paid = in_words(task.reward_minor * task.withdrawn_percent // 100, task.currency)
    share = f"{task.withdrawn_percent} %"
    return f"is paid {paid} at once ({share}) after {share} of the study's time; else awaits review"


def _screened_out(task: Task) -> str:
    if not (task.screen_out_minor and task.screen_out_places):
        return "are asked to return the submission"
    paid = in_words(task.screen_out_minor, task.currency)
    return f"are paid {paid} at once, up to {task.screen_out_places} times; then the study pauses"
