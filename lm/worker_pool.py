"""Pools of worker processes that end with their parent process."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process


@contextmanager
def worker_pool(n: int, prepare: Callable[[int], None], threads: int) -> Iterator[Executor]:
    """Yield a pool whose processes end with the block, on an error in it, and with this process.

    Otherwise, a worker whose parent is killed continues its task, for days if it is a training, and
    then waits for the next task for ever.

    Args:
        n: The number of processes.
        prepare: Called first in each process, with ``threads``.
        threads: The number of computing threads of each process.
    """
    others = set(active_children())
    # A forked copy of a process with threads, as PyTorch has, can deadlock: hence "spawn".
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
