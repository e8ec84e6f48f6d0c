"""Lints for unintended texts and columns: spreadsheet remains, notes, misspelt kinds and levels."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from experiment.authoring.derive import find_list_column
from experiment.authoring.lint.materials import Fault, Materials
from experiment.authoring.words import script_of
from experiment.materials.formats.columns import misspelt_kinds
from experiment.materials.formats.crossing import LIST_COLUMNS
from experiment.materials.formats.words import NAMES, key_of
from experiment.materials.render import replace_pictures
from experiment.records import Item

_SPREADSHEET_VALUE = re.compile(
    r"N\.A\.|TRUE|FALSE|True|False|WAHR|FALSCH|VRAI|FAUX|[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
    r"|\d{4}-\d\d?-\d\d?(?:[ T]\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)?|\d\d?[./-]\d\d?[./-](?:\d\d|\d{4})"
    r"|\d\d?:\d\d(?::\d\d)?|\d\d?[-. ](?:[A-Z][a-z]{2})\.?(?:[- ]\d{2,4})?|[A-Z][a-z]{2}-\d\d"
)
_EMPTY_WORDS = {"nan", "null", "none", "n/a", "undefined"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]00:00:00|\d\d?-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d\d")
_MARKDOWN = re.compile(
    r"\*\*\S.*?\*\*|(?<!_)__[^\s_].*?__(?!_)|(?<![\w*])\*[^\s*][^*]*\*(?!\w)|(?<!\w)_[^\s_][^_]*_(?!\w)"
    r"|~~\S.*?~~|`[^`]+`|\[[^\[\]]+\]\([^\[)]+\)|^#{1,6} |^> |^[-+*\u2022] "
)
_MODEL_MARK = re.compile(
    r"</?s>|<(?:unk|bos|eos|pad|mask)>|\[(?:CLS|SEP|MASK|PAD|UNK)\]|<\|endoftext\|>|[\u0120\u2581]"
)
_LATEX = re.compile(r"\\[a-zA-Z]+\{|\$[^$\s][^$]*\$|(?<=\w)_\{?[ijk]\}?(?!\w)")
_EXAMPLE_NUMBER = re.compile(r"^\(?\d+[.)][a-z]?[.)]?\s|^\(?[a-z]\)\s")
_AUTHOR_NOTE = re.compile(
    r"\b(?:TODO|FIXME|TBD|XXX+|lorem ipsum)\b|\?\?\?|\[(?:sic|check|\.\.\.)\]"
    r"|\((?:(?:un)?grammatical|good|bad|sic|check|un?acceptable)\)|<<|>>",
    re.IGNORECASE,
)
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("\u201c", "\u201d"), ("\u00ab", "\u00bb"))
# The largest share of a construction's items that are too few to lack a context on purpose.
_SMALL_SHARE = 0.1
# Words that a sentence may repeat.
_REPEATABLE_WORDS = {"that", "had", "is", "her", "very", "so", "no", "do", "ha", "bye", "die",
             "der", "das", "che", "nous", "vous", "in"}  # fmt: skip
# The first words of Unicode character names, by the script that langcodes gives for a language.
_SCRIPT_NAMES = {
    "Latn": {"LATIN"}, "Cyrl": {"CYRILLIC"}, "Grek": {"GREEK"}, "Arab": {"ARABIC"},
    "Hebr": {"HEBREW"}, "Deva": {"DEVANAGARI"}, "Thai": {"THAI"}, "Armn": {"ARMENIAN"},
    "Geor": {"GEORGIAN"}, "Beng": {"BENGALI"}, "Taml": {"TAMIL"}, "Telu": {"TELUGU"},
    "Ethi": {"ETHIOPIC"}, "Hans": {"CJK"}, "Hant": {"CJK"},
    "Jpan": {"HIRAGANA", "KATAKANA", "CJK", "KATAKANA-HIRAGANA"}, "Kore": {"HANGUL", "CJK"},
}  # fmt: skip
_KNOWN_SCRIPTS = {name for names in _SCRIPT_NAMES.values() for name in names}


def lint_cells(materials: Materials) -> Iterator[Fault]:
    """Report texts that a spreadsheet or a program wrote in place of a sentence."""
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
        lambda text: bool(_SPREADSHEET_VALUE.fullmatch(text.strip())),
        "holds a value that a spreadsheet made, not a text",
        "Write the text; in a spreadsheet, format the column as text first",
    )
    yield from _find_missing_contexts(materials)
    dated = [item for item in materials.items if _DATE.fullmatch(item.condition.strip())]
    if dated:
        yield Fault(
            "a cell of a spreadsheet",
            tuple(dated),
            f'has the condition "{dated[0].condition}", a date that a spreadsheet made',
            "Write the condition's name; in a spreadsheet, format the column as text first",
        )


def _find_missing_contexts(materials: Materials) -> Iterator[Fault]:
    """Report the few items of a construction that lack the context which the others have."""
    by_construction: dict[str, list[Item]] = {}
    for item in materials.items:
        by_construction.setdefault(item.construction, []).append(item)
    for items in by_construction.values():
        without = [item for item in items if not item.context]
        if 0 < len(without) <= len(items) * _SMALL_SHARE:
            yield Fault(
                "an empty cell",
                tuple(without),
                f"has no context, and {len(items) - len(without)} items of its construction have",
                "Write the context; if the column was shifted, move it back",
            )


def lint_markup(materials: Materials) -> Iterator[Fault]:
    """Report texts with Markdown, LaTeX or a model's marks, which participants would see."""
    remedy = "Remove the markup: participants see the text literally"
    yield from _texts(
        materials,
        "Markdown",
        lambda text: bool(_MARKDOWN.search(replace_pictures(text))),
        "holds Markdown",
        remedy,
    )
    yield from _texts(materials, "LaTeX", lambda t: bool(_LATEX.search(t)), "holds LaTeX", remedy)
    yield from _texts(
        materials,
        "a mark of a language model",
        lambda text: bool(_MODEL_MARK.search(text)),
        "holds a mark that a model's tokenizer adds",
        "Remove it: participants see it, and a model adds its own",
    )


