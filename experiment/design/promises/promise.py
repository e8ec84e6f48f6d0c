"""A promise of the design, as the audit found it."""

from collections.abc import Iterable
from dataclasses import dataclass

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Promise:
    """One row of the audit.

    Attributes:
        promise: What is promised.
        expected: The figure or state promised; empty in a row that only informs.
        found: What the built lists have; where it is broken, the first breaches.
        kept: False when the promise is broken.
    """

    promise: str
    expected: str
    found: str
    kept: bool


def promised(promise: str, expected: str, breaches: Iterable[str]) -> Promise:
    """Return a promise that is kept if there are no breaches."""
    found = list(breaches)
    if not found:
        return Promise(promise, expected, expected, kept=True)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Promise(promise, expected, "; ".join(found[:_SHOWN]) + more, kept=False)


def noted(what: str, found: str) -> Promise:
    """Return a row that informs and cannot be broken."""
    return Promise(what, "", found, kept=True)
