"""The parts of study.toml that have forms, and the fields of an entry.

The fields are made from what a pydantic model declares about its parameters.

An exclusion rule or a question owns its names, words and limits; a new one appears by itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from experiment.errors import describe_validation_error
from experiment.exclusion.rules import RULES, reason, rule_in_words
from experiment.studies.question import FinalQuestion, list_unused_keys
from webapp.errors import RequestError
from webapp.researcher.toml_edits import read_entries

# Rules that combine others, in words that follow "exclude a person whom".
COMBINATIONS = {
    "all": "all ticked rules exclude",
    "any": "at least one of the ticked rules excludes",
    "not": "the ticked rule keeps",
}
NOTHING_STORED = "Nothing was stored."
# Between several values of one name.
_SEPARATOR = " | "
_MOST_LINES, LONGEST_FIELD = 500, 20_000


class FieldKind(StrEnum):
    """The form control for a parameter."""

    LINE = "line"
    WHOLE = "whole number"
    NUMBER = "number"
    YES = "yes or no"
    ONE = "one of several"
    SOME = "some of several"
    LINES = "lines"
    PAIRS = "pairs"
    OTHER = "no field"


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form for an entry.

    Attributes:
        name: The parameter's name in study.toml.
        label: Its meaning in words.
        kind: How it is typed.
        required: Whether it must be given.
        default: The default in words; empty if there is none.
        choices: What can be chosen.
        value: What the field holds.
    """

    name: str
    label: str
    kind: FieldKind
    required: bool
    default: str
    choices: tuple[str, ...]
    value: str = ""

    @property
    def chosen(self) -> list[str]:
        """The selected values."""
        return self.value.splitlines()


class FieldErrors(Exception):
    """The entered values are invalid.

    Attributes:
        problems: A paragraph for each field by name; under an empty name, for all together.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = dict(problems)


def list_fields(
    model: type[BaseModel], values: Mapping[str, Any], offers: Mapping[str, Sequence[str]]
) -> list[FormField]:
    """Return the fields of a model.

    Args:
        model: The model.
        values: The present values by name.
        offers: The names that the study has, by the kind that a parameter declares to be of
            (``json_schema_extra={"offers": "constructions"}``).
    """
    schema = model.model_json_schema()
    required = schema.get("required", ())
    fields = []
    for name, declared in schema.get("properties", {}).items():
        kind, choices = _find_kind(declared, schema.get("$defs", {}))
        if offered := tuple(offers.get(declared.get("offers", ""), ())):
            kind = FieldKind.SOME if kind is FieldKind.LINES else FieldKind.ONE
            present = _list_present(values.get(name))
            choices = (*offered, *(choice for choice in present if choice not in offered))
        label = declared.get("description", name.replace("_", " ")).removeprefix("whether ")
        fields.append(
            FormField(
                name,
                f"{label[:1].upper()}{label[1:]}",
                kind,
                name in required,
                _write_default(declared.get("default")),
                choices,
                write_field(values.get(name, declared.get("default") is True or "")),
            )
        )
    return fields


def _list_parameters(model: type) -> Iterable[str]:
    return model.model_fields if issubclass(model, BaseModel) else ()


def has_form(model: object) -> bool:
    """Return whether every required parameter has a field."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return False
    fields = list_fields(model, {}, {})
    return not any(field.required and field.kind is FieldKind.OTHER for field in fields)


