"""Division of a sentence into steps shown one after another, and the question after them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from experiment.errors import StudyError
from experiment.materials.formats.words import BAR, MISSING_MARKS, MISSING_SIGNS
from experiment.records import MOST_STEPS, PAIR, SPACELESS, Item, Side, Variant

StepUnit = Literal["word", "region", "sentence"]
ContextUse = Literal["read", "whole"]
# In scripts without spaces, a longer stretch of letters is more than one word.
_LONGEST_WORD = 6
FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """A word or region of the item.

    Attributes:
        text: The word or region.
        region: The region's number, from 1; the step's own number if the item names no regions.
    """

    text: str
    region: int


def sentence_of(item: Item, version: str, context: ContextUse = "read") -> str:
    """Return the words of a version that are read step by step.

    Args:
        item: The item.
        version: The version.
        context: ``read``: the item's context is part of the sentence; ``whole``: it is shown
            before the sentence.
    """
    text = item.version(version)
    return item.after_context(text) if context == "read" else text.strip()


def sentence_with_bars(item: Item, version: str) -> str:
    """Return a version's sentence with bars between its regions; empty if it names no regions."""
    columns = dict(item.extra)
    with_bars = columns.get(f"{version}_regions", "")
    return with_bars or (columns.get("regions", "") if version == Variant.GOOD else "")


def divide_into_steps(
    item: Item, version: str, unit: StepUnit, context: ContextUse = "read"
) -> tuple[Step, ...]:
    """Return the steps in which a version of an item is read.

    Args:
        item: The item.
        version: The version.
        unit: The unit of a step.
        context: Whether the item's context is read step by step as well (see ``sentence_of``).

    Raises:
        StudyError: The regions do not match the sentence, or the sentence has fewer than two steps.
    """
    text, barred_sentence = sentence_of(item, version, context), sentence_with_bars(item, version)
    if BAR in text:
        raise flaw(
            item,
            f'the sentence holds the bar "{BAR}": {_shorten_text(text)}',
            "plain words, which models can score as well",
            f'Put the sentence with its bars into a column "{version}_regions"',
        )
    if unit == "sentence":
        return (Step(text, 1),)
    regions = (
        [" ".join(part.split()) for part in barred_sentence.split(BAR)] if barred_sentence else []
    )
    if context == "whole" and _remove_spaces("".join(regions)) == _remove_spaces(
        item.context + text
    ):
        regions = regions[_n_context_regions(item, regions) :]
    if regions and (not all(regions) or _remove_spaces("".join(regions)) != _remove_spaces(text)):
        raise flaw(
            item,
            f"the regions are not the sentence: {_shorten_text(barred_sentence)} against "
            f"{_shorten_text(text)}",
            "the same words in the same order, and no empty region",
        )
    if regions and unit == "region":
        steps = [Step(part, number) for number, part in enumerate(regions, start=1)]
    elif regions:
        numbered = enumerate(regions, start=1)
        steps = [Step(word, number) for number, part in numbered for word in part.split()]
    else:
        steps = [Step(word, number) for number, word in enumerate(text.split(), start=1)]
        _refuse_undivided(item, version, steps)
    if not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        noun = "region" if regions and unit == "region" else "word"
        raise flaw(
            item,
            f"the sentence has {len(steps)} {noun}{'' if len(steps) == 1 else 's'}: "
            f"{_shorten_text(text)}",
            f"{FEWEST_STEPS} to {MOST_STEPS}, because it is read step by step",
        )
    return tuple(steps)


def context_regions(item: Item, steps: Sequence[Step]) -> int:
    """Return how many regions of a sentence that begins with the context belong to the context."""
    texts: dict[int, str] = {}
    for step in steps:
        texts[step.region] = texts.get(step.region, "") + step.text
    return _n_context_regions(item, list(texts.values()))


def _n_context_regions(item: Item, regions: Sequence[str]) -> int:
    n_context_letters, letters = len(_remove_spaces(item.context)), 0
    number = 0
    while letters < n_context_letters and number < len(regions):
        letters += len(_remove_spaces(regions[number]))
        number += 1
    if letters != n_context_letters:
        raise flaw(
            item,
            f"the context ends within the region {_shorten_text(regions[number - 1])}",
            f"a bar ({BAR}) after the context",
        )
    return number


def _refuse_undivided(item: Item, version: str, steps: Sequence[Step]) -> None:
    for step in steps:
        if len(SPACELESS.findall(step.text)) > _LONGEST_WORD:
            raise flaw(
                item,
                f"nothing separates the words of {_shorten_text(step.text)}, whose script writes "
                "no spaces",
                f'a column "{version}_regions" with bars ({BAR}) between the words',
            )


def split_rendered_text(item: Item, steps: Sequence[Step], rendered: str) -> tuple[str, ...]:
    """Return the texts of the steps as they appear in the rendered sentence.

    Args:
        item: The item that is read.
        steps: The item's steps.
        rendered: The sentence as the screen shows it: the same letters except for capitals, and
            possibly an added final mark.

    Raises:
        StudyError: The rendering makes any other change.
    """
    places = [index for index, letter in enumerate(rendered) if not letter.isspace()]
    sizes = [len(_remove_spaces(step.text)) for step in steps]
    letters = _remove_spaces(" ".join(step.text for step in steps))
    if _remove_spaces(rendered)[: len(letters)].casefold() != letters.casefold():
        raise flaw(
            item,
            f"the rendering changes the words of the sentence: {_shorten_text(rendered)}",
            'a rendering that keeps its words, such as shown_to_people = "as_written"',
        )
    texts, begin, done = [], 0, 0
    for number, size in enumerate(sizes, start=1):
        done += size
        end = len(rendered) if number == len(sizes) else places[done]
        texts.append(rendered[begin:end].strip())
        begin = end
    return tuple(texts)


def flaw(item: Item, problem: str, expected: str, remedy: str = "") -> StudyError:
    """Return the error for an item that cannot be read step by step."""
    return StudyError(f'the item "{item.item_id}": {problem}', expected=expected, remedy=remedy)


def _remove_spaces(text: str) -> str:
    return "".join(text.split())


def _shorten_text(text: str) -> str:
    return f'"{text}"' if len(text) <= 80 else f'"{text[:77]}..."'


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


def question_text(item: Item) -> str:
    """Return the text of an item's question; empty without one, or with a mark such as "-"."""
    text = dict(item.extra).get(QUESTION, "").strip()
    return "" if text.lower() in MISSING_MARKS | MISSING_SIGNS else text


def question_of(item: Item) -> Question | None:
    """Return the question after an item, from its columns question, answers and answer.

    Raises:
        StudyError: The item does not name the right answer.
    """
    columns = dict(item.extra)
    text = question_text(item)
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
        raise _remove_answer_key(item, expected, answers)
    return Question(text, answers, right)


def _place(expected: str, answers: tuple[str, ...]) -> Side | None:
    if not answers:
        return _YES_NO.get(expected.lower())
    return PAIR[answers.index(expected)] if expected in answers else None


def _remove_answer_key(item: Item, expected: str, answers: tuple[str, ...]) -> StudyError:
    among = " or ".join(f'"{answer}"' for answer in answers) or "yes or no"
    fault = f'says "{expected}"' if expected else "is empty"
    return flaw(
        item,
        f'its question has no right answer: the column "{ANSWER}" {fault}',
        f'{among} in the column "{ANSWER}"',
    )
