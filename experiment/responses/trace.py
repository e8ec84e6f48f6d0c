"""The trace of a trial: pointer movements and key presses, recorded if a study requests them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_CHARACTERS = 1500
MOMENT = r"(?:[mt][0-9a-z]{1,7}(?:,-?[0-9a-z]{1,5}){2}|[du][0-9a-z]{1,7})"
_PARTS = re.compile(r"([mtdu])([0-9a-z]+)(?:,(-?[0-9a-z]+),(-?[0-9a-z]+))?", re.ASCII)
_KINDS = {"m": "mouse", "t": "touch", "d": "key_down", "u": "key_up"}


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of a trial.

    Attributes:
        kind: What happened: a mouse (or pen) or a finger moved, or a key went down or up.
        at_ms: The time in milliseconds since the trial was drawn.
        x_px: The distance from the window's left edge in CSS pixels; None for keys.
        y_px: The distance from the window's upper edge in CSS pixels; None for keys.
    """

    kind: str
    at_ms: int
    x_px: int | None = None
    y_px: int | None = None


def read_trace(text: str) -> Iterator[Moment]:
    """Yield the moments of a trace in order; none for an empty trace.

    Args:
        text: The trace as ``webapp/static/trace.js`` writes it: moments separated by semicolons,
            each a letter and differences to the previous moment, in base 36.
    """
    at_ms = x_px = y_px = 0
    for letter, difference, right, down in _PARTS.findall(text):
        at_ms += int(difference, 36)
        if not right:
            yield Moment(_KINDS[letter], at_ms)
            continue
        x_px, y_px = x_px + int(right, 36), y_px + int(down, 36)
        yield Moment(_KINDS[letter], at_ms, x_px, y_px)
