"""The optional question after a sentence: its answers, and which answer is right."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from experiment.errors import StudyError
from experiment.materials.formats.regions import BAR
from experiment.records import PAIR, Item, Side
from experiment.responses.reading.division import flaw

QUESTION, ANSWER, ANSWERS = "question", "answer", "answers"
# Accepted spellings of yes and no; the page has its own words for them.
_YES_NO = {"yes": Side.FIRST, "y": Side.FIRST, "1": Side.FIRST, "true": Side.FIRST,
           "no": Side.SECOND, "n": Side.SECOND, "0": Side.SECOND, "false": Side.SECOND}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a sentence.

    Attributes:
        text: The question.
        answers: Two answers, in the order of the screen; empty for yes and no.
        right: The side of the right answer.
    """

    text: str
    answers: tuple[str, ...]
    right: Side


class Questioned(BaseModel):
    """The parameters of the types that may ask a question after a sentence."""

    wrong_answers: Literal["keep", "drop"] = Field(
        default="keep",
        description="what the analysis makes of the times of sentences whose question was "
        "answered wrongly",
    )
    yes: str = Field(default="", description="what the answer yes says; empty for Yes")
    no: str = Field(default="", description="what the answer no says; empty for No")


def question_of(item: Item) -> Question | None:
    """Return the question after an item, from its columns question, answers and answer.

    Raises:
        StudyError: The item does not name the right answer.
    """
    columns = dict(item.extra)
    text = columns.get(QUESTION, "").strip()
    if not text:
        return None
    answers = tuple(part.strip() for part in columns.get(ANSWERS, "").split(BAR) if part.strip())
    if answers and len(answers) != len(PAIR):
        raise flaw(
            item,
            f'its question has {len(answers)} answers: "{columns[ANSWERS]}"',
            f'two, with a bar between them, such as "the cook {BAR} the guest"; nothing for yes '
            "and no",
        )
    expected = columns.get(ANSWER, "").strip()
    right = _place(expected, answers)
    if right is None:
        raise _without_key(item, expected, answers)
    return Question(text, answers, right)


def _place(expected: str, answers: tuple[str, ...]) -> Side | None:
    if not answers:
        return _YES_NO.get(expected.lower())
    return PAIR[answers.index(expected)] if expected in answers else None


def _without_key(item: Item, expected: str, answers: tuple[str, ...]) -> StudyError:
    among = " or ".join(f'"{answer}"' for answer in answers) or "yes or no"
    what = f'says "{expected}"' if expected else "is empty"
    return flaw(
        item,
        f'its question has no right answer: the column "{ANSWER}" {what}',
        f'{among} in the column "{ANSWER}"',
    )
