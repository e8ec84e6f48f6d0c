"""Patterns: sentences with references to the forms of a slot's word."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiment.errors import suggest
from experiment.grammar.lexicon import Lexicon
from experiment.grammar.source import Place
from experiment.grammar.tables import TemplateTable
from experiment.plugins import unknown_name

VERSIONS = ("good", "bad", "distractor")
BRACED = re.compile(r"\{([^{}]*)\}")
_REFERENCE = re.compile(r"(\w+)((?:\.!?\w+)*)")
_EXPECTED = "{slot}, {slot.feature}, {slot.!feature} or {slot.form}, with a dot before each feature"


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in braces within a pattern, such as ``{slot}`` or ``{slot.name.!name}``.

    Attributes:
        version: The pattern's key: context, good, bad or distractor.
        text: The reference as written, with its braces.
        slot: The slot that the reference names.
        names: The features to agree with and the values of the form; empty for a slot of
            uninflected words.
        violated: Those of the names whose feature takes its other value.
    """

    version: str
    text: str
    slot: str
    names: tuple[str, ...]
    violated: frozenset[str]


Pattern = tuple[str | Reference, ...]


def read_pattern(version: str, table: TemplateTable, place: Place) -> Pattern:
    """Return a pattern's words and references in order; empty for a missing version.

    Raises:
        MaterialsError: A brace is unmatched or encloses an invalid reference.
    """
    pattern_text: str = getattr(table, version)
    parts: list[str | Reference] = []
    for index, text in enumerate(BRACED.split(" ".join(pattern_text.split()))):
        if index % 2 == 1:
            parts.append(_read_reference(version, text, place))
        elif "{" in text or "}" in text:
            raise place.error(f'a brace has no partner in "{version}"', key=version)
        else:
            parts.append(text)
    return tuple(part for part in parts if part)


def _read_reference(version: str, text: str, place: Place) -> Reference:
    match = _REFERENCE.fullmatch(text.strip())
    if not match:
        raise place.error(
            f'"{{{text}}}" in "{version}" is not a reference to a slot',
            key=version,
            text=f"{{{text}}}",
            expected=_EXPECTED,
        )
    names = match[2].split(".")[1:]
    violated = frozenset(name[1:] for name in names if name.startswith("!"))
    return Reference(
        version, f"{{{text}}}", match[1], tuple(name.lstrip("!") for name in names), violated
    )


def check_reference(
    reference: Reference,
    slots: Mapping[str, Lexicon],
    features: Mapping[str, Sequence[str]],
    place: Place,
) -> None:
    """Raise a MaterialsError if a reference names what its slot or the template lacks.

    Args:
        reference: The reference.
        slots: The lexicon of each slot.
        features: The possible values of each of the template's features.
        place: The template's table.
    """
    fault = _slot_fault(reference, slots)
    lexicon = slots.get(reference.slot)
    if lexicon and not fault:
        if not reference.names and lexicon.forms:
            choices = f"one of: {', '.join([*features, *lexicon.forms])}"
            fault = ("its words are inflected, but no form is chosen", choices, "")
        faults = (_name_fault(name, reference, lexicon, features) for name in reference.names)
        fault = fault or next(filter(None, faults), None)
    if fault:
        problem, expected, remedy = fault
        raise place.error(
            f'slot "{reference.slot}", {reference.text} in "{reference.version}": {problem}',
            key=reference.version,
            text=reference.text,
            expected=expected,
            remedy=remedy,
        )


_Fault = tuple[str, str, str]


def _slot_fault(reference: Reference, slots: Mapping[str, Lexicon]) -> _Fault | None:
    if reference.slot in slots:
        return None
    unknown = unknown_name("slot", reference.slot, list(slots))
    return unknown.problem, unknown.expected, unknown.remedy


def _name_fault(
    name: str, reference: Reference, lexicon: Lexicon, features: Mapping[str, Sequence[str]]
) -> _Fault | None:
    values = lexicon.values
    if name in features and name in values:
        return f'"{name}" is both a feature and a form', "a different name for each of the two", ""
    if name not in features and name not in values:
        known = [*features, *values]
        return (
            f'"{name}" is neither a feature nor a form of "{lexicon.name}"',
            f"one of: {', '.join(known)}",
            suggest(name, known),
        )
    if name in reference.violated and len(features.get(name, ())) != 2:
        known_values = ", ".join(features.get(name, ()))
        has = f"; {name} has {known_values}" if known_values else ""
        return (
            f'"!{name}" has no single opposite',
            f"a feature with exactly two values{has}",
            "Name the value of the form in place of the feature",
        )
    if name in features and len(reference.names) > 1 and not {*values} & {*features[name]}:
        return (
            f'no form of "{lexicon.name}" depends on {name}',
            f"forms for {', '.join(features[name])}; it has {', '.join(lexicon.forms)}",
            "",
        )
    return None


def choose_form(
    reference: Reference,
    lexicon: Lexicon,
    features: Mapping[str, Sequence[str]],
    values: Mapping[str, str],
    place: Place,
) -> int:
    """Return the index of the form that a reference selects, given the features' values.

    A form fits if the reference has each of its values. Of several, the form with most values is
    selected, so that "plural" is the form of all genders that have none of their own.

    Raises:
        MaterialsError: No form fits, or two fit equally well.
    """
    if not reference.names:
        return 0
    selected = [_select_value(name, reference, features, values) for name in reference.names]
    sizes = {
        index: len(form.split())
        for index, form in enumerate(lexicon.forms)
        if set(form.split()) <= set(selected)
    }
    best = [index for index, size in sizes.items() if size == max(sizes.values())]
    if len(best) == 1:
        return best[0]
    names = " and ".join(f'"{lexicon.forms[index]}"' for index in best)
    problem = (
        f"both {names} fit {' '.join(selected)}"
        if best
        else f'the lexicon "{lexicon.name}" has no form "{" ".join(selected)}"'
    )
    raise place.error(
        f'slot "{reference.slot}", {reference.text} in "{reference.version}": {problem}',
        key=reference.version,
        text=reference.text,
        expected=f"one form for each combination of values; it has "
        f"{', '.join(lexicon.forms) or 'none'}",
    )


def _select_value(
    name: str,
    reference: Reference,
    features: Mapping[str, Sequence[str]],
    values: Mapping[str, str],
) -> str:
    value = values.get(name, name)
    if name in reference.violated:
        return next(other for other in features[name] if other != value)
    return value
