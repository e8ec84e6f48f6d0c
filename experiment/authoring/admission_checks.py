"""Checks of the questions before the first trial, and of the keys that end a session."""

from collections.abc import Iterator, Sequence

from experiment.authoring.findings import Examined
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.studies.question import Question

_FIELDS = ("try",)


def admission(examined: Examined) -> Iterator[ParallaxError]:
    """Yield questions whose answers could not be told apart, and checks that check nothing."""
    study = examined.study
    asked: list[tuple[tuple[str | int, ...], Question]] = [
        (("screening", number), question) for number, question in enumerate(study.screening)
    ]
    comprehension = study.comprehension.questions if study.comprehension else []
    asked += [
        (("comprehension", "questions", number), question)
        for number, question in enumerate(comprehension)
    ]
    known = [question.name for question in study.questionnaire]
    for path, question in asked:
        yield from _problems(question, known, examined.at(*path, "name"))
        known.append(question.name)
    offered = study.recruitment.devices if study.recruitment else []
    if refused := study.taking_part.refuses([*offered]):
        yield StudyNote(
            f"the platform lets people come with a {refused[0]}, and the study refuses it",
            where=examined.at("recruitment", "devices"),
            expected="no other devices than those of [taking_part]",
        )
    if study.attention and not any(square.catch_trials for square in study.design.squares):
        yield StudyNote(
            "errors on catch trials end a session, but no square of the design has catch trials",
            where=examined.at("attention", "max_catch_errors"),
            expected="catch_trials in one of design.squares, or given lists that have catch trials",
        )


def _problems(question: Question, known: Sequence[str], where: str) -> Iterator[ParallaxError]:
    if question.name in known:
        yield StudyError(
            f'two questions are called "{question.name}"',
            where=where,
            expected="a different name for each question of the whole study",
        )
    if question.name in _FIELDS:
        yield StudyError(
            f'a question cannot be called "{question.name}": the form has a field of that name',
            where=where,
            expected="another name",
        )
    if spaced := [option for option in question.options if " ".join(option.split()) != option]:
        yield StudyError(
            f'the question "{question.name}" offers {spaced[0]!r}, with spaces that no browser '
            "sends back",
            where=where,
            expected="answers without spaces at their ends, and with single spaces inside",
        )
    if question.type == "choice" and len({*question.options}) < 2:
        yield StudyError(
            f'the question "{question.name}" is of type choice but has fewer than two options',
            where=where,
            expected='two options or more, e.g. options = ["yes", "no"]',
        )
