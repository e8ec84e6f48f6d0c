"""Signals that were tried: those that the product counts, and those that it left.

Each gives nats as judged beforehand, above 0 where something speaks for a program. Which of them
count, and for how much, is estimated (``integrity_weights.py``): the product has those alone that
hurt nobody and say something (``experiment/integrity/certificate.py``).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles

from agent_bench.norms import Norms, blindness, detachment
from experiment.integrity.certificate import SIGNALS as COUNTED
from experiment.integrity.certificate import (
    find_crossings,
    holds_ms,
    length_correlation,
    log_rt_sd,
    path_variation,
    select_mouse_pairs,
    time_autocorrelation,
)
from experiment.integrity.observed import TOLERANCE_MS, ObservedSession, unexplained_ms

# A finger, a mouse button or a key stays down for longer than this.
_SHORTEST_HOLD_MS = 12.0
_FEWEST = 10
# Values at which all speaks for a program, at which nothing does, and by how many nats.
_EVEN_HOLDS = (0.05, 0.12, 3.0)
_EVEN_TIMES = (0.10, 0.20, 4.0)
_RESTS = (0.05, 0.15, 2.0)
# In the published paths of 60 people (Kieslich & Henninger 2017, Behavior Research Methods 49,
# 1652-1667) the mouse waits for 0.14 of the time at most, in the median of a person's trials. None
# of 60 may still be one in twenty, hence no more than log(20) nats.
_WAITS = (0.5, 0.2, 3.0)
# A mouse rests that goes no farther than this share of its way to another option.
_AT_REST = 0.15
# Means and deviations of people's correlations; those of independent draws have mean 0.
_READING = (0.36, 0.14)
_DRIFT = (0.15, 0.10)
# The most that one correlation says, for a person and for a program: it is soon imitated.
_NATS = (-1.5, 4.0)
_CHOICES = (-1.5, 3.0)
# A signal speaks from so many nats on.
SPEAKS_NATS = 0.5
# What the product's own signals said before their weights were estimated.
_CHOSEN = {"clock": 5.0, "measured": 5.0, "device": 1.5, "automated": 8.0,
           "copied": 8.0}  # fmt: skip


def nats_of(session: ObservedSession, others: Norms | None = None) -> dict[str, float]:
    """Return the nats of each candidate that can be told.

    Args:
        session: The session; its answers are ``SeenAnswer``.
        others: What everybody else of the run did; None where that is not known.
    """
    found: dict[str, float | None] = {}
    for name, speaks in COUNTED.items():
        told = speaks(session)
        found[name] = None if told is None else _CHOSEN[name] * told
    found |= {name: signal(session) for name, signal in DROPPED.items()}
    if others is not None:
        found |= {name: signal(session, others) for name, signal in AMONG_OTHERS.items()}
    return {name: nats for name, nats in found.items() if nats is not None}


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _pace(session: ObservedSession) -> float | None:
    """Claims that the arrivals do not bear out."""
    apart = unexplained_ms(session)
    if len(apart) < _FEWEST:
        return None
    # A slow connection delays answers now more, now less; it does not change what is usual.
    if abs(median(apart)) <= TOLERANCE_MS:
        return 0.0
    return 5.0 * _share([abs(ms) > TOLERANCE_MS for ms in apart])


def _trusted(session: ObservedSession) -> float | None:
    """Presses that a program made in the page; some aids of access make them, too."""
    known = [answer.trusted for answer in session.answers if answer.trusted is not None]
    return 3.0 * _share([not trusted for trusted in known]) if known else None


def _short_holds(session: ObservedSession) -> float | None:
    """Presses that end as they begin; keys that screen readers and switches press do, too."""
    holds = holds_ms(session)
    if len(holds) < _FEWEST:
        return None
    by_key = _share([answer.input_method == "key" for answer in session.answers])
    return (2.5 - 2.0 * by_key) * _share([hold < _SHORTEST_HOLD_MS for hold in holds])


def _even_holds(session: ObservedSession) -> float | None:
    """Presses that all last equally long."""
    holds = [hold for hold in holds_ms(session) if hold >= _SHORTEST_HOLD_MS]
    if len(holds) < _FEWEST:
        return None
    # Half of them lie within this; a busy machine draws single ones out.
    first, middle, third = quantiles(holds, n=4)
    return _between((third - first - 2) / middle, *_EVEN_HOLDS)


def _jumps(session: ObservedSession) -> float | None:
    """A mouse that is at another option without a way there."""
    crossed = find_crossings(session)
    if len(crossed) < _FEWEST // 2:
        return None
    return 4.0 * _share([(answer.pointer_moves or 0) <= 2 for answer in crossed])


def _even_paths(session: ObservedSession) -> float | None:
    """A mouse whose ways are all equally long."""
    variation = path_variation(session)
    return None if variation is None else 3.0 if variation < 0.05 else 0.0


def _rests(session: ObservedSession) -> float | None:
    """A mouse that travels to where it is already, whenever the same option is chosen again."""
    stays = [answer for before, answer in select_mouse_pairs(session) if answer.side == before.side]
    ways = [answer.pointer_path_px or 0.0 for answer in find_crossings(session)]
    if len(stays) < _FEWEST or len(ways) < _FEWEST // 2:
        return None
    near = _AT_REST * median(ways)
    return _between(_share([(one.pointer_path_px or 0.0) <= near for one in stays]), *_RESTS)


def _waits(session: ObservedSession) -> float | None:
    """A mouse that is at another option long before the press: a hand goes once it is decided."""
    shares = [
        1 - answer.pointer_stopped_ms / answer.rt_ms
        for answer in find_crossings(session)
        if answer.pointer_stopped_ms is not None and answer.rt_ms
    ]
    return None if len(shares) < _FEWEST // 2 else _between(median(shares), *_WAITS)


def _even_times(session: ObservedSession) -> float | None:
    """Reaction times that hardly differ."""
    deviation = log_rt_sd(session)
    return None if deviation is None else _between(deviation, *_EVEN_TIMES)


def _between(value: float, all_: float, none: float, most: float) -> float:
    """Return the most nats at one value and beyond, none at the other, and a line between them."""
    return most * min(1.0, max(0.0, (none - value) / (none - all_)))


def _shape(found: float | None, n: float, people: tuple[float, float]) -> float | None:
    """Return the nats by which independent draws explain a correlation better than people do."""
    if found is None:
        return None
    mean, deviation = people
    chance = 1 / math.sqrt(n)
    theirs = math.hypot(deviation, chance)
    # Below nothing, a correlation is no more a program's than at nothing.
    found = max(found, 0.0)
    nats = _log_density(found, 0.0, chance) - _log_density(found, mean, theirs)
    return _within(nats, _NATS)


def _log_density(value: float, mean: float, deviation: float) -> float:
    return -math.log(deviation) - ((value - mean) / deviation) ** 2 / 2


def _reading(session: ObservedSession) -> float | None:
    """Times that do not grow with what there is to read."""
    return _shape(length_correlation(session), len(session.answers), _READING)


def _drift(session: ObservedSession) -> float | None:
    """Times that know nothing of the trial before, as independent draws."""
    return _shape(time_autocorrelation(session), 2 * len(session.answers), _DRIFT)


def _choices(session: ObservedSession, others: Norms) -> float | None:
    """Choices that are no harder where others err: at random, or always right."""
    return _within(blindness(session, others), _CHOICES)


def _items(session: ObservedSession, others: Norms) -> float | None:
    """Times that owe nothing to the items, beside the length of their texts."""
    return _within(detachment(session, others), _NATS)


def _within(nats: float | None, bounds: tuple[float, float]) -> float | None:
    least, most = bounds
    return None if nats is None else max(least, min(most, nats))


DROPPED: Mapping[str, Callable[[ObservedSession], float | None]] = {
    "pace": _pace,
    "trusted": _trusted,
    "short_holds": _short_holds,
    "even_holds": _even_holds,
    "jumps": _jumps,
    "even_paths": _even_paths,
    "rests": _rests,
    "waits": _waits,
    "even_times": _even_times,
    "reading": _reading,
    "drift": _drift,
}
# What is told from what everybody else did.
AMONG_OTHERS: Mapping[str, Callable[[ObservedSession, Norms], float | None]] = {
    "choices": _choices,
    "items": _items,
}
