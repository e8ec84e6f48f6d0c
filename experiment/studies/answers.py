"""Answers to a form's questions: which were asked, and what is wrong with an answer."""

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from experiment.studies.question import BETWEEN_CHOICES, FinalQuestion, Question

LONGEST_TEXT = 5000
_LONGEST_NUMBER = 32
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)
# Databases refuse the null character and nobody types the others; tabs and line ends are text.
_LINE_END = re.compile(r"\r\n?")
_UNTYPEABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Mistake(StrEnum):
    """What can be wrong with an answer."""

    REQUIRED = "required"
    CHOICE = "choice"
    FEWER = "fewer"
    MORE = "more"
    NUMBER = "number"
    RANGE = "range"
    LONGEST = "longest"


def cleaned(text: str) -> str:
    """Return what was written into a field, without what nobody types."""
    return _UNTYPEABLE.sub("", _LINE_END.sub("\n", text)).strip()


def chosen(answer: str) -> list[str]:
    """Return the answers of who chose several, in the order of the options."""
    return [one for one in answer.split(BETWEEN_CHOICES) if one]


def is_asked(question: Question, answers: Mapping[str, str]) -> bool:
    """Return whether the answers to the questions before it let a question be asked."""
    if not isinstance(question, FinalQuestion):
        return True
    # Several answers may have been chosen, and one of them is enough.
    return all(
        not {answers.get(name, ""), *chosen(answers.get(name, ""))}.isdisjoint(wanted)
        for name, wanted in question.only_if.items()
    )


def asked_questions(
    questions: Sequence[Question], answers: Mapping[str, str]
) -> dict[str, Question]:
    """Return the questions that somebody who gave these answers is asked, by name.

    An answer to a question that is not asked decides nothing about later ones.
    """
    asked: dict[str, Question] = {}
    for question in questions:
        if is_asked(question, {name: answers.get(name, "") for name in asked}):
            asked[question.name] = question
    return asked


def mistake(question: Question, answer: str) -> Mistake | None:
    """Return what is wrong with a cleaned answer; None where nothing is."""
    if not answer:
        return Mistake.REQUIRED if question.required else None
    match question.type:
        case "choice" | "scale":
            return None if answer in map(cleaned, question.offered) else Mistake.CHOICE
        case "choices":
            return _of_several(question, chosen(answer))
        case "number":
            return None if _is_number(answer) else Mistake.NUMBER
        case "slider":
            return None if _is_number(answer) and _on_slider(question, answer) else Mistake.RANGE
        case _:
            return Mistake.LONGEST if len(answer) > LONGEST_TEXT else None


def _of_several(question: Question, answers: Sequence[str]) -> Mistake | None:
    offered = list(map(cleaned, question.offered))
    if not set(answers) <= set(offered) or len(set(answers)) < len(answers):
        return Mistake.CHOICE
    if question.fewest and len(answers) < question.fewest:
        return Mistake.FEWER
    return Mistake.MORE if question.most and len(answers) > question.most else None


def _is_number(answer: str) -> bool:
    return len(answer) <= _LONGEST_NUMBER and bool(_NUMBER.fullmatch(answer))


def _on_slider(question: Question, answer: str) -> bool:
    low, high, step = question.numbers
    number = float(answer.replace(",", "."))
    steps = (number - low) / step
    return low <= number <= high and math.isclose(steps, round(steps), abs_tol=1e-6)
