"""How benchmarks count seconds, and how they print a rate and where the time goes."""

import time
from collections.abc import Callable
from typing import TypeVar

from torch.profiler import ProfilerActivity, profile

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


def show_profile(run: Callable[[], object], lines: int = 8) -> None:
    """Print which share of a run's time on the wall each of PyTorch's operators takes itself."""
    with profile(activities=[ProfilerActivity.CPU]) as watched:
        started = time.perf_counter()
        run()
        seconds = time.perf_counter() - started
    operators = sorted(watched.key_averages(), key=lambda one: -one.self_cpu_time_total)
    shares = {one.key: one.self_cpu_time_total / 1e6 / seconds for one in operators}
    for name, share in list(shares.items())[:lines]:
        print(f"    {share:>6.1%}  {name}")
    print(f"    {sum(list(shares.values())[lines:]):>6.1%}  other operators")
    print(
        f"    {1 - sum(shares.values()):>6.1%}  outside: tries, masks, numbers, texts", flush=True
    )
