"""The errors of language models that the user can mend, and why a file was not taken, in words."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

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
