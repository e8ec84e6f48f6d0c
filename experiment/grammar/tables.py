"""The tables and keys of a grammar's TOML files."""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import MaterialsError, describe_validation_error
from experiment.grammar.source import Kind as TableKind
from experiment.grammar.source import Place, Source
from experiment.plugins import unknown_name
from experiment.records import Kind
from experiment.untrusted import read_toml

_NAME = r"^[A-Za-z]\w*$"
_LINE = re.compile(r"at line (\d+)")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LexiconTable(_Table):
    """The table ``[lexicon.NAME]``: words that can fill a slot."""

    forms: str = Field(
        default="", description='the names of the forms, e.g. "singular | plural"; none by default'
    )
    inherent: str = Field(
        default="",
        description='the names of features that a word has in all its forms, e.g. "gender"',
    )
    entries: str | list[str] = Field(
        min_length=1,
        description='the words, each with its forms, e.g. "author | authors", or a .csv or .tsv '
        "file of them",
    )
    paradigms: str = Field(
        default="",
        description="a file of lemmas, forms and features, as in UniMorph, that has the words' "
        "forms; by default the entries have them",
    )


class RewriteTable(_Table):
    """A table ``[[rewrite]]``: a change of spelling wherever words meet."""

    find: str = Field(min_length=1, description="a regular expression")
    replace: str = Field(
        max_length=100, description="the text in its place, with \\1 for the first group"
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
        description="feature -> its values; a single value, or slot.feature for an inherent "
        "feature of a slot's word, is written as a string"
    )
    slots: dict[str, str] = Field(min_length=1, description="slot -> lexicon")
    distinct: list[list[str]] = Field(
        default=[], description="groups of slots that take different entries"
    )
    where: list[str] = Field(
        default=[],
        description='conditions on features, e.g. "S.gender = V.gender" or "main != embedded"',
    )
    contrast: Literal["bad", "distractor"] = Field(
        default="bad", description="the version shown with good in the forced choice"
    )
    context: str = Field(
        default="", description="the pattern of the words before each version; none by default"
    )
    critical: int | None = Field(
        default=None,
        ge=1,
        description="the number of the critical region, for reading; regions are separated by bars",
    )
    good: str = Field(min_length=1, description="the expected version's pattern")
    bad: str = Field(min_length=1, description="the pattern that breaks the rule")
    distractor: str = Field(default="", description="a third version's pattern; none by default")


class GrammarTables(_Table):
    """A whole grammar file."""

    include: list[str] = Field(
        default=[], description="further files, whose tables come before this file's"
    )
    lexicon: dict[str, LexiconTable] = Field(default={}, description="the lexicons: lists of words")
    rewrite: list[RewriteTable] = Field(default=[], description="changes of spelling, in order")
    template: list[TemplateTable] = Field(
        default=[], description="the templates: patterns of sentences"
    )


def parse_tables(source: Source) -> GrammarTables:
    """Return the tables of a grammar's file.

    Raises:
        MaterialsError: The file is not TOML, or a key is unknown, missing or invalid.
    """
    try:
        tables = read_toml(source.text)
    except (ValueError, RecursionError) as error:
        line = _LINE.search(str(error))
        location = f"{source.path}:{line[1]}" if line else str(source.path)
        raise MaterialsError(f"not valid TOML: {error}", where=location) from error
    try:
        return GrammarTables.model_validate(tables)
    except ValidationError as error:
        raise _shape_error(source, tables, error) from error


def _shape_error(source: Source, tables: dict[str, Any], error: ValidationError) -> MaterialsError:
    """Return the error for one key, preferring unknown keys, which explain missing ones."""
    errors = error.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    kind, *location = first["loc"]
    remedy = "docs/materials.md lists every key"
    if not location or kind == "include":
        return MaterialsError(
            f'"{kind}": {describe_validation_error(first)}', where=str(source.path), remedy=remedy
        )
    table, *keys = location
    table_kind: TableKind = kind  # type: ignore[assignment]
    place = Place(source, table_kind, table, f'{kind} "{_name(tables, kind, table)}"')
    if not keys:
        return place.error(describe_validation_error(first), remedy=remedy)
    key = str(keys[0])
    if first["type"] == "extra_forbidden":
        table_types: dict[TableKind, type[_Table]] = {
            "lexicon": LexiconTable,
            "rewrite": RewriteTable,
            "template": TemplateTable,
        }
        unknown = unknown_name("key", key, list(table_types[table_kind].model_fields))
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
