"""Texts that no participant should read: cells of a spreadsheet, markup, notes, another script."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

from experiment.authoring.lint.materials import Fault, Materials
from experiment.authoring.words import script_of
from experiment.materials.pictures import described
from experiment.records import Item

_CELL = re.compile(
    r"N\.A\.|TRUE|FALSE|True|False|WAHR|FALSCH|VRAI|FAUX|[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
    r"|\d{4}-\d\d?-\d\d?(?:[ T]\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)?|\d\d?[./-]\d\d?[./-](?:\d\d|\d{4})"
    r"|\d\d?:\d\d(?::\d\d)?|\d\d?[-. ](?:[A-Z][a-z]{2})\.?(?:[- ]\d{2,4})?|[A-Z][a-z]{2}-\d\d"
)
_EMPTY_WORDS = {"nan", "null", "none", "n/a", "undefined"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]00:00:00|\d\d?-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d\d")
_MARKDOWN = re.compile(
    r"\*\*\S.*?\*\*|__\S.*?__|(?<![\w*])\*[^\s*][^*]*\*(?!\w)|(?<!\w)_[^\s_][^_]*_(?!\w)"
    r"|~~\S.*?~~|`[^`]+`|\[[^\]]+\]\([^)]+\)|^#{1,6} |^> |^[-+*\u2022] "
)
_LATEX = re.compile(r"\\[a-zA-Z]+\{|\$[^$\s][^$]*\$|(?<=\w)_\{?[ijk]\}?(?!\w)")
_NUMBERED = re.compile(r"^\(?\d+[.)][a-z]?[.)]?\s|^\(?[a-z]\)\s")
_LEFT_OVER = re.compile(
    r"\b(?:TODO|FIXME|TBD|XXX+|lorem ipsum)\b|\?\?\?|\[(?:sic|check|\.\.\.)\]"
    r"|\((?:(?:un)?grammatical|good|bad|sic|check|un?acceptable)\)|<<|>>",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("\u201c", "\u201d"), ("\u00ab", "\u00bb"))
# Words that a sentence may repeat.
_REPEATED = {"that", "had", "is", "her", "very", "so", "no", "do", "ha", "bye", "die", "der",
             "das", "che", "nous", "vous", "in"}  # fmt: skip
# The scripts that Unicode's names begin with, of what langcodes calls a language's script.
_OF_SCRIPT = {
    "Latn": {"LATIN"}, "Cyrl": {"CYRILLIC"}, "Grek": {"GREEK"}, "Arab": {"ARABIC"},
    "Hebr": {"HEBREW"}, "Deva": {"DEVANAGARI"}, "Thai": {"THAI"}, "Armn": {"ARMENIAN"},
    "Geor": {"GEORGIAN"}, "Beng": {"BENGALI"}, "Taml": {"TAMIL"}, "Telu": {"TELUGU"},
    "Ethi": {"ETHIOPIC"}, "Hans": {"CJK"}, "Hant": {"CJK"},
    "Jpan": {"HIRAGANA", "KATAKANA", "CJK", "KATAKANA-HIRAGANA"}, "Kore": {"HANGUL", "CJK"},
}  # fmt: skip
_NAMED = {name for names in _OF_SCRIPT.values() for name in names}


def cells(materials: Materials) -> Iterator[Fault]:
    """Yield texts that a spreadsheet or a program wrote in place of a sentence."""
    yield from _texts(
        materials,
        "an empty cell",
        lambda text: text.strip() == "NA" or text.strip().casefold() in _EMPTY_WORDS,
        "has a text that programs write for an empty cell",
        "Write the sentence",
    )
    yield from _texts(
        materials,
        "a cell of a spreadsheet",
        lambda text: bool(_CELL.fullmatch(text.strip())),
        "is a cell of a spreadsheet and no text",
        "Write the text; in a spreadsheet, format the column as text first",
    )
    dated = [item for item in materials.items if _DATE.fullmatch(item.condition.strip())]
    if dated:
        yield Fault(
            "a cell of a spreadsheet",
            tuple(dated),
            f'has the condition "{dated[0].condition}", a date that a spreadsheet made',
            "Write the condition's name; in a spreadsheet, format the column as text first",
        )


def markup(materials: Materials) -> Iterator[Fault]:
    """Yield texts with Markdown or LaTeX, which participants would see as it is."""
    remedy = "Take the signs away: participants see the text as it is"
    yield from _texts(
        materials,
        "Markdown",
        lambda text: bool(_MARKDOWN.search(described(text))),
        "holds Markdown",
        remedy,
    )
    yield from _texts(materials, "LaTeX", lambda t: bool(_LATEX.search(t)), "holds LaTeX", remedy)


def leftovers(materials: Materials) -> Iterator[Fault]:
    """Yield notes to oneself, numbers of examples, brackets left open, words written twice."""
    yield from _texts(
        materials,
        "a note left over",
        lambda text: bool(_LEFT_OVER.search(text)),
        "holds a note that nobody meant participants to read",
        "Take the note away",
    )
    yield from _texts(
        materials,
        "an example's number",
        lambda text: bool(_NUMBERED.search(text)),
        "begins with the number of an example",
        "Take the number away",
        style=True,
    )
    yield from _texts(
        materials,
        "a bracket or quotation mark left open",
        _is_open,
        "has a bracket or quotation mark without its other half",
        "Write both, or none",
    )
    yield from _texts(
        materials,
        "a word twice",
        lambda text: bool(_repeated(text)),
        "has the same word twice in succession",
        "Take one away",
        style=True,
    )


def scripts(materials: Materials) -> Iterator[Fault]:
    """Yield texts in another script than the study's language has."""
    try:
        script = script_of(materials.language)
    except ValueError:
        # The language is named with its own key.
        return
    expected = _OF_SCRIPT.get(script)
    if not expected:
        return
    found: dict[str, list[Item]] = {}
    for item in materials.items:
        whole = " ".join((item.context, *materials.versions(item)))
        if whole.isascii() and "LATIN" in expected:
            continue
        if other := _other_script(whole, expected):
            found.setdefault(other, []).append(item)
    for other, items in found.items():
        example = next(w for w in _all_words(materials, items[0]) if _of_other(w, expected))
        yield Fault(
            "another script",
            tuple(items),
            f'holds letters of another script, {other.capitalize()}: "{example}"; the study\'s '
            f'language is "{materials.language}"',
            "Type the word again in the language's own script, or correct language in [study]",
        )


