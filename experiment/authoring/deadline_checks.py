"""Checks of a response deadline: whether it can be kept, and who is asked about it."""

from collections.abc import Iterator

from experiment.authoring.findings import Examined, StudyNote
from experiment.errors import ParallaxError, StudyError
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of


def deadlines(examined: Examined) -> Iterator[ParallaxError]:
    """Yield deadlines that nobody can keep or that nobody knows."""
    study = examined.study
    try:
        response = response_of(study)
    except ParallaxError:
        # It is named with its own key.
        return
    tasks = response.types or {"": response}
    with_one = {name: one for name, one in tasks.items() if one.deadline_ms is not None}
    if response.types and response.deadline_ms is not None:
        yield StudyError(
            "the deadline is of the whole session, but each of its tasks has one of its own, or "
            "none",
            where=examined.at("trial", "parameters", "deadline_ms"),
            expected="deadline_ms below [trial.parameters.tasks.NAME]",
        )
    for name, one in with_one.items():
        yield from _too_early(examined, name, one)
    if with_one and not study.trial.practice:
        yield StudyNote(
            "participants meet the deadline without practice: only practice trials say that an "
            "answer was late",
            where=_where(examined, next(iter(with_one))),
            expected="practice trials (docs/studies.md)",
        )


def _too_early(examined: Examined, task: str, one: ResponseType) -> Iterator[ParallaxError]:
    lockout = examined.study.trial.lockout_ms
    if one.deadline_ms is not None and one.deadline_ms <= lockout:
        yield StudyError(
            f"the deadline is after {one.deadline_ms} ms, but no press counts in the first "
            f"{lockout} ms",
            where=_where(examined, task),
            expected=f"more than {lockout}",
            remedy="Raise deadline_ms, or lower lockout_ms below [trial]",
        )


def _where(examined: Examined, task: str) -> str:
    inner = ("tasks", task) if task else ()
    return examined.at("trial", "parameters", *inner, "deadline_ms")
