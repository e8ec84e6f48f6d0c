"""Messages about invalid keys of study.toml, with location, expectation and closest key."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiment.errors import StudyError, describe_pattern, format_value, suggest

Path = tuple[str | int, ...]


class TomlLines:
    """The line numbers of a TOML file's keys.

    Statements are found by adding lines until the standard library can parse them, so that all
    grammar is left to that library.

    Args:
        text: The file's text; its valid TOML statements are used.
        earlier: Earlier names of top-level keys, by current name.
    """

    def __init__(self, text: str, earlier: Mapping[str, str] | None = None) -> None:
        self._lines: dict[Path, int] = {}
        table: Path = ()
        counts: dict[Path, int] = {}
        for number, statement in _split_into_statements(text):
            keys = _get_toml_keys(tomllib.loads(statement))
            if statement.lstrip().startswith("["):
                table = _number_header(keys, counts, array=statement.lstrip().startswith("[["))
                self._lines.setdefault(table, number)
            else:
                self._note((*table, *keys), number)
        for now, earlier_key in (earlier or {}).items():
            if (earlier_key,) in self._lines:
                self._lines.setdefault((now,), self._lines[earlier_key,])

    def _note(self, path: Path, number: int) -> None:
        for length in range(1, len(path) + 1):
            self._lines.setdefault(path[:length], number)

    def line_of(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key, or of the closest enclosing table; None if unknown."""
        for length in range(len(path), 0, -1):
            if (line := self._lines.get(tuple(path[:length]))) is not None:
                return line
        return None


def _split_into_statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with its first line number; incomplete statements are skipped."""
    waiting, began = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        began = began if waiting else number
        waiting += f"{line}\n"
        try:
            tomllib.loads(waiting)
        except tomllib.TOMLDecodeError:
            continue
        if not line.strip().startswith("#") and waiting.strip():
            yield began, waiting
        waiting = ""


def _get_toml_keys(parsed: Mapping[str, object]) -> tuple[str, ...]:
    """Return the keys that lead to a statement's value."""
    keys = []
    value: object = parsed
    while isinstance(value, Mapping) and len(value) == 1:
        ((key, value),) = value.items()
        keys.append(key)
        if isinstance(value, list):
            break
    return tuple(keys)


def _number_header(keys: Sequence[str], counts: dict[Path, int], *, array: bool) -> Path:
    """Return a header's path, with the current table's index after each array of tables."""
    path: Path = ()
    for index, key in enumerate(keys):
        path = (*path, key)
        last = index == len(keys) - 1
        if last and array:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


_REFERENCE = "docs/studies.md lists every key"
_TYPES = {
    "string": "a text in quotation marks",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list in square brackets",
    "tuple": "a list in square brackets",
    "dict": "a table",
    "model": "a table",
}


class KeyErrors:
    """Converts pydantic's validation errors to messages.

    Args:
        model: The pydantic model that failed to validate.
        file: The file's name for messages.
        lines: The line numbers of its keys.
    """

    def __init__(self, model: type[BaseModel], file: str, lines: TomlLines) -> None:
        self._model, self._file, self._lines = model, file, lines

    def of(self, error: ValidationError) -> list[StudyError]:
        """Return one error for each invalid key, in line order."""
        by_line = [(self._lines.line_of(detail["loc"]) or 0, detail)
                 for detail in error.errors(include_url=False)]  # fmt: skip
        return [
            self._describe_error(detail) for _, detail in sorted(by_line, key=lambda pair: pair[0])
        ]

    def _describe_error(self, error: ErrorDetails) -> StudyError:
        path, kind = error["loc"], error["type"]
        key, table = _key(path), path[:-1]
        location = place(self._file, self._lines, path)
        if kind == "extra_forbidden":
            known_keys = list(_list_fields(_find_model(self._model, table)))
            return StudyError(
                f'there is no key "{key}"{_name_table(table)}',
                where=location,
                expected=f"one of: {', '.join(known_keys)}",
                remedy=suggest(key, known_keys) or f"Remove it: {_REFERENCE}",
            )
        if not path and kind == "value_error":
            # Two tables contradict each other: the message names the key.
            problem, _, expected = str(error["ctx"]["error"]).partition("; ")
            named_key = tuple(problem.split(" ")[0].rstrip(":").split("."))
            return StudyError(
                problem,
                where=place(self._file, self._lines, named_key),
                expected=expected.removeprefix("expected "),
            )
        if kind == "missing":
            return StudyError(
                f'the key "{key}"{_name_table(table)} is missing',
                where=location,
                expected=_description(self._model, path),
                remedy=f"Add it: {_REFERENCE}",
            )
        return StudyError(
            f"{key} is {format_value(error['input'])}",
            where=location,
            expected=_describe_expected(error),
            remedy=_quote_description(self._model, path),
        )


