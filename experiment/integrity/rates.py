"""How often the score and its signals speak against people, by how they answer and for how long.

The rates are measured on simulated devices (``benchmarks/people_flagged.py``), not on people. A
server sees a key, a pointer or a touch, and not whether the key was pressed by a switch, a screen
reader or a voice. So the rate of what it sees is the highest of all ways that look alike.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SCORE = "score"
# What a server can tell of how somebody answers.
METHODS = ("pointer", "touch", "key")
# What a signal or the score may do to people at most, where it counts at all.
MOST = 0.01


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something speaks against people of one way of answering.

    Attributes:
        way: The way of answering that was simulated.
        seen: What the server sees of it: pointer, touch or key.
        n_trials: How many trials a session had.
        name: A signal's name, or ``score``.
        n_flagged: Sessions against which it spoke.
        n: Sessions.
        high: The upper end of the exact 95 % interval of the share.
    """

    way: str
    seen: str
    n_trials: int
    name: str
    n_flagged: int
    n: int
    high: float


@cache
def measured() -> tuple[Rate, ...]:
    """Return every rate that was measured."""
    text = files(__package__).joinpath("rates.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return tuple(
        Rate(
            row["way"], row["seen"], int(row["n_trials"]), row["name"], int(row["n_flagged"]),
            int(row["n"]), float(row["high"]),
        )
        for row in csv.DictReader(lines, delimiter="\t")
    )  # fmt: skip


@cache
def highest(name: str, seen: frozenset[str], n_answers: int) -> float | None:
    """Return how often something speaks against people, at most, in the worst of the ways.

    Args:
        name: A signal's name, or ``score``.
        seen: What the server saw: pointer, touch, key; several where somebody used several.
        n_answers: How many answers there are; the nearest length measured at or below it counts.

    Returns:
        The upper end of the 95 % interval; None where nothing was measured.
    """
    rates = [rate for rate in measured() if rate.name == name and rate.n_trials <= n_answers]
    if not seen or not rates:
        return None
    n_trials = max(rate.n_trials for rate in rates)
    found = [rate for rate in rates if rate.n_trials == n_trials and rate.seen in seen]
    if {rate.seen for rate in found} != seen:
        return None
    return max(rate.high for rate in found)


def is_safe(name: str, seen: Iterable[str], n_answers: int) -> bool:
    """Return whether something is known to speak against less than one in a hundred people."""
    high = highest(name, frozenset(seen), n_answers)
    return high is not None and high < MOST
