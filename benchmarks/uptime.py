"""Inject failures around the server while participants answer; count those that need a person.

Usage: python benchmarks/uptime.py [--faults 1000] [--longest-outage 120] [--clients 4] [--seed 1]
           [--minutes M] [--hangs] [--only FAULT ...] [--instances N]

PostgreSQL, Parallax and nginx run as described in docs/serving.md, each under its unit's rules: a
small supervisor replaces systemd. Failures follow each other, sometimes before the last is
repaired; participants answer all the time, through TLS, like the page's program. Outages last 1 s
to --longest-outage, log-uniformly distributed. --hangs adds processes that freeze, each of which
takes up to a minute to detect. With --minutes no failure starts after that time, and the output
covers the failures so far. --instances runs this number of installations in parallel, with the
seeds from --seed on, and prints their sums.

The exit status is 1 if a person was needed, an acknowledged answer was lost or duplicated, or a
participant who arrived could not finish. The output ends with that of a restore drill. Failures of
full file systems need root; without it they are omitted, and named.
"""

import argparse
import math
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

sys.path.append(str(Path(__file__).parents[1]))
from fault_injection.installation import Installation, install
from fault_injection.outside import FAULTS, NEEDS_DISK, SLOW_FAULTS, Fault
from kill_test import Client, count

PLACES_PER_FAULT = 25
SHORTEST_OUTAGE_S = 1.0
THOUGHT_S = 0.2
# The share of faults that come before the last one is recovery_s.
OVERLAPPING = 0.25
FINISHED_WITHIN_S = 300.0

Seconds = list[float]


def cause(
    at: Installation,
    n_faults: int,
    longest_s: float,
    rng: random.Random,
    kinds: list[Fault],
    minutes: float,
) -> tuple[int, dict[str, Seconds]]:
    """Let faults happen, every kind as often.

    Returns:
        How many there were, and how long each kind's took to mend.

    Args:
        at: The installation.
        n_faults: How many.
        longest_s: The longest outage.
        rng: Where chance comes from.
        kinds: Which.
        minutes: After so many, none begins.
    """
    until, happened = time.monotonic() + 60 * minutes, 0
    possible = [kind for kind in kinds if NEEDS_DISK.get(kind) in {None, *at.disks}]
    recovery_s: dict[str, Seconds] = defaultdict(list)
    waiting: list[Fault] = []
    for _ in tqdm(range(n_faults), unit="fault", disable=None):
        if time.monotonic() > until:
            break
        happened += 1
        waiting = waiting or rng.sample(possible, len(possible))
        kind = waiting.pop()
        outage_s = SHORTEST_OUTAGE_S * (longest_s / SHORTEST_OUTAGE_S) ** rng.random()
        kind(at, rng, outage_s)
        if rng.random() < OVERLAPPING:
            time.sleep(rng.uniform(0, 2))
            recovery_s[kind.__name__] += []
        else:
            recovery_s[kind.__name__].append(at.wait_until_well(kind.__name__))
            time.sleep(rng.uniform(0, 2))
    at.wait_until_well("the last fault")
    return happened, recovery_s


