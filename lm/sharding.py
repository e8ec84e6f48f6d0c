"""Scoring of texts in shards, whose texts share beginnings, in this or in other processes.

A shard is the unit of work for any number of workers: a model always computes the same texts
together, so its scores are equal to the last bit on processors of one kind.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import active_children, get_context, parent_process
from threading import Event, Thread
from time import monotonic
from typing import Any, Literal, Protocol, runtime_checkable

from lm.errors import LmError
from lm.registry import Device, load_scorer
from lm.scorer import FastKernel, Scorer, TokenScores
from lm.surprisal import PLL, choose_pll
from lm.weights import DEFAULT_WEIGHTS, Weights


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
    other_children = set(active_children())
    # A forked copy of a process with threads, as PyTorch has, can deadlock: hence "spawn".
    pool = ProcessPoolExecutor(n, get_context("spawn"), _prepare_worker, (prepare, threads))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - other_children:
            worker.terminate()
        raise
    pool.shutdown()


def _prepare_worker(prepare: Callable[[int], None], threads: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(threads)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


TEXTS_AT_A_TIME = 16_384


@dataclass(frozen=True, slots=True)
class Loading:
    """The options of loading a model for scoring.

    Attributes:
        fast: Whether scores may be less exact, with error bounds.
        device: The device of a network.
        packed: Whether texts share the computation of their beginnings, if the model allows it.
        identity: A value that changes when the model's files do, so that long-lived workers reload
            it.
        pll: The tokens hidden for a masked model's scores; empty: the model's default.
        weights: The form of a Hugging Face model's weights.
    """

    fast: bool = False
    packed: bool = True
    device: Device = "auto"
    identity: str = ""
    pll: PLL | Literal[""] = ""
    weights: Weights = DEFAULT_WEIGHTS


PLAIN = Loading()


@runtime_checkable
class HasFastMode(Protocol):
    """A scorer with a faster, less exact mode."""

    def fast(self) -> Scorer:
        """Return the same model in its faster, less exact mode."""
        ...

    def fast_kernel(self) -> FastKernel:
        """Measure and return the effect of the fast mode on this machine."""
        ...


def make_shards(texts: Sequence[str], size: int = TEXTS_AT_A_TIME) -> list[list[int]]:
    """Return the indices of the texts in shards whose texts share their beginnings.

    Args:
        texts: Any texts.
        size: The number of texts in a shard.
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    return [order[start : start + size] for start in range(0, len(order), size)]


def load_for_scoring(model: str, loading: Loading) -> Scorer:
    """Return a model, loaded anew with these options, its fast mode apart.

    Raises:
        LmError: The model does not exist.
    """
    scorer = load_scorer(model, loading.device, how=loading.weights)
    if not loading.packed and hasattr(scorer, "packing"):
        scorer.packing = False
    if loading.pll:
        choose_pll(scorer, loading.pll)
    return scorer


@lru_cache(maxsize=2)
def scorer_of(model: str, loading: Loading = PLAIN) -> Scorer:
    """Return a model; each process loads it once.

    Args:
        model: As ``load_scorer`` takes it.
        loading: The loading options.

    Raises:
        LmError: The model does not exist, or has no fast mode.
    """
    if not loading.fast:
        return load_for_scoring(model, loading)
    return _load_fast_scorer(model, loading).fast()


def _load_fast_scorer(model: str, loading: Loading) -> HasFastMode:
    scorer = scorer_of(model, replace(loading, fast=False))
    if isinstance(scorer, HasFastMode):
        return scorer
    raise LmError(f"{model} has no fast mode: its scores are always exact. Leave `--fast` out.")


def fast_kernel_of(model: str, loading: Loading = PLAIN) -> FastKernel:
    """Return the effect of a model's fast mode on the machine that runs this function.

    Raises:
        LmError: The model does not exist, or has no fast mode.
    """
    return _load_fast_scorer(model, loading).fast_kernel()


def score_texts(model: str, texts: Sequence[str], loading: Loading = PLAIN) -> list[TokenScores]:
    """Return the scores of whole texts, in a worker; for the arguments, see ``scorer_of``.

    Raises:
        LmError: A text cannot be scored; the message names the first such text.
    """
    scorer = scorer_of(model, loading)
    try:
        return scorer.score([("", text) for text in texts])
    except LmError as error:
        raise LmError(
            f'the text "{_find_unscorable_text(scorer, texts)}" cannot be scored: {error}'
        ) from error