def lint_leftovers(materials: Materials) -> Iterator[Fault]:
    """Report author's notes, example numbers, unclosed brackets and repeated words."""
    yield from _texts(
        materials,
        "a note left over",
        lambda text: bool(_AUTHOR_NOTE.search(text)),
        "holds a note that nobody meant participants to read",
        "Remove the note",
    )
    yield from _texts(
        materials,
        "an example's number",
        lambda text: bool(_EXAMPLE_NUMBER.search(text)),
        "begins with the number of an example",
        "Remove the number",
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
        lambda text: bool(_find_repeated_word(text)),
        "has the same word twice in succession",
        "Take one away",
        style=True,
    )


def lint_scripts(materials: Materials) -> Iterator[Fault]:
    """Report texts in a script that is not the study language's."""
    try:
        script = script_of(materials.language)
    except ValueError:
        # Another check reports the invalid language.
        return
    expected = _SCRIPT_NAMES.get(script)
    if not expected:
        return
    by_script: dict[str, list[Item]] = {}
    for item in materials.items:
        all_texts = _joined_texts(materials, item)
        if all_texts.isascii() and "LATIN" in expected:
            continue
        if other := _find_foreign_script(all_texts, expected):
            by_script.setdefault(other, []).append(item)
    for other, items in by_script.items():
        all_words = _joined_texts(materials, items[0]).split()
        example = next(word for word in all_words if _find_foreign_letter(word, expected))
        yield Fault(
            "another script",
            tuple(items),
            f'holds letters of another script, {other.capitalize()}: "{example}"; the study\'s '
            f'language is "{materials.language}"',
            "Type the word again in the language's own script, or correct language in [study]",
        )


def _joined_texts(materials: Materials, item: Item) -> str:
    """Return an item's texts as one, without the bytes of its pictures."""
    return " ".join((replace_pictures(item.context), *materials.versions(item)))


def _find_foreign_script(text: str, expected: set[str]) -> str:
    """Return the foreign script of a text, if any; Latin words are accepted in any script."""
    words = text.split()
    of = [script for word in words if (script := _find_foreign_letter(word, expected))]
    if "LATIN" in expected:
        return next(iter(of), "")
    # Names and abbreviations in Latin letters are common in texts of other scripts.
    strange = [script for script in of if script != "LATIN"]
    return next(iter(strange), "LATIN" if of and len(of) > len(words) / 2 else "")


def _find_foreign_letter(word: str, expected: set[str]) -> str:
    names = dict.fromkeys(unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha())
    return next((name for name in names if name in _KNOWN_SCRIPTS - expected), "")


def _texts(
    materials: Materials,
    name: str,
    is_odd: Callable[[str], bool],
    problem: str,
    remedy: str,
    *,
    style: bool = False,
) -> Iterator[Fault]:
    """Report items with an odd text; if the oddity may be a style, only if few items have it."""
    open_texts = [
        (item, text)
        for item in materials.items
        for text in (item.context, *materials.versions(item))
        if text and is_odd(text)
    ]
    open_texts = list({item.item_id: (item, text) for item, text in reversed(open_texts)}.values())[
        ::-1
    ]
    if open_texts and not (style and len(open_texts) > len(materials.items) / 2):
        shown = replace_pictures(open_texts[0][1])
        yield Fault(name, tuple(item for item, _ in open_texts), f'{problem}: "{shown}"', remedy)


def _is_open(text: str) -> bool:
    return text.count('"') % 2 > 0 or any(text.count(a) != text.count(b) for a, b in _BRACKETS)


def _find_repeated_word(text: str) -> str:
    parts = text.casefold().split()
    return next(
        (a for a, b in pairwise(parts)
         if a == b and a.isalpha() and a not in _REPEATABLE_WORDS),
        "",
    )  # fmt: skip


# A name is a slip if this few items have it and a similar name exists.
_RARE_RATIO = 0.25
_FEWEST_LETTERS = 4
_FEWEST_LISTS = 2
# A column with more words than this is not numeric.
_FEW_WORDS, _FEWEST_NUMBERS = 0.25, 8


