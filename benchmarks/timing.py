"""Shared functions to measure time and to print rates, peaks and profiles."""

import time
from collections.abc import Callable
from typing import TypeVar

import torch
from torch.profiler import ProfilerActivity, profile

from lm.scoring.kernels import ROWS_AT_A_TIME, WORDS_AT_A_TIME
from lm.scoring.packed_linear import PackedLinear

Found = TypeVar("Found")
PACKED = "float32, oneDNN packed"


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


def product_peaks(inputs: int, times: int = 20) -> dict[str, float]:
    """Print and return how fast products of the softmax's shape are, in GFLOP/s.

    Args:
        inputs: How many hidden values a row has.
        times: How often each is computed; the quickest counts.
    """
    rows, weight = torch.randn(ROWS_AT_A_TIME, inputs), torch.randn(WORDS_AT_A_TIME, inputs)
    work = 2 * rows.numel() * len(weight) / 1e9
    product = PackedLinear(weight, torch.zeros(len(weight)), ROWS_AT_A_TIME)
    switch = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    found = {"float32, PyTorch": work / best(lambda: rows @ weight.T, times)}
    found[PACKED] = work / best(lambda: product(rows), times)
    before, switch.fp32_precision = switch.fp32_precision, "bf16"
    found["bfloat16, oneDNN packed"] = work / best(lambda: product(rows), times)
    switch.fp32_precision = before
    print("  " + "; ".join(f"{name} {peak:,.0f} GFLOP/s" for name, peak in found.items()))
    return found
