"""Errors of starting a stand-in and of requests to its control API."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    # Every command imports this module, so it must not import pydantic: --help would become slow.
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


class MarketplaceError(click.ClickException):
    """A stand-in cannot be started with these options; the message is one paragraph.

    The command handles this error itself, so that the main program needs no code for stand-ins.

    Args:
        problem: What is wrong, with the offending value.
        where: The option, file or address with the problem; empty if there is none.
        expected: A valid value.
        remedy: How to fix it.
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem = problem
        parts = (problem, f"Expected {expected}" if expected else "", remedy)
        text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
        super().__init__(f"{where}: {text}" if where else text)


# The expected kind of value, by pydantic's error type. Pydantic's own messages are written for
# programmers.
_KIND_WORDS = {
    "bool": "true or false",
    "bytes": "bytes",
    "dict": "an object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "an object",
    "string": "a text",
    "tuple": "a list",
}
_BOUND_WORDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "union_tag_invalid": "one of {expected_tags} by its {discriminator}",
}


def describe_problem(problem: "ErrorDetails") -> str:
    """Return the problem with one value of a JSON object, worded to follow the value's name."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is unknown"
    if kind.endswith("_too_short"):
        return "is empty"
    if kind.endswith("_too_long"):
        return f"has more than {context['max_length']} characters or entries"
    if kind == "union_tag_not_found":
        return f"lacks its {context['discriminator']}"
    if kind == "value_error":
        return f"cannot be used: {problem['msg'].removeprefix('Value error, ')}"
    expected_kind = _BOUND_WORDS.get(kind, "").format(**context) or _KIND_WORDS.get(
        kind.partition("_")[0]
    )
    return f"must be {expected_kind or 'something else'}, not {problem['input']!r}"


def describe_first_error(error: "ValidationError") -> str:
    """Return a message about the first invalid key of a JSON object."""
    first = error.errors(include_url=False)[0]
    return f'"{".".join(map(str, first["loc"]))}" {describe_problem(first)}'
