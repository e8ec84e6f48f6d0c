"""Measure up to which noise a replayed session is found, and how many people are named wrongly.

Usage: python benchmarks/replayed.py [--times FOLDER]

The people are simulated (``agent_bench/people.py``), in a run where everybody has an order of their
own and in one where all have the same; with ``--times`` also real: FOLDER is that of
``people_published.py``. Every pair of them is compared, and each that is named is a false one.
Then twenty of a hundred people's sessions are replayed beside them, each time multiplied by noise
around 1. The noise is a percentage of the time, as a standard deviation of normal draws.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

import pandas as pd
from agent_bench.people import METHODS, Shown, person
from people_published import TIMED, first, timed

from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.integrity.replays import find_replays

LENGTHS = (8, 24, 40, 76)
NOISE = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)


def simulated(people: int, seed: str, *, same_order: bool) -> list[ObservedSession]:
    """Return sessions of 76 trials, with the items in everybody's own order or in one for all."""
    rng = random.Random(seed)
    items = [
        Shown(f"item {n}", "kind", rng.randint(50, 150), rng.gauss(2, 1), rng.gauss(0, 0.1))
        for n in range(LENGTHS[-1])
    ]
    found = []
    for number in range(people):
        of_one = random.Random(f"{seed} {number}")
        order = items if same_order else of_one.sample(items, len(items))
        found.append(person(order, METHODS[number % len(METHODS)], of_one))
    return found


def published(folder: Path) -> dict[str, list[ObservedSession]]:
    """Return the sessions of published data, by what was asked."""
    return {
        asked: list(timed(pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)))
        for name, asked in TIMED.items()
    }


def replayed(session: ObservedSession, noise: float, rng: random.Random) -> ObservedSession:
    """Return a session with its times again, each with noise."""

    def again(answer: ObservedAnswer) -> ObservedAnswer:
        rt_ms = max(1.0, (answer.rt_ms or 0.0) * (1 + rng.gauss(0, noise)))
        return replace(answer, rt_ms=rt_ms, pointer_moves=None)

    return replace(session, answers=tuple(map(again, session.answers)))


def cut(people: Sequence[ObservedSession], n: int) -> list[ObservedSession]:
    """Return everybody's first trials, of those who have as many, without their paths."""
    short = [one for one in (first(each, n) for each in people) if one is not None]
    return [replayed(one, 0.0, random.Random(0)) for one in short]


def compare(
    asked: str, people: Sequence[ObservedSession], n: int, seed: str, size: int
) -> str | None:
    """Return a row of the table: false pairs, and the share of replays found by their noise."""
    short = cut(people, n)
    if len(short) < size:
        return None
    false = find_replays({str(number): one for number, one in enumerate(short)})
    rng = random.Random(f"{seed} {asked} {n}")
    run = rng.sample(short, size)
    shares, n_replayed = [], size // 5
    for noise in NOISE:
        copies = {
            f"{number} again": replayed(run[number], noise, rng) for number in range(n_replayed)
        }
        found = find_replays({str(number): one for number, one in enumerate(run)} | copies)
        n_found = sum(pair.second == f"{pair.first} again" for pair in found)
        shares.append(f"{n_found / n_replayed:.0%}")
    cells = (asked, n, len(short), f"{comb(len(short), 2):,}", len(false), *shares)
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=Path, help="the folder of published choices")
    parser.add_argument("--people", type=int, default=400, help="simulated people of each kind")
    parser.add_argument("--run", type=int, default=100, help="of whom a fifth is replayed")
    parser.add_argument("--seed", default="2068")
    options = parser.parse_args()
    data: Mapping[str, Sequence[ObservedSession]] = {
        "simulated, own orders": simulated(options.people, options.seed, same_order=False),
        "simulated, one order": simulated(options.people, options.seed, same_order=True),
    } | (published(options.times) if options.times else {})
    levels = " | ".join(f"{noise:.0%}" for noise in NOISE)
    print(f"| People | Trials | Sessions | Pairs | Named wrongly | Found at {levels} |")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(NOISE))
    for asked, people in data.items():
        for n in LENGTHS:
            if line := compare(asked, people, n, options.seed, options.run):
                print(line, flush=True)


if __name__ == "__main__":
    main()
