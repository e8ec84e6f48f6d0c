"""How often each signal fires for people and for programs, and the weight that follows.

Four tables hold the counts: ``rates.tsv`` for simulated people and devices
(``benchmarks/people_flagged.py``), ``types.tsv`` for simulated people by type of response
(``benchmarks/types_flagged.py``: of each the worst way of answering and network), ``published.tsv``
for real people in published data (``benchmarks/people_published.py``), and ``programs.tsv`` for
programs that took part (``benchmarks/agents.py``, ``benchmarks/integrity_weights.py``). A server
sees a key, a pointer or a touch, but not whether a switch, a screen reader or a voice pressed the
key. So the rate for an input method is the highest among all ways of answering and all data with
that method.
"""

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SCORE_NAME = "score"
# The input methods that a server can distinguish.
METHODS = ("pointer", "touch", "key")
# The largest share of people for whom a signal or the score may fire and still count.
LIMIT = 0.01


@dataclass(frozen=True, slots=True)
class PeopleRate:
    """How often a signal fires for people with one way of answering.

    Attributes:
        way: The way of answering that was simulated, or the published data.
        seen: The input method that the server sees: pointer, touch or key.
        n_trials: The number of trials in a session.
        name: A signal's name, or ``score``.
        n_flagged: The number of sessions for which the signal fired.
        n: The number of sessions.
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
class ProgramRate:
    """How often a signal fires for one kind of program.

    Attributes:
        kind: The kind of program.
        n_trials: The number of trials examined in a session.
        name: The signal's name.
        n_fired: The number of sessions for which the signal fires.
        n: The number of sessions.
    """

    kind: str
    n_trials: int
    name: str
    n_fired: int
    n: int


@cache
def measured_rates() -> tuple[PeopleRate, ...]:
    """Return every measured rate among people, those of simulated people first."""
    return tuple(
        PeopleRate(
            row["way"], row["seen"], int(row["n_trials"]), row["name"], int(row["n_flagged"]),
            int(row["n"]), float(row["high"]),
        )
        for file in ("rates.tsv", "published.tsv")
        for row in _read_rows(file)
    )  # fmt: skip


@cache
def list_program_rates() -> tuple[ProgramRate, ...]:
    """Return every measured rate among programs."""
    return tuple(
        ProgramRate(
            row["kind"], int(row["n_trials"]), row["name"], int(row["n_speaks"]), int(row["n"])
        )
        for row in _read_rows("programs.tsv")
    )  # fmt: skip


def _read_rows(file: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    yield from csv.DictReader(lines, delimiter="\t")


@cache
def highest_rate(name: str, input_methods: frozenset[str], n_answers: int) -> float | None:
    """Return the highest rate at which a signal fires for people, over all ways of answering.

    Args:
        name: A signal's name, or ``score``.
        input_methods: The input methods that the server saw: pointer, touch, key.
        n_answers: The number of answers; the nearest measured length at or below it is used.

    Returns:
        The upper end of the 95 % interval; None if nothing was measured.
    """
    rates = [rate for rate in measured_rates() if rate.name == name and rate.n_trials <= n_answers]
    if not input_methods or not rates:
        return None
    n_trials = max(rate.n_trials for rate in rates)
    matching_rates = [
        rate for rate in rates if rate.n_trials == n_trials and rate.seen in input_methods
    ]
    if {rate.seen for rate in matching_rates} != input_methods:
        return None
    return max(rate.high for rate in matching_rates)


def is_safe(name: str, input_methods: Iterable[str], n_answers: int) -> bool:
    """Return whether a signal is known to fire for fewer than one in a hundred people."""
    high = highest_rate(name, frozenset(input_methods), n_answers)
    return high is not None and high < LIMIT


@cache
def _load_limits_by_type() -> dict[tuple[str, str, str], dict[int, float]]:
    """Return the upper limits by length, by type of response, signal or flag, and input method."""
    limits: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in _read_rows("types.tsv"):
        key = row["type"], row["name"], row["seen"]
        limits.setdefault(key, {})[int(row["n_trials"])] = float(row["high"])
    return limits


def unmeasured_types(name: str, types: Iterable[str]) -> list[str]:
    """Return the types of response for which nobody knows how often a signal or flag is false.

    There are none for what no type of response bears on, such as a change of device.
    """
    measured = {
        type_ for type_, measured_name, _ in _load_limits_by_type() if measured_name == name
    }
    return sorted(set(types) - measured) if measured else []


def is_unfair(
    name: str, types: Iterable[str], input_methods: Iterable[str], n_answers: int
) -> bool:
    """Return whether a signal or flag may speak against more than one in a hundred people.

    This was measured for each type of response that Parallax has; in a session with another one,
    such as a plug-in's, nobody knows. Of sessions shorter than the shortest that was measured,
    nothing is known either.

    Args:
        name: A signal's or flag's name, or ``score``.
        types: The names of the types of response in the session.
        input_methods: The input methods that the server saw.
        n_answers: The number of answers; the nearest measured length at or below it is used.
    """
    types = frozenset(types)
    if unmeasured_types(name, types):
        return True
    observed_methods = tuple(input_methods)
    for by_length in (
        _load_limits_by_type().get((type_, name, method), {})
        for type_ in types
        for method in observed_methods
    ):
        lengths = [length for length in by_length if length <= n_answers]
        if lengths and by_length[max(lengths)] >= LIMIT:
            return True
    return False


def weigh_evidence(
    name: str, n_answers: int, people: float, programs: Iterable[ProgramRate]
) -> float:
    """Return the evidence, in nats, that a signal gives for a program rather than a person.

    This is the log ratio of how often the signal fires for programs, with equal weight for each
    kind, and how often it fires for people.

    Args:
        name: The signal's name.
        n_answers: The number of answers; the nearest measured length at or below it is used.
        people: How often the signal fires for people. This rate is also counted as one more kind of
            program, so that the results of a few kinds are not overestimated.
        programs: The counts among programs.

    Returns:
        The nats, 0 or more.
    """
    benches = [bench for bench in programs if bench.name == name and bench.n_trials <= n_answers]
    n_trials = max((bench.n_trials for bench in benches), default=0)
    shares = [bench.n_fired / bench.n for bench in benches if bench.n_trials == n_trials]
    share = (sum(shares) + people) / (len(shares) + 1)
    return max(0.0, math.log(share / people))


@cache
def weight(
    name: str,
    input_methods: frozenset[str],
    n_answers: int,
    programs: tuple[ProgramRate, ...] | None = None,
) -> float | None:
    """Return the weight of a signal in a session, in nats (see ``weigh_evidence``).

    The weight uses the highest rate among people (``highest``), so that uncertainty about people
    lowers the weight.

    Args:
        name: The signal's name.
        input_methods: The input methods that the server saw.
        n_answers: The number of answers.
        programs: The counts among programs; by default, the counts that Parallax ships.

    Returns:
        The nats, 0 or more; None if the signal fires for too many people, or this is unknown.
    """
    high = highest_rate(name, input_methods, n_answers)
    if high is None or high >= LIMIT:
        return None
    return weigh_evidence(
        name, n_answers, high, list_program_rates() if programs is None else programs
    )
