"""The error of starting a stand-in, and of what its control address is sent."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Every command reads this file, and no help waits for pydantic.
    from pydantic import ValidationError


class MarketplaceError(Exception):
    """A stand-in cannot be started as it was asked to; the message is one paragraph.

    Args:
        problem: What is wrong, with the offending value.
        where: The option, file or address it was found in; empty when there is no place.
        expected: What would have been right.
        remedy: What to do about it.
    """

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem = problem
        parts = (problem, f"Expected {expected}" if expected else "", remedy)
        text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
        super().__init__(f"{where}: {text}" if where else text)


def wrong_key(error: "ValidationError") -> str:
    """Return what is wrong with the first key of a JSON object that cannot be used."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f'"{key}" is missing'
    if first["type"] == "extra_forbidden":
        return f'"{key}" is unknown'
    return f'"{key}" {first["msg"].replace("Input should", "must", 1)}, not {first["input"]!r}'
