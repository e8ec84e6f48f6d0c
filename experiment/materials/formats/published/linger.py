"""Items of Linger: a header, the sentence, and its questions with the right answer.

Rohde, D. (2003). Linger: a flexible platform for language processing experiments.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.columns import KIND_WORDS, PRACTICE_WORDS
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import read_text
from experiment.materials.formats.regions import join_regions
from experiment.materials.formats.words import BAR

_SUFFIX = ".itm"
# Linger itself calls its file of items so.
_NAME = "items"
_HEADER, _QUESTION, _CHOICE = "#", "?", "*"
_REGION_NAME = re.compile(r"@\S+(?:\s+|$)")
_FEWEST_WORDS = 3
_YES_NO = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
_SHOWN = 3


def _read(path: Path, terms: ReadOptions) -> Drafts:
    """Return the sentence below each header, with its first question.

    Raises:
        MaterialsError: The file is not text, a line has no header above it, or a header lacks its
            sentence, its number or its condition.
    """
    text, notes = read_text(path, terms.language)
    drafts, unasked = [], []
    for place, header, lines in _blocks(path, text):
        questions = [line[1:].split() for line in lines if line.startswith((_QUESTION, _CHOICE))]
        written = " ".join(line for line in lines if not line.startswith((_QUESTION, _CHOICE)))
        regions = [part.strip() for part in _REGION_NAME.split(written)]
        sentence = join_regions(regions)
        if not sentence:
            raise _error("the header has no sentence below it", place)
        extra = {"good_regions": f" {BAR} ".join(filter(None, regions))} if regions[1:] else {}
        asked = [words for words in questions if words[-1:] and words[-1].lower() in _YES_NO]
        if asked:
            *question, answer = asked[0]
            extra |= {"question": " ".join(question), "answer": _YES_NO[answer.lower()]}
        if len(questions) > bool(asked):
            unasked.append(place.rpartition(", ")[2])
        drafts.append(_draft(place, header, sentence, extra))
    if not drafts:
        raise _error("the file has no items", str(path))
    if unasked:
        places = ", ".join(unasked[:_SHOWN]) + ", ..." * (len(unasked) > _SHOWN)
        notes += (
            f"Of {len(unasked)} items a question is not read, because it is a second one or does "
            f"not end in Y or N: {places}.",
        )
    return Drafts(drafts, (*notes, "Read as items of Linger."), response="self_paced")


def _error(problem: str, place: str) -> MaterialsError:
    return MaterialsError(
        problem,
        where=place,
        expected='a header "# experiment item condition", below it the sentence, and questions '
        'such as "? Did it rain? Y"',
    )


def _blocks(path: Path, text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each header's place and words, and the lines below it."""
    block: tuple[str, list[str], list[str]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{path}, line {number}"
        if line.startswith(_HEADER):
            if block:
                yield block
            block = place, line[1:].split(), []
        elif line.strip():
            if block is None:
                raise _error("the line has no header above it", place)
            block[2].append(line.strip())
    if block:
        yield block


def _draft(place: str, header: list[str], sentence: str, extra: dict[str, str]) -> Draft:
    if len(header) < _FEWEST_WORDS:
        raise _error(f'the header has {len(header)} words: "# {" ".join(header)}"', place)
    experiment, number, condition, *codes = header
    extra |= {f"code_{n}": code for n, code in enumerate(codes, start=1)}
    condition = "" if condition == "-" else condition
    if experiment.lower() in {*KIND_WORDS, *PRACTICE_WORDS}:
        if condition.lower() == experiment.lower():
            condition = ""
        return Draft(place, sentence, item=number, condition=condition, kind=experiment,
                     extra=extra)  # fmt: skip
    return Draft(place, sentence, item=number, condition=condition, construction=experiment,
                 extra=extra)  # fmt: skip


FORMAT = Format(
    name="items of Linger",
    documentation="| Linger (`.itm`, or a file called `items`) | the file's name | each header "
    "`# experiment item condition` with the sentence and the question below it; `@name` ends a "
    "region; experiments called filler or practice are such |",
    recognises=lambda path: path.suffix.lower() == _SUFFIX or path.name == _NAME,
    read=_read,
    suffixes=(_SUFFIX,),
)
