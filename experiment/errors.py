"""The errors a user of Parallax can mend, each one a clear paragraph."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The command line's help needs the errors, and nothing as large as pydantic.
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_LONGEST_VALUE = 60


class ParallaxError(Exception):
    """Something the user gave cannot be used; the message says what, where and what to do.

    Args:
        problem: What is wrong, with the offending value.
        where: The file, line, table or setting it was found in; empty when there is no place.
        expected: What would have been right.
        remedy: What to do about it.

    Attributes:
        exit_status: What a command that ends with it returns.
    """

    exit_status = 2

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem, self.where, self.expected, self.remedy = problem, where, expected, remedy
        super().__init__(self._paragraph())

    def _paragraph(self) -> str:
        place = f"{self.where}: " if self.where else ""
        expected = f" Expected {_sentence(self.expected)}" if self.expected else ""
        remedy = f" {_sentence(self.remedy)}" if self.remedy else ""
        return f"{place}{_sentence(self.problem)}{expected}{remedy}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class StudyError(ParallaxError):
    """A study folder is missing, malformed or contradicts itself."""


class MaterialsError(ParallaxError):
    """A grammar or an item file cannot be turned into sound items."""


class DesignError(ParallaxError):
    """The lists cannot be built as designed, or built lists fail a check."""


class TableError(ParallaxError):
    """A table's file lacks a column, holds a wrong type or cannot be written."""


class UnknownNameError(ParallaxError):
    """A name is in no registry."""


class PluginError(ParallaxError):
    """A plug-in cannot be loaded, is no plug-in of its kind, or may not be loaded here."""


def wrong_keys(error: "ValidationError") -> str:
    """Return every problem as one text, e.g. ``max_errors is missing; max_eror is unknown``."""
    return "; ".join(_wrong_key(each) for each in error.errors(include_url=False))


def _wrong_key(error: "ErrorDetails") -> str:
    key = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"{key} is missing"
    if error["type"] == "extra_forbidden":
        return f"{key} is unknown"
    return f"{key}: {error['msg']} (seen: {shown(error['input'])})"


def shown(value: object) -> str:
    """Return a value as a message shows it: never a table, never more than a line."""
    if isinstance(value, dict):
        return "a table"
    plain = isinstance(value, str | list | tuple)
    text = repr(value).replace("'", '"') if plain else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}\u2026"
