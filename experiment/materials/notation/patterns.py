"""Lexicons, with words and their forms, and patterns, which are sentences that refer to them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from experiment.materials.notation.tables import LexiconTable, Place, TemplateTable
from experiment.plugins import unknown_name


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one kind.

    Attributes:
        name: The lexicon's name.
        forms: The names of the forms; empty if the words are not inflected.
        entries: Each word's forms in the order of ``forms``; the first one is the lemma.
    """

    name: str
    forms: tuple[str, ...]
    entries: tuple[tuple[str, ...], ...]


def read_lexicon(name: str, table: LexiconTable, place: Place) -> Lexicon:
    """Return the lexicon that a table describes.

    Raises:
        MaterialsError: An entry has too few or too many forms, or a name or lemma occurs twice.
    """
    forms = _columns(table.forms) if table.forms else ()
    if not all(form.isidentifier() for form in forms) or len(set(forms)) < len(forms):
        raise place.error(
            f'"{table.forms}" does not name the forms',
            key="forms",
            expected='different names between bars, such as "singular | plural"',
        )
    lexicon = Lexicon(name, forms, tuple(_columns(entry) for entry in table.entries))
    lemmas: set[str] = set()
    for written, entry in zip(table.entries, lexicon.entries, strict=True):
        _check_entry(lexicon, written, entry, place)
        if entry[0] in lemmas:
            raise place.error(
                f'two entries begin with "{entry[0]}"',
                key="entries",
                text=f'"{written}"',
                expected="a different first form in each entry, because it names the entry",
            )
        lemmas.add(entry[0])
    return lexicon


def _columns(text: str) -> tuple[str, ...]:
    return tuple(" ".join(column.split()) for column in text.split("|"))


def _check_entry(lexicon: Lexicon, written: str, entry: tuple[str, ...], place: Place) -> None:
    names = lexicon.forms or ("word",)
    pairs = list(zip_longest(names, entry))
    missing = [name for name, word in pairs if name and not word]
    if missing:
        raise place.error(
            f'the entry "{written}" lacks the form(s) {", ".join(missing)}',
            key="entries",
            text=f'"{written}"',
            expected=f'"{" | ".join(word or f"<{name}>" for name, word in pairs if name)}"',
        )
    if len(entry) > len(names):
        raise place.error(
            f'the entry "{written}" has {len(entry)} forms where the lexicon has {len(names)}',
            key="entries",
            text=f'"{written}"',
            expected=f'one word for each of "{" | ".join(names)}"',
        )


BRACED = re.compile(r"\{([^{}]*)\}")
_REFERENCE = re.compile(r"(\w+)(?:\.(!?)(\w+))?")

Features = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in braces within a pattern: ``{slot}``, ``{slot.name}``, ``{slot.!name}``.

    Attributes:
        version: The pattern's key: good, bad or distractor.
        text: The reference as written, with its braces.
        slot: The slot that the reference names.
        name: A feature to agree with, or a form; empty for a slot of uninflected words.
        violated: Whether the reference takes the feature's other value.
    """

    version: str
    text: str
    slot: str
    name: str
    violated: bool


Pattern = tuple[str | Reference, ...]


def read_pattern(version: str, table: TemplateTable, place: Place) -> Pattern:
    """Return a pattern's words and references in order; empty for a missing distractor.

    Raises:
        MaterialsError: A brace is unmatched or encloses an invalid reference.
    """
    written: str = getattr(table, version)
    parts: list[str | Reference] = []
    for index, text in enumerate(BRACED.split(" ".join(written.split()))):
        if index % 2 == 1:
            parts.append(_read_reference(version, text, place))
        elif "{" in text or "}" in text:
            raise place.error(f'a single brace is left over in "{version}"', key=version)
        else:
            parts.append(text)
    return tuple(part for part in parts if part)


def _read_reference(version: str, text: str, place: Place) -> Reference:
    match = _REFERENCE.fullmatch(text.strip())
    if not match:
        raise place.error(
            f'"{{{text}}}" in "{version}" is no reference',
            key=version,
            text=f"{{{text}}}",
            expected="{slot}, {slot.feature}, {slot.!feature} or {slot.form}",
        )
    return Reference(version, f"{{{text}}}", match[1], match[3] or "", bool(match[2]))


def check_reference(
    reference: Reference, slots: Mapping[str, Lexicon], features: Features, place: Place
) -> None:
    """Raise a MaterialsError unless the reference selects one form of its slot in every cell."""
    fault = _slot_fault(reference, slots) or _form_fault(reference, slots[reference.slot], features)
    if fault:
        problem, expected = fault
        where = f'slot "{reference.slot}", {reference.text} in "{reference.version}"'
        raise place.error(
            f"{where}: {problem}",
            key=reference.version,
            text=reference.text,
            expected=expected,
        )


def _slot_fault(reference: Reference, slots: Mapping[str, Lexicon]) -> tuple[str, str] | None:
    if reference.slot in slots:
        return None
    unknown = unknown_name("slot", reference.slot, list(slots))
    return unknown.problem, unknown.expected


def _form_fault(
    reference: Reference, lexicon: Lexicon, features: Features
) -> tuple[str, str] | None:
    name, choices = reference.name, f"one of: {', '.join([*features, *lexicon.forms])}"
    if not name:
        needs_one = bool(lexicon.forms)
        return ("its words are inflected, but no form is chosen", choices) if needs_one else None
    if name in features and name in lexicon.forms:
        return f'"{name}" is both a feature and a form', "a different name for each of the two"
    if name not in features and name not in lexicon.forms:
        return f'"{name}" is neither a feature nor a form of "{lexicon.name}"', choices
    if reference.violated and len(features.get(name, ())) != 2:
        return f'"!{name}" has no single opposite', "a feature with exactly two values"
    absent = [value for value in features.get(name, ()) if value not in lexicon.forms]
    if absent:
        return (
            f'the lexicon "{lexicon.name}" has no form "{absent[0]}"',
            f"a form for each value of {name}; it has {', '.join(lexicon.forms) or 'none'}",
        )
    return None
