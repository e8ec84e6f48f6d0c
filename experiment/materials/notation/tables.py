"""The file, tables and keys of a grammar, with their line numbers for messages."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import MaterialsError, said
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
        section = self._section(table)
        line = section.start
        for needle in (rf"^\s*{re.escape(key)}\s*=" if key else "", re.escape(text)):
            matching = (n for n in section if n >= line and re.search(needle, self.lines[n]))
            line = next(matching, line)
        return f"{self.path}:{line + 1}"

    def _section(self, table: str | int) -> range:
        headers = [n for n, line in enumerate(self.lines) if _is_header(line)]
        if isinstance(table, int):
            wanted = [n for n in headers if _TEMPLATE_HEADER.match(self.lines[n])][table:]
        else:
            wanted = [n for n in headers if _lexicon_name(self.lines[n]) == table]
        start = wanted[0] if wanted else 0
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
    """``[lexicon.NAME]``: words that can fill a slot."""

    forms: str = Field(
        default="", description='the names of the forms, e.g. "singular | plural"; none by default'
    )
    entries: list[str] = Field(
        min_length=1, description='the words, each with its forms, e.g. "author | authors"'
    )


class TemplateTable(_Table):
    """``[[template]]``: a sentence with slots, and the contrast that makes its bad version."""

    name: str = Field(pattern=_NAME, description="unique in the file")
    construction: str = Field(pattern=_NAME, description="the construction in study.toml")
    condition: str = Field(min_length=1, description="the condition's name, with {feature}s")
    kind: Kind = Field(default=Kind.TARGET, description="what its items are for")
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

    lexicon: dict[str, LexiconTable] = Field(default={}, description="the words")
    template: list[TemplateTable] = Field(min_length=1, description="the sentences")


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
        where = f"{path}:{line[1]}" if line else str(path)
        raise MaterialsError(f"not valid TOML: {error}", where=where) from error
    source = Source(path, tuple(text.splitlines()))
    try:
        return GrammarTables.model_validate(tables), source
    except ValidationError as error:
        raise _shape_error(source, tables, error) from error


def _shape_error(source: Source, tables: dict[str, Any], error: ValidationError) -> MaterialsError:
    """Return the error for one key, preferring unknown keys, which explain missing ones."""
    errors = error.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    kind, *rest = first["loc"]
    remedy = "docs/materials.md lists every key"
    if not rest:
        return MaterialsError(
            f'the table "{kind}": {said(first)}', where=str(source.path), remedy=remedy
        )
    table, *keys = rest
    place = Place(source, table, f'{kind} "{_name(tables, kind, table)}"')
    if not keys:
        return place.error(said(first), remedy=remedy)
    key = str(keys[0])
    if first["type"] == "extra_forbidden":
        fields = LexiconTable.model_fields if kind == "lexicon" else TemplateTable.model_fields
        unknown = unknown_name("key", key, list(fields))
        return place.error(
            unknown.problem, key=key, expected=unknown.expected, remedy=unknown.remedy or remedy
        )
    seen = "" if first["type"] == "missing" else f" (seen: {first['input']!r})"
    return place.error(f'the key "{key}": {said(first)}{seen}', key=key, remedy=remedy)


def _name(tables: dict[str, Any], kind: str | int, table: str | int) -> str:
    if isinstance(table, str):
        return table
    keys = tables[str(kind)][table]
    return str(keys["name"]) if isinstance(keys, dict) and "name" in keys else f"#{table + 1}"
