"""The notation of grammars: tables and keys with line numbers, lexicons and patterns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import MaterialsError, describe_validation_error
from experiment.plugins import unknown_name
from experiment.records import Kind
from experiment.untrusted import read_toml

_TEMPLATE_HEADER = re.compile(r"\s*\[\[\s*template\s*\]\]")
_LEXICON_HEADER = re.compile(r"\s*\[\s*lexicon\s*\.\s*[\"']?([^\"'\]\s]+)")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a grammar's file.

    The TOML parser does not keep positions, so errors search the text for the offending key.
    """

    path: Path
    lines: tuple[str, ...]

    def where(self, table: str | int, key: str = "", text: str = "") -> str:
        """Return ``file:line`` of the closest match.

        Args:
            table: A lexicon's name, or a template's index in the file.
            key: A key of that table; its header by default.
            text: Text at or below that key, as written in the file.
        """
        section = self._find_section(table)
        line = section.start
        for needle in (rf"^\s*{re.escape(key)}\s*=" if key else "", re.escape(text)):
            matching = (n for n in section if n >= line and re.search(needle, self.lines[n]))
            line = next(matching, line)
        return f"{self.path}:{line + 1}"

    def _find_section(self, table: str | int) -> range:
        headers = [n for n, line in enumerate(self.lines) if _is_header(line)]
        if isinstance(table, int):
            header_lines = [n for n in headers if _TEMPLATE_HEADER.match(self.lines[n])][table:]
        else:
            header_lines = [n for n in headers if _lexicon_name(self.lines[n]) == table]
        start = header_lines[0] if header_lines else 0
        return range(start, next((n for n in headers if n > start), len(self.lines)))


def _is_header(line: str) -> bool:
    return bool(_TEMPLATE_HEADER.match(line) or _LEXICON_HEADER.match(line))


def _lexicon_name(line: str) -> str | None:
    match = _LEXICON_HEADER.match(line)
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Place:
    """One table of a grammar's file, for error messages.

    Attributes:
        source: The file.
        table: The lexicon's name, or the template's index.
        title: The table's name in messages.
    """

    source: Source
    table: str | int
    title: str

    def error(
        self, problem: str, *, key: str = "", text: str = "", expected: str = "", remedy: str = ""
    ) -> MaterialsError:
        """Return an error that names the file, the line, the table and the problem."""
        return MaterialsError(
            f"{self.title}: {problem}",
            where=self.source.where(self.table, key, text),
            expected=expected,
            remedy=remedy,
        )


_NAME = r"^[A-Za-z]\w*$"
_LINE = re.compile(r"at line (\d+)")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LexiconTable(_Table):
    """The table ``[lexicon.NAME]``: words that can fill a slot."""

    forms: str = Field(
        default="", description='the names of the forms, e.g. "singular | plural"; none by default'
    )
    entries: list[str] = Field(
        min_length=1, description='the words, each with its forms, e.g. "author | authors"'
    )


class TemplateTable(_Table):
    """A table ``[[template]]``: a sentence with slots, and the contrast for its bad version."""

    name: str = Field(pattern=_NAME, description="the template's name, unique in the file")
    construction: str = Field(
        pattern=_NAME, description="the name of the construction, as in study.toml"
    )
    condition: str = Field(min_length=1, description="the condition's name, with {feature}s")
    kind: Kind = Field(default=Kind.TARGET, description="what the template's items are for")
    features: dict[str, str | list[str]] = Field(
        description="feature -> its values; a single value is written as a string"
    )
    slots: dict[str, str] = Field(min_length=1, description="slot -> lexicon")
    distinct: list[list[str]] = Field(
        default=[], description="groups of slots that take different entries"
    )
    contrast: Literal["bad", "distractor"] = Field(
        default="bad", description="the version shown with good in the forced choice"
    )
    good: str = Field(min_length=1, description="the expected version's pattern")
    bad: str = Field(min_length=1, description="the pattern that breaks the rule")
    distractor: str = Field(default="", description="a third version's pattern; none by default")


class GrammarTables(_Table):
    """A whole grammar file."""

    lexicon: dict[str, LexiconTable] = Field(default={}, description="the lexicons: lists of words")
    template: list[TemplateTable] = Field(
        min_length=1, description="the templates: patterns of sentences"
    )


