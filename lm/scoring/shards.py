"""Texts in shards: neighbours by their beginnings, scored here or by workers elsewhere.

A shard is the unit of work, however many workers there are: what a model computes together is then
always the same, and so are its answers, to the last bit on processors of one kind.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, Protocol, runtime_checkable

from lm.errors import LmError
from lm.registry import Device, load_scorer
from lm.scorer import Scorer, TokenScores

TEXTS_AT_A_TIME = 16_384


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded for scoring.

    Attributes:
        fast: Whether the answers may be less exact, if they say by how much.
        device: Where a network computes.
        identity: Changes when the model's files do, so that workers that live long load it again.
    """

    fast: bool = False
    device: Device = "auto"
    identity: str = ""


PLAIN = Loading()


@runtime_checkable
class HasFastMode(Protocol):
    """A scorer that can also answer faster and less exactly."""

    def fast(self) -> Scorer:
        """Return the same model, faster."""
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
        return load_scorer(model, loading.device)
    scorer = scorer_of(model, replace(loading, fast=False))
    if isinstance(scorer, HasFastMode):
        return scorer.fast()
    raise LmError(f"{model} has no fast mode: it is exact as it is. Leave `--fast` out.")


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
        f"{model} begins anew for every text: only recurrent models can carry on from one to the "
        "next. Leave `--stream` out."
    )


@contextmanager
def workers(
    processes: int = 1, cluster: str | None = None, timeout_s: float = 10
) -> Iterator[Executor | None]:
    """Yield who scores shards: processes here, a cluster's machines, or None for this process.

    Args:
        processes: How many processes; they share this machine's processors.
        cluster: The address of a running Dask scheduler, whose workers see the models under the
            same paths.
        timeout_s: How long to try to reach it.

    Raises:
        LmError: The cluster cannot be reached, or its library is not installed.
    """
    if cluster is not None:
        with _client(cluster, timeout_s) as executor:
            yield executor
    elif processes > 1:
        share = max(1, (os.cpu_count() or 1) // processes)
        # A copy of a process that runs threads, as PyTorch does, can stop for ever: hence "spawn".
        with ProcessPoolExecutor(processes, get_context("spawn"), _use_threads, (share,)) as pool:
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
def _client(address: str, timeout_s: float) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise LmError(
            "scoring on a cluster needs Dask. Install it with `pip install parallax[cluster]`."
        ) from error
    try:
        client: Any = Client(address, timeout=timeout_s)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise LmError(
            f"there is no Dask scheduler at {address} ({error}). Start one with `dask scheduler`, "
            "workers with `dask worker`, and give the address that it prints."
        ) from error
    with client:
        yield client.get_executor(pure=False)