def _find_unscorable_text(scorer: Scorer, texts: Sequence[str]) -> str:
    """Return a text that cannot be scored, found by bisection."""
    while len(texts) > 1:
        half = texts[: len(texts) // 2]
        try:
            scorer.score([("", text) for text in half])
            texts = texts[len(texts) // 2 :]
        except LmError:
            texts = half
    return texts[0]


@runtime_checkable
class ReadsStreams(Protocol):
    """A scorer that can carry its state from text to text."""

    def score_stream(
        self,
        groups: Sequence[Sequence[str]],
        before: Any = None,  # noqa: ANN401
    ) -> tuple[list[list[TokenScores]], Any]:
        """Return the scores of groups of versions, and the state for the next call.

        Args:
            groups: Each contains versions of one text; all are read after the first versions of the
                earlier groups.
            before: The state from an earlier call; None at the start.
        """
        ...


def stream_reader_of(model: str, loading: Loading) -> ReadsStreams:
    """Return a model that reads texts as one stream; see ``scorer_of``.

    Raises:
        LmError: The model does not exist, or resets its state for every text.
    """
    scorer = scorer_of(model, loading)
    if isinstance(scorer, ReadsStreams):
        return scorer
    raise LmError(
        f"{model} cannot read texts as a stream: only recurrent models carry their state from "
        "one text to the next. Leave `--stream` out."
    )


@contextmanager
def workers(
    processes: int = 1, cluster: str | None = None, timeout_s: float = 10, alone_s: float = 120
) -> Iterator[Executor | None]:
    """Yield an executor for scoring shards: local processes, a cluster, or None for this process.

    Args:
        processes: The number of processes; they share this machine's CPUs.
        cluster: The address of a running Dask scheduler; its workers must have the models under the
            same paths.
        timeout_s: The longest wait for the cluster.
        alone_s: The time without any worker after which scoring is given up.

    Raises:
        LmError: The cluster cannot be reached, has no workers or loses them all, or its library is
            not installed.
    """
    if cluster is not None:
        with _client(cluster, timeout_s, alone_s) as executor:
            yield executor
    elif processes > 1:
        share = max(1, (os.cpu_count() or 1) // processes)
        with worker_pool(processes, _use_threads, share) as pool:
            yield pool
    else:
        yield None


def _use_threads(n: int) -> None:
    """Limit each process to its share of the CPUs."""
    os.environ["OMP_NUM_THREADS"] = str(n)
    # Counting models do not need PyTorch, which may not be installed.
    with suppress(ImportError):
        import torch

        torch.set_num_threads(n)


@contextmanager
def _client(address: str, timeout_s: float, alone_s: float) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise LmError(
            "scoring on a cluster needs Dask. Install it with "
            "`pip install 'parallax-experiments[cluster]'`."
        ) from error
    try:
        client: Any = Client(address, timeout=timeout_s)
    except (OSError, ValueError, TimeoutError) as error:
        raise LmError(
            f"there is no Dask scheduler at {address} ({error}). Start one with `dask scheduler`, "
            "workers with `dask worker`, and give the address that it prints."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=timeout_s)
        except TimeoutError as error:
            raise LmError(
                f"the Dask scheduler at {address} has no workers, so it would score nothing. "
                f"Start some with `dask worker {address}`."
            ) from error
        with _watch_cluster(client, address, alone_s):
            yield client.get_executor(pure=False)


@contextmanager
def _watch_cluster(client: Any, address: str, alone_s: float) -> Iterator[None]:  # noqa: ANN401
    """Stop waiting for a cluster without workers: check regularly whether it has any.

    Raises:
        LmError: The scheduler has stopped, or has had no workers for ``alone_s`` seconds.
    """
    from distributed import Future

    ended, lost = Event(), Event()

    def watch() -> None:
        last_seen = monotonic()
        while not ended.wait(min(1.0, alone_s / 4)):
            if client.scheduler_info()["workers"]:
                last_seen = monotonic()
            elif monotonic() - last_seen >= alone_s:
                lost.set()
                client.cancel([Future(key, client) for key in list(client.futures)], force=True)

    watcher = Thread(target=watch, name="cluster", daemon=True)
    watcher.start()
    try:
        yield
    except CancelledError as error:
        cause = f"has had no workers for {alone_s:.0f} s" if lost.is_set() else "has stopped"
        raise LmError(
            f"the Dask scheduler at {address} {cause}, so the rest was not scored and nothing was "
            f"written. Start workers with `dask worker {address}`, and score again."
        ) from error
    finally:
        ended.set()
        watcher.join()
