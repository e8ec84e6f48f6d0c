"""The editions of a study's pages by level, and what the browser knows of their questions."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from experiment.studies.question import Question
from experiment.studies.study import Study
from webapp.sessions.mistakes import every_word


class Editions(NamedTuple):
    """A study as the participants of its lists meet it.

    Attributes:
        studies: Each edition once; lists without a wording of their own share the first one.
        of_list: The number of each list's edition, from 0.
    """

    studies: list[Study]
    of_list: list[int]


def editions_of(study: Study) -> Editions:
    """Return a study's editions: one where no level changes the pages, the title or the questions.

    Raises:
        FileNotFoundError: A text of the study is not there.
    """
    known: dict[object, int] = {}
    found = Editions([], [])
    for list_ in range(study.design.n_lists):
        met = study.of_list(list_)
        texts = tuple(met.text(page) for page in met.texts)
        asked = tuple(question.name for question in met.questionnaire)
        number = known.setdefault((met.study.title, texts, asked), len(known))
        if number == len(found.studies):
            found.studies.append(met)
        found.of_list.append(number)
    return found


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