def misread(keys: Mapping[str, object], model: object, location: str) -> Iterator[StudyError]:
    """Report keys whose value was converted to another type, such as "2" to a number.

    Args:
        keys: The keys and values in the file.
        model: The object made from the keys, with an attribute for each.
        location: The location of the keys, for messages.
    """
    for key, value in keys.items():
        for name, item, words in _taken_for(key, value, getattr(model, key, None)):
            yield StudyError(f"{name} is {format_value(item)}", where=location, expected=words)


def _taken_for(name: str, written_value: object, read: object) -> Iterator[tuple[str, object, str]]:
    if isinstance(read, BaseModel):
        read = {key: getattr(read, key) for key in type(read).model_fields}
    if isinstance(written_value, Mapping) and isinstance(read, Mapping):
        for key in written_value.keys() & read.keys():
            yield from _taken_for(f"{name}.{key}", written_value[key], read[key])
    elif isinstance(written_value, list) and isinstance(read, list | tuple):
        for item, read_item in zip(written_value, read, strict=False):
            yield from _taken_for(name, item, read_item)
    elif type(read) is bool and type(written_value) is not bool:
        yield name, written_value, _TYPES["bool"]
    elif type(read) is int and type(written_value) is not int:
        yield name, written_value, _TYPES["int"]
    elif type(read) is float and type(written_value) not in (int, float):
        yield name, written_value, _TYPES["float"]


def place(file: str, lines: TomlLines, path: Path) -> str:
    """Return the location of a key as text, such as ``study.toml, line 12, design.lists``."""
    line = lines.line_of(path)
    return ", ".join(filter(None, (file, f"line {line}" if line else "", _write_dotted(path))))


def _key(path: Path) -> str:
    """Return the last part of a path; for a table in an array, with the array's name."""
    names = [number for number, part in enumerate(path) if isinstance(part, str)]
    return _write_dotted(path[names[-1] :]) if names else ""


def _write_dotted(path: Path) -> str:
    """Return a path in dotted form with indices counted from 1."""
    text = ""
    for part in path:
        text += f" {part + 1}" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


def _name_table(table: Path) -> str:
    return f" in [{_write_dotted(table)}]" if table else ""


def _describe_expected(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        return f"one of: {str(context['expected']).replace(chr(39), chr(34))}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return describe_pattern(error)
    for name, words in _TYPES.items():
        if (kind.startswith(name) and "type" in kind) or kind in (f"{name}_parsing",):
            return words
    # Pydantic's "Input should be greater than 0" is plain English.
    message = error["msg"].replace("Input should ", "").replace("String should ", "a text that ")
    message = message.replace("List should ", "a list that ").replace(" after validation", "")
    return message.removeprefix("be ").replace("have at least", "has at least")


def _list_annotations(annotation: object) -> Iterator[object]:
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _list_annotations(part)
    else:
        yield annotation


def _find_model(model: type[BaseModel] | None, path: Path) -> type[BaseModel] | None:
    """Return the pydantic model of the table at a path."""
    is_author_name = (
        False  # whether the next part is a name that the author chose, such as a parameter's
    )
    for part in path:
        if isinstance(part, int) or model is None or is_author_name:
            is_author_name = False
            continue
        field = model.model_fields.get(part)
        model = _find_table_model(field.annotation) if field else None
        is_author_name = field is not None and get_origin(field.annotation) is dict
    return model


def _find_table_model(annotation: object) -> type[BaseModel] | None:
    for type_ in _list_annotations(annotation):
        for part in (type_, *get_args(type_)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                return part
    return None


def _list_fields(model: type[BaseModel] | None) -> dict[str, str]:
    hidden = {"folder", "files"}
    return {
        name: field.description or ""
        for name, field in (model.model_fields if model else {}).items()
        if name not in hidden
    }


def _description(model: type[BaseModel], path: Path) -> str:
    meaning = _list_fields(_find_model(model, path[:-1])).get(str(path[-1]), "")
    return meaning or "that table"


def _quote_description(model: type[BaseModel], path: Path) -> str:
    names = [part for part in path if isinstance(part, str)]
    if not names:
        return ""
    table = path[: len(path) - 1 - path[::-1].index(names[-1])]
    description = _list_fields(_find_model(model, table)).get(names[-1], "")
    return f"It says: {description}" if description else ""