def write_field(value: object) -> str:
    """Return a value as the text of its field."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, Mapping):
        return "\n".join(
            f"{name} = {_SEPARATOR.join(_list_present(values_of_name))}"
            for name, values_of_name in value.items()
        )
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return str(value)


def read_fields(
    fields: Iterable[FormField],
    present: Mapping[str, Any],
    get_typed: Callable[[str], list[str]],
) -> dict[str, Any]:
    """Return the entered values; an unchanged value keeps its notation in the file.

    Args:
        fields: The fields.
        present: The values before.
        get_typed: Returns what was typed or chosen in a field.

    Raises:
        FieldErrors: Something typed is no value of its field.
    """
    values, problems = dict[str, Any](), dict[str, str]()
    for field in fields:
        name = field.name
        if field.kind is FieldKind.OTHER:
            if name in present:
                values[name] = present[name]
            continue
        typed = "\n".join(get_typed(name)).replace("\r\n", "\n").strip()
        is_same = name in present and write_field(present[name]).strip() == typed
        if is_same and (typed or field.kind is not FieldKind.YES or not present[name]):
            values[name] = present[name]
            continue
        try:
            value = _read_value(field, typed)
        except ValueError as error:
            seen = f'"{typed[:60]}" cannot be used' if typed else "The field is empty"
            problems[name] = f"{seen}. Expected {error}. {NOTHING_STORED}"
            continue
        if value is not None:
            values[name] = value
        elif field.required:
            problems[name] = f"The field is empty. Expected a value. {NOTHING_STORED}"
    if problems:
        raise FieldErrors(problems)
    return values


def check_values(model: type[BaseModel], values: Mapping[str, Any]) -> None:
    """Validate values by their model.

    Raises:
        FieldErrors: The model refuses them.
    """
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        problems = dict[str, str]()
        for detail in error.errors(include_url=False):
            name = str(detail["loc"][0]) if detail["loc"] else ""
            written = write_field(values[name]) if name in values else ""
            seen = f'"{written[:60]}" cannot be used' if written else "This cannot be used"
            problems.setdefault(
                name, f"{seen}: {describe_validation_error(detail)}. {NOTHING_STORED}"
            )
        raise FieldErrors(problems) from error


def _find_kind(
    declared: Mapping[str, Any], definitions: Mapping[str, Any]
) -> tuple[FieldKind, tuple[str, ...]]:
    """Return the form control for a declared parameter, and its choices."""
    declared = _dereference(declared, definitions)
    if "enum" in declared:
        return FieldKind.ONE, tuple(map(str, declared["enum"]))
    match declared.get("type"):
        case "string":
            return FieldKind.LINE, ()
        case "integer":
            return FieldKind.WHOLE, ()
        case "number":
            return FieldKind.NUMBER, ()
        case "boolean":
            return FieldKind.YES, ()
        case "array":
            items = _dereference(declared.get("items", {}), definitions)
            if "enum" in items:
                return FieldKind.SOME, tuple(map(str, items["enum"]))
            if items.get("type") == "string":
                return FieldKind.LINES, ()
        case "object":
            inner_schema = declared.get("additionalProperties")
            if isinstance(inner_schema, Mapping) and _is_text(inner_schema, definitions):
                return FieldKind.PAIRS, ()
    return FieldKind.OTHER, ()


def _is_text(declared: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    """Return whether a declared value is a text, or a list of texts."""
    kind, _ = _find_kind(declared, definitions)
    return kind in (FieldKind.LINE, FieldKind.LINES)


def _dereference(declared: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the declaration that a reference or an optional value leads to."""
    for inner_schema in declared.get("anyOf", ()):
        if inner_schema.get("type") != "null":
            return _dereference(inner_schema, definitions)
    reference = declared.get("$ref", "")
    return definitions.get(reference.rpartition("/")[2], {}) if reference else declared


def _write_default(default: object) -> str:
    if default is None or default == [] or default == {}:
        return ""
    return write_field(default)


def _list_present(value: object) -> list[str]:
    if value is None:
        return []
    return list(map(str, value)) if isinstance(value, list | tuple) else [str(value)]


def _read_value(field: FormField, typed: str) -> object:
    """Return the value of a field; None if it is left empty.

    Raises:
        ValueError: It is no value; the message says what is expected.
    """
    if len(typed) > LONGEST_FIELD:
        raise ValueError(f"at most {LONGEST_FIELD:,} characters")
    if field.kind is FieldKind.YES:
        return True if typed else False if field.default else None
    if not typed:
        return None
    match field.kind:
        case FieldKind.WHOLE:
            if not re.fullmatch(r"[+-]?\d{1,9}", typed, re.ASCII):
                raise ValueError("a whole number, such as 3")
            return int(typed)
        case FieldKind.NUMBER:
            if not re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,9})?", typed, re.ASCII):
                raise ValueError("a number, such as 2 or 0.25")
            return float(typed) if "." in typed else int(typed)
        case FieldKind.ONE:
            if typed not in field.choices:
                raise ValueError(f"one of: {', '.join(field.choices)}")
            return typed
        case FieldKind.SOME | FieldKind.LINES:
            lines = list(_list_lines(typed))
            if field.kind is FieldKind.SOME and not set(lines) <= set(field.choices):
                raise ValueError(f"some of: {', '.join(field.choices)}")
            return lines
        case FieldKind.PAIRS:
            return dict(map(_read_pair, _list_lines(typed)))
    if "\n" in typed:
        raise ValueError("one line")
    return typed


