"""Examples of a grammar's sentences with a gloss: the features of each word below it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from experiment.grammar.grammar import Example, Grammar, list_examples
from experiment.grammar.template import Template
from experiment.records import Variant

_FORM = re.compile(r"(\{\d+\[\d+\]\})")
_INDENT = " " * 4
_LABEL_WIDTH = max(map(len, ("context", *Variant)))


def gloss(grammar: Grammar, template: Template) -> Iterator[str]:
    """Yield the lines of one example for each condition of a template.

    Raises:
        MaterialsError: The template has no frame.
    """
    for example in list_examples(grammar, template):
        yield f"  {example.item.condition}"
        for name in ("context", *Variant):
            if text := getattr(example.item, name):
                yield f"{_INDENT}{name:<{_LABEL_WIDTH}}  {text}"
                for line in _align(_list_pieces(template, example, getattr(example.cell, name))):
                    yield f"{_INDENT}{'':<{_LABEL_WIDTH}}  {line}"


def _list_pieces(template: Template, example: Example, version: str) -> list[tuple[str, str, str]]:
    """Return each piece of a version before the rules of spelling.

    Returns:
        What joins it to the piece before (a space, or a hyphen within a word), the piece, and its
        features.
    """
    pieces: list[tuple[str, str, str]] = []
    for word in version.split():
        for number, part in enumerate(filter(None, _FORM.split(word))):
            text, features = part.format(*example.entries), ""
            if _FORM.fullmatch(part):
                features = _describe_form(template, example, *map(int, re.findall(r"\d+", part)))
            pieces.append(("-" if number else " ", text, features))
    return pieces


def _describe_form(template: Template, example: Example, slot: int, form: int) -> str:
    lexicon = list(template.slots.values())[slot]
    entry = lexicon.entries.index(example.entries[slot])
    values = lexicon.forms[form].split() if lexicon.forms else []
    values += [lexicon.inherent[feature][entry] for feature in template.inherent[slot]]
    return ".".join(values)


def _align(pieces: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    """Return the pieces, and below each its features."""
    above, below = "", ""
    for joint, text, features in pieces:
        width = max(_count_columns(above), _count_columns(below))
        above += " " * (width - _count_columns(above)) + (joint if above else "") + text
        below += " " * (width - _count_columns(below)) + (" " if below or width else "") + features
    return above, below.rstrip()


def _count_columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.category(character) in ("Mn", "Me", "Cf") for character in text)
    return len(text) + wide - marks
