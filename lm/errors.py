"""The errors of language models that the user can mend, and why and where a file is wrong."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# What a value of another type should have been, as an author of TOML would say it.
_KINDS = {
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
}


class LmError(Exception):
    """A model, a vocabulary or a text cannot be used; the message is one clear paragraph.

    Line ends in what it quotes, as prompts have them, become spaces.

    Attributes:
        key: The key of a TOML file that it is about; empty where it is about none.
    """

    key: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


def why_unread(error: Exception, path: Path) -> str:
    """Return why a file could not be read, without its name and without a codec's own words."""
    if isinstance(error, UnicodeDecodeError):
        line = _undecodable(path)
        return f"line {line} is no text in UTF-8" if line else "it is no text in UTF-8"
    if isinstance(error, RecursionError):
        return "its brackets stand too deep in one another"
    return getattr(error, "strerror", None) or str(error)


def _undecodable(path: Path) -> int:
    """Return the number of the line; 0 where it cannot be found, as in what can be read once."""
    if not path.is_file():
        return 0
    # The error itself counts from where the reader's buffer began.
    with suppress(OSError), path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 0


def wrong_key(error: "ValidationError") -> str:
    """Return what is wrong with the first key of a file that cannot be used."""
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
    wanted = _KINDS.get(first["type"], first["msg"].removeprefix("Input should be "))
    return f'"{key}" must be {wanted.partition(",")[0]}, not {first["input"]!r}'


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Let every fault of a file that is read inside say where in it it is.

    Raises:
        LmError: A key is wrong, or the file is no TOML; errors of reading it at all pass.
    """
    # Every command reads this file, and no help waits for pydantic.
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        key = error.errors(include_url=False)[0]["loc"]
        raise LmError(f"{_place(path, key)}: {wrong_key(error)}.") from error
    except LmError as error:
        raise LmError(f"{_place(path, error.key)}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise LmError(f"{path}: {why_unread(error, path)}.") from error


@contextmanager
def at(*key: str | int) -> Iterator[None]:
    """Let an error that is raised inside say that it is about a key; the outermost comes first."""
    try:
        yield
    except LmError as error:
        error.key = (*key, *error.key)
        raise


def line_of(text: str, key: Sequence[str | int]) -> int | None:
    """Return the line on which a key stands, or else the nearest table around it.

    All grammar is left to the standard library: the key stands in the first statement with which
    the text up to there has it.

    Args:
        text: A whole TOML file's.
        key: Names of keys, and numbers of tables in arrays, from 0.
    """
    found, reached, began = None, 0, 1
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        try:
            held = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if (depth := _depth(held, key)) > reached:
            found, reached = began, depth
        began = number + 1
    return found


def _depth(held: object, key: Sequence[str | int]) -> int:
    """Return how many of a key's parts lead somewhere."""
    for depth, part in enumerate(key):
        try:
            held = held[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)


def _place(path: Path, key: Sequence[str | int]) -> str:
    line = line_of(path.read_text(encoding="utf-8"), key)
    return f"{path}, line {line}" if line else str(path)
