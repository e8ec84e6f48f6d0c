"""What is wrong in a TOML file, said with the file's name and the line."""

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from lm.errors import LmError, why_unread, wrong_key


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Let every fault of a file that is read inside say where in it it is.

    Raises:
        LmError: A key is wrong, or the file is no TOML; errors of reading it at all pass.
    """
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
