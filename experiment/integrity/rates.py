"""How often signals speak against people and of programs, and what each is worth for that.

Three tables hold what was counted: ``rates.tsv`` people and devices that were simulated
(``benchmarks/people_flagged.py``), ``published.tsv`` real people of published data
(``benchmarks/people_published.py``), ``programs.tsv`` programs that took part
(``benchmarks/agents.py``, ``benchmarks/integrity_weights.py``). A server sees a key, a pointer or a
touch, and not whether the key was pressed by a switch, a screen reader or a voice. So the rate of
what it sees is the highest of all ways and all data that look alike.
"""

import csv
import math
from collections.abc import Iterable, Iterator
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
        way: The way of answering that was simulated, or the published data.
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


@dataclass(frozen=True, slots=True)
class Told:
    """How often a signal speaks of one kind of program.

    Attributes:
        kind: The kind of program.
        n_trials: How many trials of a session were looked at.
        name: The signal's name.
        n_speaks: Sessions of which it speaks.
        n: Sessions.
    """

    kind: str
    n_trials: int
    name: str
    n_speaks: int
    n: int


@cache
def measured() -> tuple[Rate, ...]:
    """Return every rate among people that was counted, simulated ones first."""
    return tuple(
        Rate(
            row["way"], row["seen"], int(row["n_trials"]), row["name"], int(row["n_flagged"]),
            int(row["n"]), float(row["high"]),
        )
        for file in ("rates.tsv", "published.tsv")
        for row in _rows(file)
    )  # fmt: skip


@cache
def of_programs() -> tuple[Told, ...]:
    """Return what was counted among programs."""
    return tuple(
        Told(
            row["kind"], int(row["n_trials"]), row["name"], int(row["n_speaks"]), int(row["n"])
        )
        for row in _rows("programs.tsv")
    )  # fmt: skip


def _rows(file: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    yield from csv.DictReader(lines, delimiter="\t")


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
    matching = [rate for rate in rates if rate.n_trials == n_trials and rate.seen in seen]
    if {rate.seen for rate in matching} != seen:
        return None
    return max(rate.high for rate in matching)


def is_safe(name: str, seen: Iterable[str], n_answers: int) -> bool:
    """Return whether something is known to speak against less than one in a hundred people."""
    high = highest(name, frozenset(seen), n_answers)
    return high is not None and high < MOST


def worth(name: str, n_answers: int, people: float, programs: Iterable[Told]) -> float:
    """Return by how many nats a signal that speaks says a program rather than a person.

    It is the logarithm of how often it speaks of programs, each kind of them counted alike, over
    how often it does of people.

    Args:
        name: The signal's name.
        n_answers: How many answers there are; the nearest length at or below it counts.
        people: How often it speaks of people. One kind of programs more is counted that does as
            they do, so that what was seen of few kinds is not taken for more than it is.
        programs: What was counted among programs.

    Returns:
        The nats, 0 or more.
    """
    benches = [bench for bench in programs if bench.name == name and bench.n_trials <= n_answers]
    n_trials = max((bench.n_trials for bench in benches), default=0)
    shares = [bench.n_speaks / bench.n for bench in benches if bench.n_trials == n_trials]
    share = (sum(shares) + people) / (len(shares) + 1)
    return max(0.0, math.log(share / people))


@cache
def weight(
    name: str, seen: frozenset[str], n_answers: int, programs: tuple[Told, ...] | None = None
) -> float | None:
    """Return what a signal is worth in a session (``worth``), in nats.

    What counts is how often it speaks of people at most (``highest``): what is not known of people
    is held against the signal.

    Args:
        name: The signal's name.
        seen: What the server saw of how somebody answered.
        n_answers: How many answers there are.
        programs: What was counted among programs; what the product holds where none is given.

    Returns:
        The nats, 0 or more; None where it speaks against too many people, or nobody knows.
    """
    high = highest(name, seen, n_answers)
    if high is None or high >= MOST:
        return None
    return worth(name, n_answers, high, of_programs() if programs is None else programs)
