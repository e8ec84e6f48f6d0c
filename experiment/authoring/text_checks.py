"""Checks of the items' texts for unreadable characters and revealing marks."""

import re
import unicodedata
from collections.abc import Callable, Iterator

from experiment.authoring.examined import Examined
from experiment.authoring.lint.lint import Places
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.records import Item, Variant

_JOINERS = "\u200c\u200d"
_REPLACED = "\ufffd"
_SPREADSHEET_ERROR = re.compile(r"#(?:NAME\?|REF!|VALUE!|N/A|DIV/0!|NULL!|NUM!)")
_MARK = re.compile(r"(?:[*#%]|\?+\*?|OK(?=\s))\s*(?=\w)")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|&(?:[a-z]+|#\d+);")
# A text without any of these characters has no marks, errors or mark-up.
_SIGNS = re.compile(r"[#<&*%?]|OK\s")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")

# Returns the problem with an item's texts and the expected text; None if there is no problem.
_Fault = Callable[[list[str]], tuple[str, str] | None]


def texts(examined: Examined) -> Iterator[ParallaxError]:
    """Report the first item of each kind of text that participants should not see."""
    file = str(examined.study.materials_path)
    places = Places(examined.study.materials_path)
    looked_at = [item for item in examined.items if not _is_plain(item)]
    for kind, fault in (*((StudyError, f) for f in _FATAL), *((StudyNote, f) for f in _ODD)):
        for item in looked_at:
            if problem_and_expected := fault(_shown(item)):
                problem, expected = problem_and_expected
                place = places.get(item.item_id, file)
                yield kind(f'the item "{item.item_id}" {problem}', where=place, expected=expected)
                break
    if unnamed := next((item for item in examined.items if not item.item_id.strip()), None):
        yield StudyError(
            f'the item with the text "{unnamed.good}" has no item_id',
            where=file,
            expected="a different id for each item",
        )


def _is_plain(item: Item) -> bool:
    """Return whether no check can find a fault: most items of large materials are plain."""
    texts = (item.context, item.good, item.bad, item.distractor)
    whole = "".join(texts)
    return (
        whole.isascii()
        and whole.isprintable()
        and not _SIGNS.search(whole)
        and not any(map(str.isspace, texts))
    )


def _shown(item: Item) -> list[str]:
    return [item.context, *(item.version(str(name)) for name in Variant)]


def _blank(shown: list[str]) -> tuple[str, str] | None:
    if any(text and not text.strip() for text in shown):
        return "has a text of nothing but white space", "a sentence"
    return None


def _lost(shown: list[str]) -> tuple[str, str] | None:
    for word in " ".join(shown).split():
        if _REPLACED in word or _is_mojibake(word):
            expected = (
                'text in UTF-8: save the table again as "CSV UTF-8", or make it from the .xlsx'
            )
            return (
                f'holds "{word}": some letters were lost in a conversion between encodings',
                expected,
            )
    return None


def _is_mojibake(word: str) -> bool:
    """Return whether a word is UTF-8 that was decoded with another encoding."""
    if word.isascii():
        return False
    for encoding in ("cp1252", "latin-1"):
        try:
            read = word.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return not read.isascii()
    return False


def _invisible(shown: list[str]) -> tuple[str, str] | None:
    for mark in "".join(shown):
        if unicodedata.category(mark)[0] == "C" and mark not in _JOINERS:
            return f"holds the invisible character {mark!r}", "text without invisible characters"
    return None


def _spreadsheet(shown: list[str]) -> tuple[str, str] | None:
    match = _SPREADSHEET_ERROR.search(" ".join(shown))
    return (
        (f'holds "{match[0]}", an error of a spreadsheet formula', "a sentence") if match else None
    )


def _marked(shown: list[str]) -> tuple[str, str] | None:
    versions = [text for text in shown[1:] if text]
    marks = [_MARK.match(text) for text in versions]
    if len(versions) > 1 and any(marks) and not all(marks):
        text = next(t for t, mark in zip(versions, marks, strict=True) if mark)
        return (
            f'shows a judgment: "{text}"',
            "the sentence without the mark, which participants would see",
        )
    return None


def _markup(shown: list[str]) -> tuple[str, str] | None:
    if match := _MARKUP.search(" ".join(shown)):
        return f'holds "{match[0]}", which participants would see as it is', "plain text"
    return None


def _mixed(shown: list[str]) -> tuple[str, str] | None:
    for word in " ".join(shown).split():
        if word.isascii():
            continue
        names = {unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha()}
        if len(mixed_scripts := sorted(names.intersection(_SCRIPTS))) > 1:
            scripts = " and ".join(name.capitalize() for name in mixed_scripts)
            return (
                f'mixes letters of different scripts that look alike, {scripts}, in "{word}"',
                "one script",
            )
    return None


_FATAL: tuple[_Fault, ...] = (_blank, _lost, _invisible, _spreadsheet, _marked)
_ODD: tuple[_Fault, ...] = (_markup, _mixed)