def _all_words(materials: Materials, item: Item) -> list[str]:
    return " ".join((item.context, *materials.versions(item))).split()


def _other_script(text: str, expected: set[str]) -> str:
    """Return the script of the first word that is of another one; Latin words are read anywhere."""
    words = text.split()
    of = [script for word in words if (script := _of_other(word, expected))]
    if "LATIN" in expected:
        return next(iter(of), "")
    # Names and abbreviations in Latin letters are usual in texts of other scripts.
    strange = [script for script in of if script != "LATIN"]
    return next(iter(strange), "LATIN" if of and len(of) > len(words) / 2 else "")


def _of_other(word: str, expected: set[str]) -> str:
    names = dict.fromkeys(unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha())
    return next((name for name in names if name in _NAMED - expected), "")


def _texts(
    materials: Materials,
    name: str,
    is_odd: Callable[[str], bool],
    problem: str,
    remedy: str,
    *,
    style: bool = False,
) -> Iterator[Fault]:
    """Yield the items with a text that is odd; where it is a style, only if few have it."""
    odd = [
        (item, text)
        for item in materials.items
        for text in (item.context, *materials.versions(item))
        if text and is_odd(text)
    ]
    odd = list({item.item_id: (item, text) for item, text in reversed(odd)}.values())[::-1]
    if odd and not (style and len(odd) > len(materials.items) / 2):
        yield Fault(name, tuple(item for item, _ in odd), f'{problem}: "{odd[0][1]}"', remedy)


def _is_open(text: str) -> bool:
    return text.count('"') % 2 > 0 or any(text.count(a) != text.count(b) for a, b in _PAIRS)


def _repeated(text: str) -> str:
    parts = text.casefold().split()
    return next(
        (a for a, b in pairwise(parts)
         if a == b and a.isalpha() and a not in _REPEATED),
        "",
    )  # fmt: skip
