"""A check of the design, as the audit found it."""

from collections.abc import Iterable
from dataclasses import dataclass

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the audit.

    Attributes:
        name: What is checked.
        expected: The figure or state required; empty in a row that only informs.
        found: What the built lists have; where it is broken, the first breaches.
        passed: False when the lists break what is required.
    """

    name: str
    expected: str
    found: str
    passed: bool


def check(name: str, expected: str, breaches: Iterable[str]) -> Check:
    """Return a check that passes if there are no breaches."""
    found = list(breaches)
    if not found:
        return Check(name, expected, expected, passed=True)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Check(name, expected, "; ".join(found[:_SHOWN]) + more, passed=False)


def info(name: str, found: str) -> Check:
    """Return a row that informs and cannot fail."""
    return Check(name, "", found, passed=True)
