"""Work done in a copy of this process while this one goes on with something else."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar, cast

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Result = TypeVar("Result")

_pending: list[Callable[[], object]] = []


@contextmanager
def in_second_process(
    work: Callable[[], Result], *, room: bool = True
) -> Iterator[Callable[[], Result]]:
    """Start work on what this process holds; what is given waits for its result or its error.

    The copy sees all memory as it is, and only the result is sent back. Where processes cannot be
    copied safely, or there is no room, the work is done in this one, when its result is asked for.

    Args:
        work: Done once; its result and its errors can be pickled.
        room: Whether there is memory for both at a time.
    """
    # Two processes whose libraries each use every core would wait for one another.
    with threadpool_limits(1):
        if not room or sys.platform != "linux":
            yield work
            return
        # The initializer's arguments reach a forked process without being pickled.
        with ProcessPoolExecutor(1, get_context("fork"), _pending.append, (work,)) as pool:
            yield cast(Callable[[], Result], pool.submit(_run_pending).result)


def _run_pending() -> object:
    return _pending.pop()()
