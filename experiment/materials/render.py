"""Renderings: how an item's words and pictures are written for a reader or a model."""

import re
from collections.abc import Callable
from typing import cast

import regex

from experiment.plugins import Registry

# What the page shows as a picture: webapp/static/picture.js has the same.
PICTURE = re.compile(r"!\[([^\]]*)\]\((data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)")
# Whatever looks like a picture, also one that no page can show.
LIKE_A_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")


def described(text: str) -> str:
    """Return a text with the words that stand for each of its pictures in their place."""
    return PICTURE.sub(r"\1", text)


RENDERINGS = Registry(
    "rendering",
    {
        "as_written": "experiment.materials.render:as_written",
        "after_space": "experiment.materials.render:after_space",
        "sentence_case": "experiment.materials.render:sentence_case",
        "lower_case_tokens": "experiment.materials.render:lower_case_tokens",
        "running_text": "experiment.materials.render:running_text",
        "cased_tokens": "experiment.materials.render:cased_tokens",
    },
    group="parallax.renderings",
)

# A word is letters with their combining marks, as Unicode has them; whatever is no word is taken
# grapheme by grapheme, so that a flag or a family emoji stays one token.
_TOKEN = regex.compile(r"\w+(?:['\u2019-]\w+)*|(?!\s)\X")
_SPACE_BEFORE = regex.compile(r" (?=[,;:.!?)\]\u00bb\u201d%])")
_SPACE_AFTER = regex.compile(r"(?<=[(\[\u00ab\u201c]) |(?<=\w['\u2019]) (?=\w)")
# A mark that ends a sentence in any script, and the quotes or brackets that may close after it.
_ENDED = regex.compile(r"[\p{Sentence_Terminal}\u2026]\s*[\p{Pe}\p{Pf}\"'\s]*\Z")


def render(name: str, *, own_code: bool = True) -> Callable[[str], str]:
    """Return the rendering of that name.

    Args:
        name: A registered name, or ``"module:function"`` for one of the user's own.
        own_code: Whether one of the user's own may be imported.

    Raises:
        UnknownNameError: There is no such rendering.
        PluginError: It cannot be imported, is no function, or must not be imported.
    """
    return cast(Callable[[str], str], RENDERINGS.load(name, own_code=own_code))


def as_written(text: str) -> str:
    """Return the text as the item has it: no capital, no mark, nothing added or taken away."""
    return text


def after_space(text: str) -> str:
    """Return the text as it stands, behind a space: as lm-evaluation-harness gives BLiMP.

    A sub-word model then reads the first word as one in the middle of a text.
    """
    return f" {text}"


def sentence_case(text: str) -> str:
    """Return the words as people read a sentence, e.g. "The author laughs.".

    A text that ends in a mark of its own, such as a question, gets no second one.
    """
    return f"{text[:1].title()}{text[1:]}{'' if ends_sentence(text) else '.'}"


def lower_case_tokens(text: str) -> str:
    """Return the words as word-level models take a sentence, e.g. "the author laughs .".

    Punctuation marks become tokens of their own; ``don't`` and ``well-known`` stay whole. A
    language that writes no spaces is divided only where the text has some.
    """
    letters = text.replace(" ", "")
    if letters.isascii() and letters.isalpha():
        # Of letters and spaces alone, as most sentences are, what the patterns find is plain.
        return " ".join([*text.lower().split(), "."])
    return _closed(_TOKEN.findall(text.lower()), text)


def split_tokens(text: str) -> str:
    """Return the words and marks of a part of a sentence, marks as tokens of their own."""
    return " ".join(_TOKEN.findall(text))


def split_lower_case_tokens(text: str) -> str:
    """Return what ``split_tokens`` does, in lower case."""
    return split_tokens(text.lower())


def running_text(text: str) -> str:
    """Return a treebank's tokens as people read them, e.g. "L'isola, e il lago.".

    Marks stand at their words, and what an apostrophe elides at the next word.
    """
    return sentence_case(_SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", text)))


def cased_tokens(text: str) -> str:
    """Return the words and marks as they stand, for models of tokenised text in upper case too."""
    return _closed(text.split(), text)


def without_added_stop(text: str, rendering: Callable[[str], str]) -> str:
    """Return a rendered beginning of a sentence without the full stop that rendering added."""
    rendered = rendering(text)
    return rendered if ends_sentence(text) else rendered.removesuffix(".").rstrip()


def ends_sentence(text: str) -> bool:
    """Return whether a text ends in a mark that closes a sentence, in any script."""
    # What separates records is a space for Python, and none for patterns.
    return _ENDED.search(text.rstrip()) is not None


def _closed(tokens: list[str], text: str) -> str:
    return " ".join(tokens if ends_sentence(text) else [*tokens, "."])
