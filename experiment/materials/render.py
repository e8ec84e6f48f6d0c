"""Renderings: how an item's words and pictures are written for a participant or a model."""

import math
import re
from collections.abc import Callable, Sequence
from typing import cast

import regex

from experiment.plugins import Registry

# The syntax of a picture on the page, also defined in webapp/static/pictures.js. Neither pattern
# goes past the beginning of another picture: with many beginnings, each would go to the text's end.
PICTURE = re.compile(
    r"!\[((?:(?!!\[)[^\]])*)\]\((data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)"
)
# The syntax of any picture, including those that no page can show.
PICTURE_LIKE = re.compile(r"!\[(?:(?!!\[)[^\]])*\]\((?:(?!!\[)[^)])*\)")


def replace_pictures(text: str) -> str:
    """Return a text with each picture replaced by its description."""
    return PICTURE.sub(r"\1", text)


def has_picture(text: str) -> bool:
    """Return whether a text has a picture that a page can show."""
    return PICTURE.search(text) is not None


def describe_pictures(text: str) -> str:
    """Return a text with each picture replaced by its description and size, for researchers."""

    def describe(picture: re.Match[str]) -> str:
        _, _, base64 = picture[2].partition(",")
        n_bytes = len(base64) * 3 // 4 - base64[-2:].count("=")
        return f"[picture: {picture[1]}, {math.ceil(n_bytes / 1000)} kB]"

    return PICTURE.sub(describe, text)


RENDERINGS = Registry(
    "rendering",
    {
        "as_written": "experiment.materials.render:as_written",
        "after_space": "experiment.materials.render:after_space",
        "sentence_case": "experiment.materials.render:sentence_case",
        "lower_case_tokens": "experiment.materials.render:lower_case_tokens",
        "split_tokens": "experiment.materials.render:split_tokens",
        "split_lower_case_tokens": "experiment.materials.render:split_lower_case_tokens",
        "running_text": "experiment.materials.render:running_text",
        "cased_tokens": "experiment.materials.render:cased_tokens",
    },
    group="parallax.renderings",
)

_EXAMPLES = 2
# A word is letters with their combining marks, as Unicode defines them; all other text is split
# into graphemes, so that a flag or a family emoji stays one token.
_TOKEN = regex.compile(r"\w+(?:['\u2019-]\w+)*|(?!\s)\X")
_SPACE_BEFORE = regex.compile(r" (?=[,;:.!?)\]\u00bb\u201d%])")
_SPACE_AFTER = regex.compile(r"(?<=[(\[\u00ab\u201c]) |(?<=\w['\u2019]) (?=\w)")
# A sentence-final mark in any script, and any closing quotes or brackets after it.
_SENTENCE_END = regex.compile(r"[\p{Sentence_Terminal}\u2026]\s*[\p{Pe}\p{Pf}\"'\s]*\Z")


def render(name: str, *, own_code: bool = True) -> Callable[[str], str]:
    """Return a rendering by name.

    Args:
        name: A registered name, or ``"module:function"`` for the user's own rendering.
        own_code: Whether the user's own code may be imported.

    Raises:
        UnknownNameError: No rendering has this name.
        PluginError: The function cannot or must not be imported, or is not a function.
    """
    return cast(Callable[[str], str], RENDERINGS.load(name, own_code=own_code))


def note_on_changes(changed: Sequence[tuple[str, str]], reason: str) -> list[str]:
    """Return a note on how many texts were changed, with two examples; empty without changes.

    Args:
        changed: Each changed text, before and after.
        reason: What changed them, as the beginning of a sentence.
    """
    if not changed:
        return []
    examples = "; ".join(
        f"{old_text!r} became {new_text!r}" for old_text, new_text in changed[:_EXAMPLES]
    )
    return [f"{reason}: {len(changed):,} texts were changed: {examples}."]


def as_written(text: str) -> str:
    """Return the text unchanged."""
    return text


def after_space(text: str) -> str:
    """Return the text after a space, as lm-evaluation-harness presents BLiMP.

    A sub-word model then treats the first word like one in the middle of a text.
    """
    return f" {text}"


def sentence_case(text: str) -> str:
    """Return the words as a written sentence, e.g. "The author laughs.".

    A text that already ends in a sentence-final mark gets no second one.
    """
    return f"{text[:1].title()}{text[1:]}{'' if ends_sentence(text) else '.'}"


def lower_case_tokens(text: str) -> str:
    """Return the words as tokens for word-level models, e.g. "the author laughs .".

    Punctuation marks become separate tokens; ``don't`` and ``well-known`` stay whole. A text in a
    language without spaces is divided only at spaces that it contains.
    """
    letters = text.replace(" ", "")
    if letters.isascii() and letters.isalpha():
        # A fast path for texts of letters and spaces alone, as most sentences are.
        return " ".join([*text.lower().split(), "."])
    return _add_full_stop(_TOKEN.findall(text.lower()), text)


def split_tokens(text: str) -> str:
    """Return the words and marks of a text as tokens, with its capitals; no full stop is added."""
    return " ".join(_TOKEN.findall(text))


def split_lower_case_tokens(text: str) -> str:
    """Return the words and marks of a text as lower-case tokens; no full stop is added."""
    if (letters := text.replace(" ", "")).isascii() and letters.isalpha():
        return " ".join(text.lower().split())
    return split_tokens(text.lower())


def running_text(text: str) -> str:
    """Return a treebank's tokens as running text, e.g. "L'isola, e il lago.".

    Marks attach to their words, and elided words to the next word.
    """
    return sentence_case(_SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", text)))


def cased_tokens(text: str) -> str:
    """Return the tokens unchanged, for models of tokenised text with upper case."""
    return _add_full_stop(text.split(), text)


def remove_added_stop(text: str, rendering: Callable[[str], str]) -> str:
    """Return the rendered beginning of a sentence without a full stop that rendering added."""
    rendered = rendering(text)
    return rendered if ends_sentence(text) else rendered.removesuffix(".").rstrip()


def ends_sentence(text: str) -> bool:
    """Return whether a text ends in a sentence-final mark of any script."""
    # Python counts record separators as white space, but patterns do not.
    return _SENTENCE_END.search(text.rstrip()) is not None


def _add_full_stop(tokens: list[str], text: str) -> str:
    return " ".join(tokens if ends_sentence(text) else [*tokens, "."])
