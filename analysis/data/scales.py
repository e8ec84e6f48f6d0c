"""Trials with several scales: the ratings on each scale, as a run with only that scale."""

from dataclasses import replace

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from experiment.exclusion.rules import parts_of
from experiment.plugins import unknown_name
from experiment.responses.base import ResponseType
from experiment.responses.rating.rating import PREFIX
from experiment.responses.registry import known_response, response_of
from experiment.studies.study import Rule, Study


def rating_ends(run: ExportedRun) -> tuple[float, float]:
    """Return the lowest and the highest rating that could be given."""
    return run.rating_ends or response_of(run.study, own_code=False).rating_ends


def is_slider(run: ExportedRun) -> bool:
    """Return whether ratings are numbers between two ends, not points of a scale from 1."""
    return run.rating_ends is not None or rating_ends(run)[0] != 1


def write_ends(ends: tuple[float, float]) -> str:
    """Return the ends of a scale in words, as in "0 to 100"."""
    return " to ".join(f"{end:g}" for end in ends)


def find_scales(study: Study) -> ResponseType | None:
    """Return the type of trials with several scales; None unless there are several."""
    response = known_response(study)
    return response if response and response.named_scales else None


def select_scale(run: ExportedRun, response: ResponseType, name: str) -> ExportedRun:
    """Return a run's ratings on one scale, as a run that has only this scale.

    Args:
        run: The exported run.
        response: The type of the run's trials.
        name: The scale's name.

    Raises:
        AnalysisError: There is no such scale, or the table of responses lacks its column.
    """
    if name not in response.named_scales:
        raise AnalysisError(
            unknown_name("scale", name, response.named_scales).problem,
            where=str(run.folder),
            expected=f"one of {', '.join(response.named_scales)}",
        )
    column = f"{PREFIX}{name}"
    if column not in run.responses:
        raise AnalysisError(
            f'the responses lack the column "{column}"',
            where=str(run.folder),
            expected="a column for each scale of the study",
        )
    study = make_study_of_part(run.study, response, name)
    columns = [f"{PREFIX}{scale}" for scale in response.named_scales]
    responses = run.responses.assign(rating=run.responses[column]).drop(columns=columns)
    return replace(run, study=study, responses=responses, whole_study=run.study, part=name)


def select_rules_of_scale(study: Study, name: str) -> list[Rule]:
    """Return the exclusion rules that apply to one of a study's scales.

    The returned rules do not name a scale, as in a study with only this scale.

    Args:
        study: The study.
        name: The scale's name. Rules that name another scale are left out.
    """
    rules = [rule for rule in study.exclusion if _scales_in_rule(rule) <= {name}]
    return [_remove_scale(rule, name) for rule in rules]


def _remove_scale(rule: Rule, name: str) -> Rule:
    settings = rule.model_dump()
    if settings.get("scale") == name:
        del settings["scale"]
    if parts := list(parts_of(rule)):
        settings["rules"] = [_remove_scale(part, name).model_dump() for part in parts]
    return Rule.model_validate(settings)


def _scales_in_rule(rule: Rule) -> set[str]:
    scale = (rule.model_extra or {}).get("scale")
    return ({scale} if isinstance(scale, str) else set()).union(
        *map(_scales_in_rule, parts_of(rule))
    )


def make_study_of_part(study: Study, response: ResponseType, name: str) -> Study:
    """Return the study as one with only one of its tasks or scales.

    Args:
        study: The study.
        response: The study's response type.
        name: The task's or the scale's name.
    """
    part = response.settings_of_part(name)
    about = study.study.model_copy(update={"title": part.title}) if part.title else study.study
    trial = study.trial.model_copy(update={"parameters": dict(part.parameters)})
    return study.model_copy(update={"response": part.response, "study": about, "trial": trial})


def make_study_of_scale(study: Study, response: ResponseType, name: str) -> Study:
    """Return the study with one scale alone, and the exclusion rules that apply to it."""
    rules = select_rules_of_scale(study, name)
    return make_study_of_part(study, response, name).model_copy(update={"exclusion": rules})