def lint_kinds(materials: Materials) -> Iterator[Fault]:
    """Report a column of kinds that was not recognised because of an invalid value."""
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        if key_of(column.removeprefix("own_")) not in NAMES["kind"]:
            continue
        values = {item.item_id: dict(item.extra).get(column, "") for item in materials.items}
        meant = misspelt_kinds(values.values())
        if not meant:
            continue
        items = tuple(item for item in materials.items if values[item.item_id].lower() in meant)
        word = values[items[0].item_id]
        near = meant[word.lower()]
        header = column.removeprefix("own_")
        yield Fault(
            "a kind that is none",
            items,
            f'has "{word}" in the column "{header}", which is not a kind of item; so Parallax '
            "read the whole column as one of your own, and made fillers and catch trials targets",
            (f'Write "{near}"' if near else "Write target, filler or catch")
            + " and make the study again, or rename the column if it does not state the kind",
            fatal=True,
        )


def lint_lists(materials: Materials) -> Iterator[Fault]:
    """Report a column of lists that the design does not use because of a fault in it."""
    read = materials.design_columns
    column, notes = find_list_column(materials.items)
    if column or not notes or any(name in read for name in _list_columns(materials)):
        return
    # A column of that name with as many values as items is a running number.
    for note in notes:
        yield Fault(
            "lists that are not read",
            (),
            f"{note[:-1]}; Parallax assigned the items to lists by itself",
            "Correct the column and make the study again, or rename it if it does not "
            "say which list an item is in",
        )


def _list_columns(materials: Materials) -> set[str]:
    return {
        name for item in materials.items for name, _ in item.extra if key_of(name) in LIST_COLUMNS
    }


def lint_names(materials: Materials) -> Iterator[Fault]:
    """Report a construction or condition whose name is a misspelling of another."""
    yield from _find_similar_names(
        materials, "construction", Counter(i.construction for i in materials.items)
    )
    of: dict[str, Counter[str]] = {}
    for item in materials.items:
        of.setdefault(item.construction, Counter())[item.condition] += 1
    for counts in of.values():
        yield from _find_similar_names(materials, "condition", counts)
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        counts = Counter(dict(item.extra).get(column, "") for item in materials.items)
        if 1 < len(counts) <= len(materials.items) / 4:
            yield from _find_similar_names(materials, column, counts)


def lint_numbers(materials: Materials) -> Iterator[Fault]:
    """Report non-numbers in one of the researcher's own columns that is otherwise numeric."""
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        values = {item.item_id: dict(item.extra).get(column, "") for item in materials.items}
        filled = [item for item in materials.items if values[item.item_id]]
        texts = tuple(item for item in filled if not _is_number(values[item.item_id]))
        if not texts or len(texts) > _FEW_WORDS * len(filled) or len(filled) < _FEWEST_NUMBERS:
            continue
        yield Fault(
            "no number among numbers",
            texts,
            f'has "{values[texts[0].item_id]}" in the column "{column.removeprefix("own_")}", '
            f"where {len(filled) - len(texts)} items have a number: the analysis reads the whole "
            "column as words",
            "Write a number with a decimal point, or leave the cell empty",
        )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _find_similar_names(
    materials: Materials, attribute: str, counted: Counter[str]
) -> Iterator[Fault]:
    common = dict(counted.most_common())
    for name, number in common.items():
        for other, others in common.items():
            if number <= _RARE_RATIO * others and name != other and _is_misspelling(name, other):
                if attribute not in ("construction", "condition") and _are_inflected(name, other):
                    continue
                items = tuple(
                    item for item in materials.items if _get_value(item, attribute) == name
                )
                yield Fault(
                    "a name with a slip",
                    items,
                    f'has the {attribute} "{name}", as {number} item(s) have; '
                    f'{others} have "{other}"',
                    f'Write "{other}", if that was meant',
                )


def _get_value(item: Item, attribute: str) -> str:
    if attribute == "construction":
        return item.construction
    return item.condition if attribute == "condition" else dict(item.extra).get(attribute, "")


def _is_misspelling(name: str, other: str) -> bool:
    """Return whether two names differ in case and spaces, or in one letter."""
    if not name or not other:
        return False
    if key_of(name) == key_of(other) or key_of(name).strip("_.") == key_of(other).strip("_."):
        return True
    if min(len(name), len(other)) < _FEWEST_LETTERS or name.isdigit() or other.isdigit():
        return False
    return _differ_by_one_letter(name.lower(), other.lower())


def _are_inflected(name: str, other: str) -> bool:
    """Return whether two words differ in their last letter, as sing and sings do."""
    short, long = sorted((name.lower(), other.lower()), key=len)
    return short != long and long[:-1] in (short, short[:-1])


def _differ_by_one_letter(one: str, other: str) -> bool:
    """Return whether two names differ by one omitted, added, changed or transposed letter."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        changed = short[at + 1 :] == long[at + 1 :]
        swapped = (
            short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
        )
        digits = (short[at : at + 1] + long[at : at + 1]).isdigit()
        return (changed or swapped) and not digits
    return short[at:] == long[at + 1 :] and not long[at].isdigit()
