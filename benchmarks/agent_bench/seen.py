"""Answers with what the signals that were tried ask of them, beside what the product looks at."""

from dataclasses import dataclass

from experiment.integrity.observed import ObservedAnswer


@dataclass(frozen=True, slots=True)
class SeenAnswer(ObservedAnswer):
    """One answer.

    Attributes:
        kind: Its construction and condition.
        chose_good: Whether the expected one of two options was chosen; None for other trials.
        pointer_stopped_ms: From painting to the pointer's last movement before the press.
    """

    kind: str = ""
    chose_good: bool | None = None
    pointer_stopped_ms: float | None = None
