"""Measure how long people wait for their first trial, and the processor time of an arrival.

Usage: python benchmarks/arrivals.py [--crowd 1000] [--rate 300] [--minutes 1] [--study NAME]

A crowd opens a platform's link at the same moment. Then people open it at random times, so many a
minute, whether or not earlier ones have been served. An arrival consists of the consent page, the
consent, and the page of the trials with its programs and styles. Parallax on SQLite and PostgreSQL
takes turns with a Flask endpoint that commits one row (``bare``), to which each person sends one
request. The exit status is 1 if somebody did not arrive, or if a list has two participants more
than another.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from statistics import quantiles
from time import perf_counter
from typing import Protocol

from load import fresh_database
from load_platforms.answer import answer, new_uuid
from load_platforms.bare import Bare
from load_platforms.browser import Browser
from load_platforms.clients import Plan, send
from load_platforms.parallax import Parallax
from load_platforms.platform import Participant, Platform, spread
from sqlalchemy import select

from webapp.database.engine import make_sessions, open_database, reading
from webapp.database.models import Participant as Row
from webapp.recruiters.settings import load_settings

HEAD = (
    "| Arrivals | Server | Seconds to the first trial: p50, p99, last | Slowest request s"
    " | Server's ms per arrival |\n|---|---|---|---:|---:|"
)
_WORKERS = 2


class Served(Platform, Protocol):
    """A platform at which people arrive.

    Attributes:
        took_s: How long each arrival took.
    """

    took_s: list[float]

    def imbalance(self) -> int:
        """Return by how many participants the fullest list exceeds the emptiest."""


class Arriving(Parallax):
    """Parallax, for people whom a platform identifies, up to their first trial."""

    def __init__(self, study: str, database_url: str) -> None:
        super().__init__(study, database_url, _WORKERS)
        self.took_s: list[float] = []

    async def take_part(self, participant: Participant) -> None:
        """Go from the link to the first trial."""
        begun = perf_counter()
        await self.arrive(participant, f"?PROLIFIC_PID={participant.number:024x}")
        self.took_s.append(perf_counter() - begun)

    def imbalance(self) -> int:
        """Return by how many participants the fullest list exceeds the emptiest."""
        engine = open_database(load_settings(self._instance).database_url)
        counts = Counter(dict.fromkeys(range(self._lists), 0))
        with reading(make_sessions(engine)) as session:
            counts.update(session.scalars(select(Row.list)))
        engine.dispose()
        return spread(list(counts.values()))


class OneRequest(Bare):
    """The endpoint that commits one row, to which each person sends one request."""

    def __init__(self) -> None:
        super().__init__(_WORKERS)
        self.took_s: list[float] = []

    async def take_part(self, participant: Participant) -> None:
        """Send one answer."""
        body = answer(1, new_uuid(participant.rng), "first")
        await participant.browser.save(f"/w{participant.number}/answers", body, "application/json")
        self.took_s.append(participant.browser.last_s)

    def imbalance(self) -> int:
        """Return 0, as there are no lists."""
        return 0


def measure(crowd: str, server: str, platform: Served, plan: Plan, pids: tuple[int, ...]) -> bool:
    """Print a crowd's row, and return whether everybody arrived and the lists are even."""
    with tempfile.TemporaryDirectory(prefix="parallax-arrivals-") as folder:
        site = platform.start(Path(folder), plan.participants + 1)
        try:
            # What a process does once is not counted.
            browser = Browser(site.host, site.port)
            first = Participant(plan.participants, browser, Random(0), lambda: asyncio.sleep(0))
            asyncio.run(platform.take_part(first))
            platform.took_s.clear()
            met = send(plan, platform, site, (site.pid, *pids))
        finally:
            platform.stop()
        sound = not met.problems and platform.imbalance() <= 1
    cuts = quantiles(platform.took_s, n=100, method="inclusive")
    waits = f"{cuts[49]:.2f}, {cuts[98]:.2f}, {max(platform.took_s):.2f}"
    slowest_s = max(person.browser.slowest_s for person in met.people)
    each_ms = 1000 * met.server_cpu_s / plan.participants
    print(f"| {crowd} | {server} | {waits} | {slowest_s:.2f} | {each_ms:.2f} |", flush=True)
    print(*met.problems[:3], sep="\n", end="", file=sys.stderr)
    return sound


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--crowd", type=int, default=1000, help="people who arrive at once")
    parser.add_argument("--rate", type=int, default=300, help="people who arrive in a minute")
    parser.add_argument("--minutes", type=float, default=1.0, help="for which they keep arriving")
    parser.add_argument("--study", default="marvin_linzen_2018", help="a built-in one")
    options = parser.parse_args()
    n_steady = round(options.rate * options.minutes)
    plans = {
        f"{options.crowd:,} at once": Plan(options.crowd, "once", 0.0, 0.0, 1),
        f"{options.rate} a minute": Plan(n_steady, "poisson", 60 * options.minutes, 0.0, 1),
    }
    print(HEAD)
    sound = True
    for crowd, plan in plans.items():
        for kind in ("sqlite", "postgres"):
            with fresh_database(kind) as new, new() as database:
                own = Arriving(options.study, database.url)
                sound &= measure(crowd, kind, own, plan, database.pids)
        sound &= measure(crowd, "bare", OneRequest(), plan, ())
    sys.exit(not sound)


if __name__ == "__main__":
    main()
