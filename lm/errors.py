"""Errors of language models that users can fix, with the place in a file and the reason."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# The expected kind of value in TOML terms, by pydantic's error type.
_KINDS = {
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
}


class LmError(Exception):
    """A model, a vocabulary or a text cannot be used; the message is one clear paragraph.

    Line ends in quoted text, such as prompts, become spaces.

    Attributes:
        key: The key of a TOML file with the error; empty if the error concerns no key.
    """

    key: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


def why_unread(error: Exception, path: Path) -> str:
    """Return why a file could not be read, without its name and without a codec's wording."""
    if isinstance(error, UnicodeDecodeError):
        line = _find_undecodable_line(path)
        return f"line {line} is not UTF-8 text" if line else "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "its brackets are nested too deeply"
    return getattr(error, "strerror", None) or str(error)


def _find_undecodable_line(path: Path) -> int:
    """Return the number of the first line that is not UTF-8; 0 if unknown, as for a pipe."""
    if not path.is_file():
        return 0
    # The error's own position is relative to the reader's buffer.
    with suppress(OSError), path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 0


def describe_first_error(error: "ValidationError") -> str:
    """Return a message about the first invalid key of a file."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f'"{key}" is missing'
    if first["type"] == "extra_forbidden":
        return f'"{key}" is unknown'
    if first["type"] == "value_error":
        return f'"{key}": {first["msg"].removeprefix("Value error, ")}'
    if first["type"].endswith("_short"):
        return f'"{key}" is empty'
    expected = _KINDS.get(first["type"], first["msg"].removeprefix("Input should be "))
    return f'"{key}" must be {expected.partition(",")[0]}, not {first["input"]!r}'


@contextmanager
def locate_errors(path: Path) -> Iterator[None]:
    """Add the file and line to all errors of a file that is parsed in the block.

    Raises:
        LmError: A key is invalid, or the file is not TOML; OS errors pass unchanged.
    """
    # Every command imports this module, so it must not import pydantic: --help would become slow.
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        key = error.errors(include_url=False)[0]["loc"]
        raise LmError(f"{_place(path, key)}: {describe_first_error(error)}.") from error
    except LmError as error:
        raise LmError(f"{_place(path, error.key)}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise LmError(f"{path}: {why_unread(error, path)}.") from error


@contextmanager
def at(*key: str | int) -> Iterator[None]:
    """Prepend a key to the keys of errors raised in the block; the outermost key comes first."""
    try:
        yield
    except LmError as error:
        error.key = (*key, *error.key)
        raise


def line_of(text: str, key: Sequence[str | int]) -> int | None:
    """Return the line of a key, or else of the nearest enclosing table.

    The standard library does all parsing: the key is in the first statement whose preceding text,
    together with it, parses to a document with the key.

    Args:
        text: A whole TOML file.
        key: Names of keys, and indices of tables in arrays, from 0.
    """
    line, reached, began = None, 0, 1
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        try:
            document = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if (depth := _count_found_keys(document, key)) > reached:
            line, reached = began, depth
        began = number + 1
    return line


def _count_found_keys(document: object, key: Sequence[str | int]) -> int:
    """Return how many leading parts of a key exist in the document."""
    for depth, part in enumerate(key):
        try:
            document = document[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)


def _place(path: Path, key: Sequence[str | int]) -> str:
    line = line_of(path.read_text(encoding="utf-8"), key)
    return f"{path}, line {line}" if line else str(path)
