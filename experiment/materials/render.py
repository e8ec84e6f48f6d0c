"""Renderings: how an item's plain words are written for a reader or a model."""

import re
from collections.abc import Callable
from typing import cast

from experiment.plugins import Registry

RENDERINGS = Registry(
    "rendering",
    {
        "sentence_case": "experiment.materials.render:sentence_case",
        "lower_case_tokens": "experiment.materials.render:lower_case_tokens",
        "running_text": "experiment.materials.render:running_text",
        "cased_tokens": "experiment.materials.render:cased_tokens",
    },
)

_TOKEN = re.compile(r"\w+(?:['\u2019-]\w+)*|[^\w\s]")
_SPACE_BEFORE = re.compile(r" (?=[,;:.!?)\]\u00bb\u201d%])")
_SPACE_AFTER = re.compile(r"(?<=[(\[\u00ab\u201c]) |(?<=\w['\u2019]) (?=\w)")


def render(name: str) -> Callable[[str], str]:
    """Return the rendering of that name.

    Raises:
        UnknownNameError: There is no such rendering.
    """
    return cast(Callable[[str], str], RENDERINGS.load(name))


def sentence_case(text: str) -> str:
    """Return the words as people read a sentence, e.g. "The author laughs."."""
    return f"{text[:1].upper()}{text[1:]}."


def lower_case_tokens(text: str) -> str:
    """Return the words as word-level models take a sentence, e.g. "the author laughs .".

    Punctuation marks become tokens of their own; ``don't`` and ``well-known`` stay whole.
    """
    return " ".join([*_TOKEN.findall(text.lower()), "."])


def running_text(text: str) -> str:
    """Return a treebank's tokens as people read a sentence, e.g. "L'isola, e il lago.".

    Marks stand at their words, and what an apostrophe elides at the next word.
    """
    return sentence_case(_SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", text)))


def cased_tokens(text: str) -> str:
    """Return the words and marks as they stand, for models of tokenised text in upper case too."""
    return " ".join([*text.split(), "."])
