"""Evidence that a program took part instead of a person, signal by signal.

Each signal gives nats: how much more often such records come from programs than from people, as
judged beforehand; where nothing was measured, it says nothing. The weights are chosen, not
estimated. A signal counts in the score only where it speaks against less than one in a hundred
people who answer that way and for that long (``rates.py``); the rest are told, and not counted. The
sum of those that count passes a logistic function. Direct evidence always counts, and nothing that
can be imitated is held against it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import correlation, fmean, median, quantiles, stdev

from experiment.integrity.choices import blindness, detachment
from experiment.integrity.clock import TOLERANCE_MS, excess_ms, n_too_early, unexplained_ms
from experiment.integrity.norms import Norms, log_times, time_residuals, timed
from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.integrity.rates import is_safe

# As if one session in a hundred were a program's, whatever the study's length.
BASE_NATS = math.log(99)
# A browser that says that a program drives it, and times that are another session's.
DIRECT = ("automated", "copied")
# What voices, hints, dwell clicks, gazes and people who read on do to a press, however rarely.
NO_EVIDENCE = ("trusted", "short_holds", "jumps", "waits")
# A finger, a mouse button or a key stays down for longer than this.
_SHORTEST_HOLD_MS = 12.0
_FEWEST = 10
_FEWEST_FOR_SHAPE = 24
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
# Clocks that browsers made so coarse on purpose tell nothing of a press.
_COARSE_MS = 50.0
# Means and deviations of people's correlations; those of independent draws have mean 0.
_READING = (0.36, 0.14)
_DRIFT = (0.15, 0.10)
# The most that one correlation says, for a person and for a program: it is soon imitated.
_NATS = (-1.5, 4.0)
_CHOICES = (-1.5, 3.0)


def signals(session: ObservedSession, others: Norms | None = None) -> dict[str, float]:
    """Return the nats of each signal that can be told.

    Args:
        session: The session.
        others: What everybody else of the run did; None where that is not known.
    """
    if not session.answers:
        return {}
    found = {name: signal(session) for name, signal in SIGNALS.items()}
    if others is not None:
        found |= {name: signal(session, others) for name, signal in AMONG_OTHERS.items()}
    return {name: nats for name, nats in found.items() if nats is not None}


def counted(session: ObservedSession, nats: Mapping[str, float]) -> dict[str, float]:
    """Return those signals that count in the score of a session.

    Args:
        session: The session.
        nats: What each signal says of it.
    """
    n, seen = len(session.answers), methods(session)
    return {
        name: value
        for name, value in nats.items()
        if name in DIRECT or (name not in NO_EVIDENCE and is_safe(name, seen, n))
    }


def methods(session: ObservedSession) -> frozenset[str]:
    """Return what the server saw of how somebody answered: key, pointer, touch."""
    return frozenset(answer.input_method for answer in session.answers if answer.input_method)


def likelihood(nats: Mapping[str, float]) -> float | None:
    """Return the score from 0 to 1 of the signals that count; None where there is none.

    What speaks for a person is easily imitated, so it takes nothing from what speaks against.
    """
    if not nats:
        return None
    return 1 / (1 + math.exp(BASE_NATS - sum(max(0.0, value) for value in nats.values())))


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _clock(session: ObservedSession) -> float | None:
    """More time claimed than passed, or presses that the page does not take."""
    excess = excess_ms(session)
    if excess is None:
        return None
    return 5.0 if excess > TOLERANCE_MS or n_too_early(session) else 0.0


def _pace(session: ObservedSession) -> float | None:
    """Claims that the arrivals do not bear out."""
    apart = unexplained_ms(session)
    if len(apart) < _FEWEST:
        return None
    # A slow connection delays answers now more, now less; it does not change what is usual.
    if abs(median(apart)) <= TOLERANCE_MS:
        return 0.0
    return 5.0 * _share([abs(ms) > TOLERANCE_MS for ms in apart])


def _measured(session: ObservedSession) -> float:
    """Measurements that the page takes with every answer, and that are not there."""
    return 5.0 * _share(
        [
            answer.trusted is None or not answer.has_onset or answer.pointer_moves is None
            for answer in session.answers
        ]
    )


def _trusted(session: ObservedSession) -> float | None:
    """Presses that a program made in the page; some aids of access make them, too."""
    known = [answer.trusted for answer in session.answers if answer.trusted is not None]
    return 3.0 * _share([not trusted for trusted in known]) if known else None


def _device(session: ObservedSession) -> float:
    """No word of a device, which the page sends by itself."""
    return {0: 1.5, 1: 1.0}.get(session.device_facts, 0.0)


def _automated(session: ObservedSession) -> float | None:
    """A browser that says that a program drives it; a laboratory may start its browsers so."""
    return None if session.automated is None else 8.0 * session.automated


def holds_ms(session: ObservedSession) -> list[float]:
    """Return how long each press lasted, where the clock was fine enough to tell."""
    holds = [answer.hold_ms for answer in session.answers if answer.hold_ms is not None]
    times = [answer.rt_ms for answer in session.answers if answer.rt_ms is not None]
    coarse = times and all(ms % _COARSE_MS == 0 for ms in times)
    return [] if coarse else holds


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


def crossings(session: ObservedSession) -> list[ObservedAnswer]:
    """Return the answers for which a mouse had to go from one option to another."""
    return [answer for before, answer in _by_mouse(session) if answer.side != before.side]


def _by_mouse(session: ObservedSession) -> Iterator[tuple[ObservedAnswer, ObservedAnswer]]:
    """Yield the answers whose mouse's way is known, each after the one before it."""
    ordered = sorted(session.answers, key=lambda one: one.position)
    for before, answer in pairwise(ordered):
        by_mouse = before.input_method == answer.input_method == "pointer"
        known = answer.pointer_moves is not None and answer.pointer_path_px is not None
        if by_mouse and known:
            yield before, answer


