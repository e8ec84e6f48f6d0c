"""How benchmarks count seconds, and how they print a rate."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


class Clock:
    """What seconds are counted by."""

    seconds: Callable[[], float] = time.perf_counter


def best(run: Callable[[], object], times: int = 3) -> float:
    """Return the seconds of the quickest of some runs."""
    seconds = []
    for _ in range(times):
        started = Clock.seconds()
        run()
        seconds.append(Clock.seconds() - started)
    return min(seconds)


def timed(run: Callable[[], Found]) -> tuple[float, Found]:
    started = Clock.seconds()
    found = run()
    return Clock.seconds() - started, found


def shown(way: str, sentences_per_s: float, note: str = "") -> None:
    print(f"  {way:<58}{sentences_per_s:>9,.1f} sentences/s  {note}", flush=True)
