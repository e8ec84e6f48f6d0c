"""Checks of the questionnaire: questions that nobody can answer, or that nobody is asked."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.authoring.findings import Examined
from experiment.errors import ParallaxError, StudyError, StudyNote, placed
from experiment.plugins import unknown_name
from experiment.studies.question import BETWEEN_CHOICES, Question


def questionnaire(examined: Examined) -> Iterator[ParallaxError]:
    """Yield questions that nobody can answer, or whose answers could not be told apart."""
    questions = examined.study.questionnaire
    for name in _repeated([question.name for question in questions]):
        second = [n for n, question in enumerate(questions) if question.name == name][1]
        yield StudyError(
            f'two questions are called "{name}"',
            where=examined.at("questionnaire", second, "name"),
            expected="a different name for each question",
        )
    for number, question in enumerate(questions):
        where = examined.at("questionnaire", number, "options")
        yield from _condition(examined, number)
        several = question.type in ("choice", "choices")
        if several and not [text for text in question.options if text.strip()]:
            never = ", and no one could finish, because it is required" * question.required
            yield StudyError(
                f'the question "{question.name}" is a choice without options{never}',
                where=where,
                expected='the answers it offers, e.g. options = ["yes", "no"]',
                remedy='Give options, or make it type = "text"',
            )
        elif several:
            yield from _options(question, where)
        elif question.options:
            yield StudyError(
                f'the question "{question.name}" is of type {question.type} but has options',
                where=where,
                expected='options only for type = "choice" or "choices"',
                remedy='Write type = "choice", or remove the options',
            )


def _condition(examined: Examined, number: int) -> Iterator[ParallaxError]:
    """Yield conditions on what was not asked before, or on an answer that nobody can give."""
    question = examined.study.questionnaire[number]
    before = {one.name: one for one in examined.study.questionnaire[:number]}
    where = examined.at("questionnaire", number, "only_if")
    for name, answers in question.only_if.items():
        if (other := before.get(name)) is None:
            yield placed(unknown_name("earlier question", name, list(before)), where)
        elif not (offered := other.offered):
            yield StudyError(
                f'the question "{question.name}" depends on "{name}", into which people write or '
                "set what they like",
                where=where,
                expected="an earlier question of type choice, choices or scale",
            )
        elif unknown := [one for one in answers if one not in offered]:
            yield placed(unknown_name(f'answer to "{name}",', unknown[0], offered), where)


def _options(question: Question, where: str) -> Iterator[ParallaxError]:
    name, options = question.name, question.options
    if question.type == "choices" and (
        mixed := [one for one in options if BETWEEN_CHOICES.strip() in one]
    ):
        yield StudyError(
            f'the question "{name}" offers "{mixed[0]}", and a semicolon stands between the '
            "answers of who chooses several",
            where=where,
            expected="options without a semicolon",
        )
    if twice := _repeated(options):
        yield StudyError(
            f'the question "{name}" offers "{twice[0]}" more than once',
            where=where,
            expected="each answer only once",
        )
    if any(not option.strip() for option in options):
        yield StudyError(
            f'the question "{name}" offers an empty answer', where=where, expected="texts"
        )
    if spaced := [option for option in options if " ".join(option.split()) != option]:
        yield StudyError(
            f'the question "{name}" offers {spaced[0]!r}, with spaces that no browser sends back',
            where=where,
            expected="answers without spaces at their ends, and with single spaces inside",
        )
    if alike := _repeated([option.casefold() for option in options if options.count(option) == 1]):
        yield StudyNote(
            f'the question "{name}" offers "{alike[0]}" twice, in upper and lower case', where=where
        )
    if len(options) == 1:
        yield StudyNote(f'the question "{name}" offers only one answer', where=where)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, number in Counter(names).items() if number > 1]
