"""What the browser has to know of a study's questions, to take their answers without a server."""

from collections.abc import Iterable
from typing import Any

from experiment.studies.question import Question
from webapp.sessions.mistakes import every_word


def question_data(question: Question, accept: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what the browser has to know of a question; only while a language is spoken.

    Args:
        question: The question.
        accept: The answers that let somebody go on; None where every answer does.
    """
    known = {
        "name": question.name,
        "type": question.type,
        "options": question.options,
        "required": question.required,
        "points": question.points,
        "fewest": question.fewest,
        "most": question.most,
        "numbers": question.numbers,
        "only_if": getattr(question, "only_if", {}),
        "words": every_word(question),
    }
    if accept is None:
        return known
    limits = {name: getattr(question, name, None) for name in ("at_least", "at_most")}
    return {**known, **limits, "accept": list(accept)}
