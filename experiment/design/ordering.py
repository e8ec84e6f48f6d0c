"""The order of a session's trials: random, neighbours apart, catch trials spread."""

import random
from collections import Counter
from collections.abc import Collection, Sequence

from experiment.errors import DesignError

_TRIES = 1000


def order(
    keys: Sequence[str],
    rng: random.Random,
    *,
    apart: bool = True,
    spread: Collection[str] = frozenset(),
) -> list[int]:
    """Return the trials' indices in a random order that keeps the constraints.

    Args:
        keys: What each trial is told apart by, e.g. its construction.
        rng: The source of randomness.
        apart: Whether neighbours must differ in their key.
        spread: Keys whose n trials are spread over the session: one in each of n equally long
            stretches.

    Raises:
        DesignError: No order keeps the constraints; the message names the commonest key.
    """
    counts = Counter(keys)
    if apart and max(counts.values(), default=0) > (len(keys) + 1) // 2:
        raise _too_many(counts, "its neighbours always share it")
    for _ in range(_TRIES):
        session = _drawn(counts, rng, apart, spread)
        if session is not None:
            return _indices(session, keys, rng)
    raise _too_many(counts, f"{_TRIES} random tries found no order")


def _drawn(
    counts: Counter[str], rng: random.Random, apart: bool, spread: Collection[str]
) -> list[str] | None:
    session: list[str | None] = [None] * counts.total()
    for key in (key for key in counts if key in spread):
        if not _spread(session, key, counts[key], rng, apart):
            return None
    rest = Counter({key: n for key, n in counts.items() if key not in spread})
    if apart:
        filling = _kept_apart(_gaps(session), rest, rng)
    else:
        filling = rng.sample(list(rest.elements()), rest.total())
    if filling is None:
        return None
    fill = iter(filling)
    return [next(fill) if key is None else key for key in session]


def _spread(session: list[str | None], key: str, n: int, rng: random.Random, apart: bool) -> bool:
    previous = -2
    for stretch in range(n):
        start, end = stretch * len(session) // n, (stretch + 1) * len(session) // n
        free = [
            position
            for position in range(start, end)
            if session[position] is None and not (apart and position == previous + 1)
        ]
        if not free:
            return False
        previous = rng.choice(free)
        session[previous] = key
    return True


def _gaps(session: Sequence[str | None]) -> list[int]:
    """Return the lengths of the stretches that are still empty, in their order."""
    gaps = [0]
    for key in session:
        if key is None:
            gaps[-1] += 1
        else:
            gaps.append(0)
    return gaps


def _kept_apart(gaps: Sequence[int], counts: Counter[str], rng: random.Random) -> list[str] | None:
    """Draw keys for the gaps so that none meets itself within a gap; None at a dead end.

    A gap of n places holds one key at most ceil(n / 2) times. A key that has as many trials
    left as that allows must come now, and a key may come only if the rest still fits; so a
    single gap never runs into a dead end.
    """
    left, drawn = Counter(counts), list[str]()
    room_later = sum((gap + 1) // 2 for gap in gaps)
    for gap in gaps:
        room_later -= (gap + 1) // 2
        previous: str | None = None
        for places_after in range(gap - 1, -1, -1):
            previous = _next(left, previous, room_later, places_after, rng)
            if previous is None:
                return None
            left[previous] -= 1
            drawn.append(previous)
    return drawn


def _next(
    left: Counter[str],
    previous: str | None,
    room_later: int,
    places_after: int,
    rng: random.Random,
) -> str | None:
    room_for_others = room_later + (places_after + 1) // 2
    room_for_itself = room_later + places_after // 2
    pressing = [key for key, n in left.items() if n > room_for_others]
    allowed = [
        key for key in pressing or left if 0 < left[key] <= room_for_itself + 1 and key != previous
    ]
    if len(pressing) > 1 or not allowed:
        return None
    return rng.choices(allowed, [left[key] for key in allowed])[0]


def _indices(session: Sequence[str], keys: Sequence[str], rng: random.Random) -> list[int]:
    waiting: dict[str, list[int]] = {}
    for index in rng.sample(range(len(keys)), len(keys)):
        waiting.setdefault(keys[index], []).append(index)
    return [waiting[key].pop() for key in session]


def _too_many(counts: Counter[str], reason: str) -> DesignError:
    ((key, n),) = counts.most_common(1)
    return DesignError(
        f'"{key}" has too many trials, {n} of a session\'s {counts.total()}: {reason}',
        where="the order of the trials",
        expected="at most half of the trials alike, and room between the catch trials",
        remedy='Add trials of other kinds, or set design.separate to "template" or ""',
    )
