"""Processes that work for this one, and end when it does."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process


@contextmanager
def worker_pool(n: int, prepare: Callable[[int], None], threads: int) -> Iterator[Executor]:
    """Yield processes that end with the block, with an error in it, and with this process.

    Without that, a worker goes on with its task when its parent is killed, for days if the task is
    a training, and then waits for the next one for ever.

    Args:
        n: How many.
        prepare: Called in each of them first, with ``threads``.
        threads: How many threads each may compute with.
    """
    others = set(active_children())
    # A copy of a process that runs threads, as PyTorch does, can stop for ever: hence "spawn".
    pool = ProcessPoolExecutor(n, get_context("spawn"), _begin, (prepare, threads))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    pool.shutdown()


def _begin(prepare: Callable[[int], None], threads: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(threads)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
