"""What reconciling found: one thing that is not as it should be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that is not as it should be.

    Attributes:
        problem: Its name, for programs.
        who: A participant's reference; the platform's id of the assignment where it is of nobody
            here; the beginning of an offer's token where it is of an offer.
        detail: What was seen.
        remedy: What to do about it.
        safe: Whether ``--fix`` corrects it.
    """

    problem: str
    who: str
    detail: str
    remedy: str
    safe: bool = False
