"""The errors that a user of Parallax can correct, each with a clear message."""

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The command line's help imports this module, and must not import pydantic.
    from collections.abc import Iterable

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_LONGEST_VALUE = 60


class ParallaxError(Exception):
    """The user's input cannot be used; the message says what is wrong, where, and what to do.

    Args:
        problem: What is wrong, with the offending value.
        where: The file, line, table or setting it was found in; empty if there is none.
        expected: The correct input.
        remedy: How to correct the error.

    Attributes:
        exit_status: The exit status of a command that fails with this error.
    """

    exit_status = 2

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem, self.where, self.expected, self.remedy = problem, where, expected, remedy
        super().__init__(self._write_paragraph())

    def _write_paragraph(self) -> str:
        location = f"{self.where}: " if self.where else ""
        expected = f" Expected {_end_sentence(self.expected)}" if self.expected else ""
        remedy = f" {_end_sentence(self.remedy)}" if self.remedy else ""
        return f"{location}{_end_sentence(self.problem)}{expected}{remedy}"


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class StudyError(ParallaxError):
    """A study folder is missing, malformed or contradicts itself."""


class StudyNote(ParallaxError):
    """A remark for the study's author that does not prevent a launch."""


class MaterialsError(ParallaxError):
    """A grammar or an item file cannot be turned into valid items."""


class DesignError(ParallaxError):
    """The lists cannot be built as designed, or built lists fail a check."""


class TableError(ParallaxError):
    """A table file lacks a column, has a value of the wrong type or cannot be written."""


class UnknownNameError(ParallaxError):
    """A name is not in a registry."""


class PluginError(ParallaxError):
    """A plug-in cannot be loaded, is of the wrong kind, or may not be loaded here."""


def prefix_location(error: ParallaxError, location: str) -> ParallaxError:
    """Return an error with a location in front of the error's own location."""
    if error.where.startswith(location):
        return error
    inner_location = f" ({error.where})" if error.where else ""
    return type(error)(
        error.problem,
        where=f"{location}{inner_location}",
        expected=error.expected,
        remedy=error.remedy,
    )


def why_unread(error: Exception) -> str:
    """Return why a file could not be read, without its name or Python's internal terms."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, KeyError):
        return f'"{error.args[0]}" is missing from it'
    if isinstance(error, TypeError):
        return "its contents have another structure"
    if isinstance(error, RecursionError):
        return "its brackets are nested too deeply"
    return getattr(error, "strerror", None) or " ".join(str(error).split())


def wrong_keys(error: "ValidationError") -> str:
    """Return every problem as one text, e.g. ``max_errors is missing; max_eror is unknown``."""
    return "; ".join(_wrong_key(detail) for detail in error.errors(include_url=False))


def _wrong_key(error: "ErrorDetails") -> str:
    key = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"{key} is missing"
    if error["type"] == "extra_forbidden":
        return f"{key} is unknown"
    if error["type"] == "value_error" and not key:
        return describe_validation_error(error)
    return f"{key}: {describe_validation_error(error)} (seen: {format_value(error['input'])})"


_LETTERS_AND_DIGITS = "letters, digits and underscores, beginning with a letter"
# Descriptions of regular expressions, for messages.
PATTERN_WORDS = {
    r"^[a-z][a-z0-9_]*$": "lower-case letters, digits and underscores, beginning with a letter",
    r"^[A-Za-z]\w*$": _LETTERS_AND_DIGITS,
    r"^[A-Za-z][A-Za-z0-9_-]{0,63}$": "up to 64 letters, digits, hyphens and underscores, a letter "
    "first",
    r"^(system|noto|[\w./-]+\.woff2)$": "system, noto, or the name of a .woff2 file",
    r"^https://[\w.*-]+(:\d{1,5})?$": "the address of a site, such as https://panel.example",
    r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$": 'a language tag, such as "en", "pt-BR" or "zh-Hant"',
    r"^[A-Z0-9]{1,64}$": "the platform's id, of capital letters and digits",
    r"^[A-Za-z0-9.+-]*$": "an SPDX identifier of a licence, such as CC-BY-4.0",
    r"^(\d{4}-\d{2}-\d{2})?$": "a day, such as 2026-11-30",
    r"^(10\.\d{4,9}/\S+)?$": "a DOI, such as 10.5281/zenodo.1234567",
    r"^(\d{4}-\d{4}-\d{4}-\d{3}[\dX])?$": "an ORCID iD, such as 0000-0002-1825-0097",
    r"^([0-9a-f]{24})?$": "the platform's id, of 24 digits and letters from a to f",
    r"^[A-Z]{2}$": 'a country code of two capital letters, such as "IT"',
}


def describe_validation_error(error: "ErrorDetails") -> str:
    """Return the problem with a value; a pattern is described in words."""
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ")
    if error["type"] != "string_pattern_mismatch":
        return error["msg"]
    return f"must be {describe_pattern(error)}"


def describe_pattern(error: "ErrorDetails") -> str:
    """Return a description of the expected pattern."""
    return PATTERN_WORDS.get(error.get("ctx", {}).get("pattern", ""), "a text of another form")


def suggest(name: str, known_names: "Iterable[str]", *, cutoff: float = 0.6) -> str:
    """Return a question with the known name that is closest to a misspelt one; empty if none is.

    Args:
        name: The misspelt name.
        known_names: The known names.
        cutoff: How alike two names must be, from 0 to 1 (``difflib.get_close_matches``).
    """
    from difflib import get_close_matches

    near = get_close_matches(name, list(known_names), n=1, cutoff=cutoff)
    return f'Did you mean "{near[0]}"?' if near else ""


def find_repeated(names: "Iterable[str]") -> list[str]:
    """Return the names that occur more than once, in order of first appearance."""
    return [name for name, number in Counter(names).items() if number > 1]


def format_value(value: object) -> str:
    """Return a value for a message, in at most one line and without tables."""
    if isinstance(value, dict):
        return "a table"
    is_plain = isinstance(value, str | list | tuple)
    text = repr(value).replace("'", '"') if is_plain else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}\u2026"
