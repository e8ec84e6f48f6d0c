"""Texts in shards: neighbours by their beginnings, scored here or by workers elsewhere.

A shard is the unit of work, however many workers there are: what a model computes together is then
always the same, and so are its answers, to the last bit on processors of one kind.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Event, Thread
from time import monotonic
from typing import Any, Literal, Protocol, runtime_checkable

from lm.errors import LmError
from lm.registry import Device, load_scorer
from lm.scorer import FastKernel, Scorer, TokenScores
from lm.surprisal import PLL, choose_pll
from lm.worker_pool import worker_pool

TEXTS_AT_A_TIME = 16_384


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded for scoring.

    Attributes:
        fast: Whether the answers may be less exact, if they say by how much.
        device: Where a network computes.
        packed: Whether texts share the computation of their beginnings where the model allows it.
        identity: Changes when the model's files do, so that workers that live long load it again.
        pll: What is hidden for a masked model's scores; empty: what is usual for it.
    """

    fast: bool = False
    packed: bool = True
    device: Device = "auto"
    identity: str = ""
    pll: PLL | Literal[""] = ""


PLAIN = Loading()


@runtime_checkable
class HasFastMode(Protocol):
    """A scorer that can also answer faster and less exactly."""

    def fast(self) -> Scorer:
        """Return the same model, faster."""
        ...

    def fast_kernel(self) -> FastKernel:
        """Return what the fast mode brings on this machine, measured now."""
        ...


def shards(texts: Sequence[str], size: int = TEXTS_AT_A_TIME) -> list[list[int]]:
    """Return the places of the texts in shards whose texts share their beginnings.

    Args:
        texts: Any texts.
        size: How many make a shard.
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    return [order[start : start + size] for start in range(0, len(order), size)]


@lru_cache(maxsize=2)
def scorer_of(model: str, loading: Loading = PLAIN) -> Scorer:
    """Return a model, loaded once in each process.

    Args:
        model: As ``load_scorer`` takes it.
        loading: How.

    Raises:
        LmError: There is no such model, or it has no fast mode.
    """
    if not loading.fast:
        scorer = load_scorer(model, loading.device)
        if not loading.packed and hasattr(scorer, "packing"):
            scorer.packing = False
        if loading.pll:
            choose_pll(scorer, loading.pll)
        return scorer
    return _with_fast_mode(model, loading).fast()


def _with_fast_mode(model: str, loading: Loading) -> HasFastMode:
    scorer = scorer_of(model, replace(loading, fast=False))
    if isinstance(scorer, HasFastMode):
        return scorer
    raise LmError(f"{model} has no fast mode: its scores are always exact. Leave `--fast` out.")


def fast_kernel_of(model: str, loading: Loading = PLAIN) -> FastKernel:
    """Return what a model's fast mode brings on the machine where this runs.

    Raises:
        LmError: There is no such model, or it has no fast mode.
    """
    return _with_fast_mode(model, loading).fast_kernel()


def score_texts(model: str, texts: Sequence[str], loading: Loading = PLAIN) -> list[TokenScores]:
    """Return the scores of whole texts; what a worker does. The arguments are ``scorer_of``'s.

    Raises:
        LmError: A text cannot be scored; the first such text is named.
    """
    scorer = scorer_of(model, loading)
    try:
        return scorer.score([("", text) for text in texts])
    except LmError as error:
        raise LmError(f'the text "{_culprit(scorer, texts)}" cannot be scored: {error}') from error


def _culprit(scorer: Scorer, texts: Sequence[str]) -> str:
    """Return a text that cannot be scored, found by halving."""
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
    """A scorer that can carry what it has read from text to text."""

    def score_stream(
        self,
        groups: Sequence[Sequence[str]],
        before: Any = None,  # noqa: ANN401
    ) -> tuple[list[list[TokenScores]], Any]:
        """Return the scores of groups of versions, and what to give to the next call.

        Args:
            groups: Versions of one text each; all are read after the first versions of the groups
                before.
            before: What an earlier call returned; None: nothing was read.
        """
        ...


def stream_reader_of(model: str, loading: Loading) -> ReadsStreams:
    """Return a model that reads texts as one stream; see ``scorer_of``.

    Raises:
        LmError: There is no such model, or it begins anew for every text.
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
    """Yield who scores shards: processes here, a cluster's machines, or None for this process.

    Args:
        processes: How many processes; they share this machine's processors.
        cluster: The address of a running Dask scheduler, whose workers see the models under the
            same paths.
        timeout_s: How long to try to reach it.
        alone_s: After how long without any worker to give up what is still to be scored.

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
    """Let each process compute on its share of the processors."""
    os.environ["OMP_NUM_THREADS"] = str(n)
    # Counting models compute without PyTorch, and are scored where it is not installed.
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
        with _watched(client, address, alone_s):
            yield client.get_executor(pure=False)


@contextmanager
def _watched(client: Any, address: str, alone_s: float) -> Iterator[None]:  # noqa: ANN401
    """End the wait for what a cluster never finishes: it is asked whether anybody is at work.

    Raises:
        LmError: The scheduler is gone, or has had no workers for so many seconds.
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
        what = f"has had no workers for {alone_s:.0f} s" if lost.is_set() else "has stopped"
        raise LmError(
            f"the Dask scheduler at {address} {what}, so the rest was not scored and nothing was "
            f"written. Start workers with `dask worker {address}`, and score again."
        ) from error
    finally:
        ended.set()
        watcher.join()