def read_tables(path: Path) -> tuple[GrammarTables, Source]:
    """Return the tables of a grammar's file, with the source that locates them.

    Raises:
        MaterialsError: The file is missing or not TOML, or a key is unknown, missing or invalid.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tables = read_toml(text)
    except OSError as error:
        raise MaterialsError(
            f"the grammar cannot be read ({error.strerror})", where=str(path)
        ) from error
    except UnicodeDecodeError as error:
        raise MaterialsError("the grammar is not UTF-8 text", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        line = _LINE.search(str(error))
        location = f"{path}:{line[1]}" if line else str(path)
        raise MaterialsError(f"not valid TOML: {error}", where=location) from error
    source = Source(path, tuple(text.splitlines()))
    try:
        return GrammarTables.model_validate(tables), source
    except ValidationError as error:
        raise _shape_error(source, tables, error) from error


def _shape_error(source: Source, tables: dict[str, Any], error: ValidationError) -> MaterialsError:
    """Return the error for one key, preferring unknown keys, which explain missing ones."""
    errors = error.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    kind, *location = first["loc"]
    remedy = "docs/materials.md lists every key"
    if not location:
        return MaterialsError(
            f'the table "{kind}": {describe_validation_error(first)}',
            where=str(source.path),
            remedy=remedy,
        )
    table, *keys = location
    place = Place(source, table, f'{kind} "{_name(tables, kind, table)}"')
    if not keys:
        return place.error(describe_validation_error(first), remedy=remedy)
    key = str(keys[0])
    if first["type"] == "extra_forbidden":
        fields = LexiconTable.model_fields if kind == "lexicon" else TemplateTable.model_fields
        unknown = unknown_name("key", key, list(fields))
        return place.error(
            unknown.problem, key=key, expected=unknown.expected, remedy=unknown.remedy or remedy
        )
    seen_value = "" if first["type"] == "missing" else f" (seen: {first['input']!r})"
    return place.error(
        f'the key "{key}": {describe_validation_error(first)}{seen_value}', key=key, remedy=remedy
    )


def _name(tables: dict[str, Any], kind: str | int, table: str | int) -> str:
    if isinstance(table, str):
        return table
    keys = tables[str(kind)][table]
    return str(keys["name"]) if isinstance(keys, dict) and "name" in keys else f"#{table + 1}"


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
    forms = _split_columns(table.forms) if table.forms else ()
    if not all(form.isidentifier() for form in forms) or len(set(forms)) < len(forms):
        raise place.error(
            f'"{table.forms}" does not name the forms',
            key="forms",
            expected='different names between bars, such as "singular | plural"',
        )
    lexicon = Lexicon(name, forms, tuple(_split_columns(entry) for entry in table.entries))
    lemmas: set[str] = set()
    for entry_text, entry in zip(table.entries, lexicon.entries, strict=True):
        _check_entry(lexicon, entry_text, entry, place)
        if entry[0] in lemmas:
            raise place.error(
                f'two entries begin with "{entry[0]}"',
                key="entries",
                text=f'"{entry_text}"',
                expected="a different first form in each entry, because it names the entry",
            )
        lemmas.add(entry[0])
    return lexicon


def _split_columns(text: str) -> tuple[str, ...]:
    return tuple(" ".join(column.split()) for column in text.split("|"))


def _check_entry(lexicon: Lexicon, entry_text: str, entry: tuple[str, ...], place: Place) -> None:
    names = lexicon.forms or ("word",)
    pairs = list(zip_longest(names, entry))
    missing = [name for name, word in pairs if name and not word]
    if missing:
        raise place.error(
            f'the entry "{entry_text}" lacks the form(s) {", ".join(missing)}',
            key="entries",
            text=f'"{entry_text}"',
            expected=f'"{" | ".join(word or f"<{name}>" for name, word in pairs if name)}"',
        )
    if len(entry) > len(names):
        raise place.error(
            f'the entry "{entry_text}" has {len(entry)} forms where the lexicon has {len(names)}',
            key="entries",
            text=f'"{entry_text}"',
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
        location = f'slot "{reference.slot}", {reference.text} in "{reference.version}"'
        raise place.error(
            f"{location}: {problem}",
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
