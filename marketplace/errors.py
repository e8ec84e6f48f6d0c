"""The error of starting a stand-in, and of what its control address is sent."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    # Every command reads this file, and no help waits for pydantic.
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


class MarketplaceError(click.ClickException):
    """A stand-in cannot be started as it was asked to; the message is one paragraph.

    The command ends with it by itself, so that the shell's door knows nothing of the stand-ins.

    Args:
        problem: What is wrong, with the offending value.
        where: The option, file or address it was found in; empty when there is no place.
        expected: What would have been right.
        remedy: What to do about it.
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem = problem
        parts = (problem, f"Expected {expected}" if expected else "", remedy)
        text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
        super().__init__(f"{where}: {text}" if where else text)


# What a value should have been, by the name of what is wrong with it. What a library says of it is
# said to those who program with it.
_WANTED = {
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
_BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "union_tag_invalid": "one of {expected_tags} by its {discriminator}",
}


def what_is_wrong(problem: "ErrorDetails") -> str:
    """Return what is wrong with one value of a JSON object, as words that follow its name."""
    kind, given = problem["type"], problem.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is unknown"
    if kind.endswith("_too_short"):
        return "is empty"
    if kind.endswith("_too_long"):
        return f"has more than {given['max_length']} characters or entries"
    if kind == "union_tag_not_found":
        return f"lacks its {given['discriminator']}"
    if kind == "value_error":
        return f"cannot be used: {problem['msg'].removeprefix('Value error, ')}"
    wanted = _BOUNDS.get(kind, "").format(**given) or _WANTED.get(kind.partition("_")[0])
    return f"must be {wanted or 'something else'}, not {problem['input']!r}"


def wrong_key(error: "ValidationError") -> str:
    """Return what is wrong with the first key of a JSON object that cannot be used."""
    first = error.errors(include_url=False)[0]
    return f'"{".".join(map(str, first["loc"]))}" {what_is_wrong(first)}'