def drill(at: Installation) -> str:
    """Return what a restore drill prints."""
    made = at.folder / "last.backup"
    for words in (("db", "backup", str(made)), ("db", "drill", str(made))):
        done = subprocess.run(
            [sys.executable, "-m", "parallax", *words],
            env=at.environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    return done.stdout


@dataclass(frozen=True)
class Outcome:
    """What happened in one installation.

    Attributes:
        recovery_s: How long each kind of fault took to mend.
        counts: What was counted, by name.
        interventions: What a person was needed for.
        absent: The kinds of faults that were left out.
        restored: What a restore drill printed.
    """

    recovery_s: dict[str, Seconds]
    counts: dict[str, int]
    interventions: list[str]
    absent: list[str]
    restored: str


def run(
    n_faults: int, longest_s: float, n_clients: int, kinds: list[Fault], minutes: float, seed: int
) -> Outcome:
    """Let faults happen to one installation while people take part."""
    rng, stop = random.Random(seed), threading.Event()
    with install(max(200, PLACES_PER_FAULT * n_faults)) as at:
        clients = [
            Client(at.url, at.run, random.Random(f"{seed} {n}"), stop, at.trusted, THOUGHT_S)
            for n in range(n_clients)
        ]
        threads = [
            threading.Thread(target=client.take_part_again_and_again, daemon=True)
            for client in clients
        ]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        happened, recovery_s = cause(at, n_faults, longest_s, rng, kinds, minutes)
        took_s = time.monotonic() - began
        stop.set()
        until = time.monotonic() + FINISHED_WITHIN_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        counts = count(at.instance, clients)
        starts = {
            f"starts of {unit.name}": unit.starts for unit in (at.server, at.database, at.proxy)
        }
        return Outcome(
            recovery_s,
            {"faults": happened, "seconds": round(took_s), **starts, **counts},
            at.interventions,
            [kind.__name__ for kind, disk in NEEDS_DISK.items() if disk not in at.disks],
            drill(at),
        )


def report(outcomes: list[Outcome]) -> tuple[str, bool]:
    """Return the table of one or several installations together, and whether all was well."""
    recovery_s: dict[str, Seconds] = defaultdict(list)
    counts: Counter[str] = Counter(installations=len(outcomes))
    for outcome in outcomes:
        for name, seconds in outcome.recovery_s.items():
            recovery_s[name] += seconds
        counts.update(outcome.counts)
    needed = [each for outcome in outcomes for each in outcome.interventions]
    counts["people stuck"] = counts["participants"] - counts["finished"]
    counts["interventions"] = len(needed)
    lines = [f"{'mended before the next fault':<40}{'times':>6}{'longest s':>11}"]
    lines += [
        f"{name:<40}{len(seconds):>6}{max(seconds):>11.1f}"
        for name, seconds in sorted(recovery_s.items())
        if seconds
    ]
    absent = dict.fromkeys(name for outcome in outcomes for name in outcome.absent)
    lines += [f"{name}: left out, a file system of its own needs root" for name in absent]
    lines += [f"{name:<24}{number:>10,}" for name, number in counts.items()]
    lines += [f"a person was needed {each}" for each in needed]
    well = not (counts["lost"] or counts["duplicated"] or counts["people stuck"] or needed)
    return "\n".join([*lines, *_drills(outcomes)]), well


def _drills(outcomes: list[Outcome]) -> list[str]:
    if len(outcomes) == 1:
        return [outcomes[0].restored.rstrip()]
    agree = sum("tables agree after a trial restore" in each.restored for each in outcomes)
    took_s = [
        float(seconds)
        for each in outcomes
        for seconds in re.findall(r"\(RTO\): ([\d.]+) s", each.restored)
    ]
    return [
        f"trial restores in which all tables agree: {agree} of {len(outcomes)}, "
        f"the longest {max(took_s):.1f} s"
    ]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--longest-outage", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--hangs", action="store_true")
    parser.add_argument("--instances", type=int, default=1, metavar="N")
    names = {kind.__name__: kind for kind in (*FAULTS, *SLOW_FAULTS)}
    parser.add_argument("--only", nargs="+", choices=list(names), metavar="FAULT")
    options = parser.parse_args()
    kinds = [*FAULTS, *(SLOW_FAULTS if options.hangs else ())]
    if options.only:
        kinds = [names[name] for name in options.only]
    limits = (options.faults, options.longest_outage, options.clients, kinds, options.minutes)
    seeds = range(options.seed, options.seed + options.instances)
    if options.instances == 1:
        outcomes = [run(*limits, options.seed)]
    else:
        with ProcessPoolExecutor(options.instances, get_context("spawn")) as pool:
            outcomes = list(pool.map(partial(run, *limits), seeds))
    text, well = report(outcomes)
    print(text)
    sys.exit(not well)


if __name__ == "__main__":
    main()