def _list_lines(typed: str) -> Iterator[str]:
    lines = [line.strip() for line in typed.split("\n") if line.strip()]
    if len(lines) > _MOST_LINES:
        raise ValueError(f"at most {_MOST_LINES} lines")
    yield from lines


def _read_pair(line: str) -> tuple[str, str | list[str]]:
    name, equals, value = (part.strip() for part in line.partition("="))
    values = [part.strip() for part in value.split(_SEPARATOR.strip()) if part.strip()]
    if not (name and equals and values):
        raise ValueError(f"lines such as name = value, or name = value{_SEPARATOR}other value")
    return name, values[0] if len(values) == 1 else values


def list_combined_rules(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rules that an exclusion rule combines; empty if it combines none."""
    rules = entry.get("rules") if entry.get("rule") in COMBINATIONS else None
    is_list = isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules)
    return list(rules) if is_list and rules else []


@dataclass(frozen=True, slots=True)
class Part:
    """A part of study.toml that has forms.

    Attributes:
        name: Its name in addresses.
        table: The array of tables in study.toml.
        key: The key that says an entry's kind.
        default_kind: The kind of an entry that does not say it.
        noun: What an entry is called.
    """

    name: str
    table: str
    key: str
    default_kind: str
    noun: str

    def list_kinds(self) -> dict[str, str]:
        """Return the kinds of entries that can be added, with their labels."""
        if self.name == "questions":
            kinds: Sequence[str] = FinalQuestion.model_json_schema()["properties"]["type"]["enum"]
            return {kind: kind.replace("_", " ") for kind in kinds}
        return {name: f"{reason(name)} ({name})" for name in RULES if has_form(RULES.load(name))}

    def find_kind(self, entry: Mapping[str, Any]) -> str:
        """Return an entry's kind."""
        return str(entry.get(self.key, self.default_kind))

    def find_model(self, kind: str) -> type[BaseModel]:
        """Return the model of an entry.

        Raises:
            RequestError: There is no form for this kind.
        """
        if kind not in self.list_kinds():
            problem = f"There is no form for a {self.noun} of the kind {kind!r}."
            raise RequestError(problem, status=404, code="unknown_kind")
        if self.name == "questions":
            return FinalQuestion
        return cast(type[BaseModel], RULES.load(kind, own_code=False))

    def list_fields(self, kind: str, values: Mapping[str, Any], text: str) -> list[FormField]:
        """Return the fields of an entry of a kind."""
        unused = [self.key, *(list_unused_keys(kind) if self.name == "questions" else ())]
        offers = {"constructions": "constructions", "questions": "questionnaire"}
        names = {
            offered: [str(entry.get("name", "")) for entry in read_entries(text, table)]
            for offered, table in offers.items()
        }
        model = self.find_model(kind)
        fields = [field for field in list_fields(model, values, names) if field.name not in unused]
        if (
            self.name == "rules"
        ):  # its own limits come before the choice of trials, which it inherits
            inherited = {name for base in model.__bases__ for name in _list_parameters(base)}
            fields.sort(key=lambda field: field.name in inherited)
        return fields

    def describe(self, entry: Mapping[str, Any], titles: Mapping[str, str]) -> tuple[str, str]:
        """Return an entry's description, and the text to show below it."""
        if self.name == "questions":
            needed = "must be answered" if entry.get("required") is True else "may be left out"
            answers = entry.get("options", ())
            offered = ", ".join(map(str, answers)) if isinstance(answers, list) else ""
            kind = self.find_kind(entry).replace("_", " ")
            below = f"{entry.get('name', '')}: {kind}, {needed}"
            return str(entry.get("label", "")), f"{below}. {offered}" if offered else below
        return rule_in_words({"rule": "", **entry}, titles), str(entry.get("rule", ""))


PARTS = {
    "questions": Part("questions", "questionnaire", "type", "text", "question"),
    "rules": Part("rules", "exclusion", "rule", "", "rule"),
}