def _jumps(session: ObservedSession) -> float | None:
    """A mouse that is at another option without a way there."""
    crossed = crossings(session)
    if len(crossed) < _FEWEST // 2:
        return None
    return 4.0 * _share([(answer.pointer_moves or 0) <= 2 for answer in crossed])


def path_variation(session: ObservedSession) -> float | None:
    """Return the coefficient of variation of the ways from one option to another."""
    paths = [answer.pointer_path_px or 0.0 for answer in crossings(session)]
    if len(paths) < _FEWEST // 2 or not fmean(paths):
        return None
    return stdev(paths) / fmean(paths)


def _even_paths(session: ObservedSession) -> float | None:
    """A mouse whose ways are all equally long."""
    variation = path_variation(session)
    return None if variation is None else 3.0 if variation < 0.05 else 0.0


def _rests(session: ObservedSession) -> float | None:
    """A mouse that travels to where it is already, whenever the same option is chosen again."""
    stays = [answer for before, answer in _by_mouse(session) if answer.side == before.side]
    ways = [answer.pointer_path_px or 0.0 for answer in crossings(session)]
    if len(stays) < _FEWEST or len(ways) < _FEWEST // 2:
        return None
    near = _AT_REST * median(ways)
    return _between(_share([(one.pointer_path_px or 0.0) <= near for one in stays]), *_RESTS)


def _waits(session: ObservedSession) -> float | None:
    """A mouse that is at another option long before the press: a hand goes once it is decided."""
    shares = [
        1 - answer.pointer_stopped_ms / answer.rt_ms
        for answer in crossings(session)
        if answer.pointer_stopped_ms is not None and answer.rt_ms
    ]
    return None if len(shares) < _FEWEST // 2 else _between(median(shares), *_WAITS)


def log_rt_sd(session: ObservedSession) -> float | None:
    """Return the standard deviation of the log reaction times, in nats."""
    times = [math.log(answer.rt_ms) for answer in session.answers if answer.rt_ms]
    return stdev(times) if len(times) >= _FEWEST else None


def _even_times(session: ObservedSession) -> float | None:
    """Reaction times that hardly differ."""
    deviation = log_rt_sd(session)
    return None if deviation is None else _between(deviation, *_EVEN_TIMES)


def _between(value: float, all_: float, none: float, most: float) -> float:
    """Return the most nats at one value and beyond, none at the other, and a line between them."""
    return most * min(1.0, max(0.0, (none - value) / (none - all_)))


def length_correlation(session: ObservedSession) -> float | None:
    """Return how log reaction times go with the log length of the texts (Pearson)."""
    answers = timed(session)
    if len(answers) < _FEWEST_FOR_SHAPE:
        return None
    lengths = [math.log(answer.n_characters) for answer in answers]
    return None if stdev(lengths) < 0.1 else _correlation(lengths, log_times(answers))


def time_autocorrelation(session: ObservedSession) -> float | None:
    """Return how log reaction times, without what length explains, go with the last two."""
    residuals = time_residuals(session)
    if not residuals:
        return None
    times = [residuals[position] for position in sorted(residuals)]
    return (_correlation(times[:-1], times[1:]) + _correlation(times[:-2], times[2:])) / 2


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    if min(stdev(first), stdev(second)) < 1e-9:
        return 0.0
    return correlation(first, second)


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


def _copied(session: ObservedSession) -> float | None:
    """Times that are another session's."""
    if session.n_copied is None or len(session.answers) < _FEWEST:
        return None
    return 8.0 if session.n_copied > len(session.answers) / 2 else 0.0


def median_hold_ms(session: ObservedSession) -> float | None:
    """Return how long presses last; None where that is not known."""
    holds = holds_ms(session)
    return median(holds) if holds else None


SIGNALS: Mapping[str, Callable[[ObservedSession], float | None]] = {
    "clock": _clock,
    "pace": _pace,
    "measured": _measured,
    "trusted": _trusted,
    "device": _device,
    "automated": _automated,
    "short_holds": _short_holds,
    "even_holds": _even_holds,
    "jumps": _jumps,
    "even_paths": _even_paths,
    "rests": _rests,
    "waits": _waits,
    "even_times": _even_times,
    "reading": _reading,
    "drift": _drift,
    "copied": _copied,
}
# What is told from what everybody else did.
AMONG_OTHERS: Mapping[str, Callable[[ObservedSession, Norms], float | None]] = {
    "choices": _choices,
    "items": _items,
}
