"""How a trial was answered, moment by moment: what the page recorded where a study asks for it."""

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
        at_ms: When, in milliseconds from the drawing of the trial.
        x_px: How far from the window's left edge, in CSS pixels; None of keys.
        y_px: How far from its upper edge; None of keys.
    """

    kind: str
    at_ms: int
    x_px: int | None = None
    y_px: int | None = None


def read_trace(text: str) -> Iterator[Moment]:
    """Yield the moments of a trace in their order; nothing of an empty one.

    Args:
        text: As ``webapp/static/trace.js`` writes it: moments with semicolons between them, each a
            letter and differences to the moment before, in base 36.
    """
    at_ms = x_px = y_px = 0
    for letter, after, right, down in _PARTS.findall(text):
        at_ms += int(after, 36)
        if not right:
            yield Moment(_KINDS[letter], at_ms)
            continue
        x_px, y_px = x_px + int(right, 36), y_px + int(down, 36)
        yield Moment(_KINDS[letter], at_ms, x_px, y_px)
