"""Work done in a copy of this process while this one goes on with something else."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

Result = TypeVar("Result")

_kept: list[Callable[[], Any]] = []


@contextmanager
def in_second_process(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Start work on what this process holds; what is given waits for its result or its error.

    The copy sees all memory as it is and copies nothing but the result. Where processes cannot be
    copied safely, the work is done in this one, when its result is asked for.

    Args:
        work: Done once; its result must be something that can be pickled.
    """
    if sys.platform != "linux":
        yield work
        return
    # With a forked process the arguments of the initializer are not pickled.
    with ProcessPoolExecutor(1, get_context("fork"), _kept.append, (work,)) as pool:
        yield pool.submit(_do_kept).result


def _do_kept() -> Any:
    return _kept.pop()()
