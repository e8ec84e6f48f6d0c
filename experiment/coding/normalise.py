"""The rules by which typed answers count as the same answer, in a fixed order."""

import unicodedata
from collections.abc import Callable, Mapping

import regex

# Marks of direction, soft hyphens and spaces of no width say nothing about the word. Joiners stay:
# in Persian and in languages of India they distinguish words.
_INVISIBLE = regex.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_APOSTROPHES = regex.compile("[\u2018\u2019\u02bc\u00b4`]")
# Looking behind bounds the time: a match is tried once for each run of punctuation.
_OUTER_PUNCTUATION = regex.compile(r"^[\p{P}\s]+|(?<![\p{P}\s])[\p{P}\s]++$")


def _strip_punctuation(text: str) -> str:
    """Return a text without the punctuation around it; punctuation alone is kept."""
    return _OUTER_PUNCTUATION.sub("", text) or text


# The name of each rule, as the report counts them, and what it does.
RULES: Mapping[str, Callable[[str], str]] = {
    "Unicode": lambda text: unicodedata.normalize("NFC", text),
    "invisible characters": lambda text: _INVISIBLE.sub("", text),
    "spaces": lambda text: " ".join(text.split()),
    "apostrophes": lambda text: _APOSTROPHES.sub("'", text),
    "punctuation": _strip_punctuation,
    # Folding can take letters apart, so they are composed again.
    "case": lambda text: unicodedata.normalize("NFC", text.casefold()),
}


def normalise(text: str) -> str:
    """Return the form in which typed answers are compared and counted."""
    for change in RULES.values():
        text = change(text)
    return text


def list_changes(text: str) -> list[str]:
    """Return the names of the rules that change a text, in their order."""
    changes = []
    for name, change in RULES.items():
        changed = change(text)
        if changed != text:
            changes.append(name)
        text = changed
    return changes
