"""How long participants' answers wait while every page of the researcher's room is opened.

``benchmarks/room.py`` calls it on the run that it filled: the server is started as
``parallax serve`` starts it, people arrive and answer at a steady pace, and in every second block
of time somebody opens one page of the room after the other, from a process of their own. So a
machine that is busy with other things is busy in both kinds of blocks.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

import httpx
from scale import Visitor

from webapp.researcher.access import COOKIE
from webapp.server import process as server

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

WORKERS = 2
PEOPLE = 12
# Between one person's answers; all of them together send 24 a second.
THINKING_S = 0.5
# Answers that are not counted: a server's first ones take longer.
WARM = 5 * PEOPLE
# Between two pages that are opened.
BETWEEN_PAGES_S = 0.5
HALVES = 20
# Of a person's 76 trials; then somebody else comes.
TRIALS_EACH = 70


@dataclass
class Seen:
    """What was measured: seconds of each answer, alone (False) and beside pages (True)."""

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Study:
    """What a visitor needs to know of a run that is served."""

    run: str
    questionnaire: bytes = b""  # nobody comes to it


def answers_beside_pages(
    folder: Path, run: str, pages: Sequence[str], token: str, block_s: float
) -> Iterator[str]:
    """Yield the lines that say how long answers took.

    Args:
        folder: The instance, with nobody else at its database.
        run: The reference of a run with free places.
        pages: Addresses below the server's.
        token: Of somebody who is signed in to the room.
        block_s: How long each block lasts; there are HALVES of each kind.
    """
    study, seen, apart = Study(run), Seen(), get_context("spawn")
    with _served(folder) as url:
        opened, ended, counted = apart.Event(), threading.Event(), apart.Value("i", 0)
        given = (url, pages, token, opened, counted)
        opener = apart.Process(target=_open, args=given, daemon=True)
        opener.start()
        with ThreadPoolExecutor(PEOPLE) as threads:
            work = [
                threads.submit(_answer, url, study, seen, opened, ended, n) for n in range(PEOPLE)
            ]
            while len(seen.alone) < WARM:
                if over := next((each for each in work if each.done()), None):
                    over.result()  # says why somebody could not go on
                time.sleep(1)
            seen.alone.clear()
            for _ in range(HALVES):
                opened.clear()
                time.sleep(block_s)
                opened.set()
                time.sleep(block_s)
                assert opener.is_alive(), "who opens pages was refused one"
            ended.set()
            for each in work:
                each.result()
        opener.terminate()
    yield f"{'answers':<24}{'n':>7}{'median ms':>11}{'p95 ms':>8}{'p99 ms':>8}"
    figures = [_figures(name, each) for name, each in
               (("alone", seen.alone), ("while pages are opened", seen.beside))]  # fmt: skip
    yield from (line for line, _ in figures)
    ratio = [of[1] / of[0] for of in zip(*(numbers for _, numbers in figures), strict=True)]
    yield f"{'ratio':<31}{ratio[0]:>11.2f}{ratio[1]:>8.2f}{ratio[2]:>8.2f}"
    yield f"{counted.value} pages were opened meanwhile, of {len(pages)} kinds"


def _figures(name: str, seconds: list[float]) -> tuple[str, tuple[float, float, float]]:
    cuts = quantiles([1000 * each for each in seconds], n=100)
    numbers = cuts[49], cuts[94], cuts[98]
    shown = f"{numbers[0]:>11.1f}{numbers[1]:>8.1f}{numbers[2]:>8.1f}"
    return f"{name:<24}{len(seconds):>7}{shown}", numbers


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    started = server.start(folder, workers=WORKERS)
    try:
        yield started.url
    finally:
        server.stop(folder)


def _answer(
    url: str, study: Study, seen: Seen, opened: Event, ended: threading.Event, number: int
) -> None:
    """Take part again and again, and note how long each answer took."""
    time.sleep(THINKING_S * number / PEOPLE)  # they do not answer in step
    while not ended.is_set():
        with httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
            visitor = Visitor(http, study)
            visitor.look()
            visitor.arrive()
            for _ in range(TRIALS_EACH):
                if ended.wait(THINKING_S):
                    return
                beside, begun = opened.is_set(), time.perf_counter()
                visitor.answer()
                took = time.perf_counter() - begun
                if beside == opened.is_set():
                    (seen.beside if beside else seen.alone).append(took)


def _open(
    url: str, pages: Sequence[str], token: str, opened: Event, counted: "Synchronized[int]"
) -> None:
    """Open one page after the other, while that is wanted; a process of its own."""
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        for address in cycle(pages):
            time.sleep(BETWEEN_PAGES_S)
            opened.wait()
            reply = http.get(address, headers={"Cookie": f"{COOKIE}={token}"})
            assert reply.status_code == 200, (address, reply.status_code)
            counted.value += 1
