"""Measure how often the score and its signals flag humans, by answering style and length.

Usage: python benchmarks/people_flagged.py [--people 400] [--write]

The humans and their devices are simulated (``agent_bench/people.py``, ``agent_bench/ways.py``).
``--write`` saves the rates in ``experiment/integrity/rates.tsv``, from which the product decides
which signals count. All candidates (``agent_bench/candidates.py``) are measured except those on how
people read and choose, which would only reproduce the assumptions of the simulation.
"""

import argparse
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_bench.candidates import DROPPED, SPEAKS_NATS, nats_of
from agent_bench.people import Shown
from agent_bench.ways import WAYS, session
from scipy.stats import beta

from experiment.exclusion.integrity import flags
from experiment.integrity import rates
from experiment.integrity.certificate import DIRECT, SIGNALS, certify
from experiment.integrity.observed import ObservedSession

LENGTHS = (8, 15, 20, 24, 40, 76, 150)
FILE = Path(rates.__file__).with_name("rates.tsv")
# The score speaks against somebody above this bound.
FLAGGED = 0.5
# These ask how people read; the others ask what a device does.
NOT_MEASURED = ("reading", "drift")
MEASURED = tuple(name for name in (*SIGNALS, *DROPPED) if name not in (*DIRECT, *NOT_MEASURED))
FLAGS = ("timing_mismatch", "impossible_time")


def exact(n_flagged: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share (Clopper & Pearson 1934)."""
    low = 0.0 if not n_flagged else float(beta.ppf(0.025, n_flagged, n - n_flagged + 1))
    high = 1.0 if n_flagged == n else float(beta.ppf(0.975, n_flagged + 1, n - n_flagged))
    return low, high


def observed(way: str, n_trials: int, people: int, seed: str) -> Iterator[ObservedSession]:
    """Yield the sessions of so many simulated people."""
    for n in range(people):
        rng = random.Random(f"{seed} {way} {n_trials} {n}")
        yield session(way, _trials(n_trials, rng), rng)


def speaking(one: ObservedSession) -> list[str]:
    """Return the candidates, the flags but the score's, and whether the score, speak of somebody.

    The score has the weights of the tables as they are: where a run changes them, run it again.
    """
    nats, certificate = nats_of(one), certify(one)
    raised = flags(certificate)
    found = [name for name in MEASURED if nats.get(name, 0.0) >= SPEAKS_NATS]
    found += [name for name in FLAGS if name in raised]
    return found + [rates.SCORE_NAME] * ((certificate.agent_likelihood or 0.0) > FLAGGED)


def measured(people: int, seed: str) -> dict[tuple[str, int], dict[str, int]]:
    """Return what speaks against how many, by way of answering and length."""
    found = {}
    for way in WAYS:
        for n in LENGTHS:
            of = found[way, n] = dict.fromkeys((*MEASURED, *FLAGS, rates.SCORE_NAME), 0)
            for one in observed(way, n, people, seed):
                for name in speaking(one):
                    of[name] += 1
    return found


def _trials(n: int, rng: random.Random) -> list[Shown]:
    return [
        Shown(f"item {i}", "kind", rng.randint(50, 150), rng.gauss(2, 1), rng.gauss(0, 0.1))
        for i in range(n)
    ]


def rows(found: Mapping[tuple[str, int], Mapping[str, int]], n: int) -> Iterator[str]:
    """Yield the lines of the file of rates."""
    yield "# made by: python benchmarks/people_flagged.py --write; simulated people and devices"
    yield "way\tseen\tn_trials\tname\tn_flagged\tn\thigh"
    for (way, n_trials), of_one in found.items():
        for name, n_flagged in of_one.items():
            high = exact(n_flagged, n)[1]
            yield f"{way}\t{WAYS[way][1]}\t{n_trials}\t{name}\t{n_flagged}\t{n}\t{high:.4f}"


def show(found: Mapping[tuple[str, int], Mapping[str, int]], n: int) -> None:
    """Print the rates of the score, and the worst of each signal."""
    print(f"simulated people flagged by the score, {n} of each; at most (exact 95 %)")
    print(f"{'way of answering':<24}" + "".join(f"{length:>14}" for length in LENGTHS))
    for way in WAYS:
        cells = [found[way, length][rates.SCORE_NAME] for length in LENGTHS]
        shown = (f"{k / n:.1%} to {exact(k, n)[1]:.1%}" for k in cells)
        print(f"{way:<24}" + "".join(f"{cell:>14}" for cell in shown))
    print(f"\n{'signal or flag':<24}{'pointer':>14}{'touch':>14}{'key':>14}   worst in")
    for name in (*MEASURED, *FLAGS):
        worst = max(found, key=lambda cell: found[cell][name])
        of_seen = (
            max(of[name] for (way, _), of in found.items() if WAYS[way][1] == seen) / n
            for seen in ("pointer", "touch", "key")
        )
        where = f"{worst[0]}, {worst[1]} trials" if found[worst][name] else "nobody"
        print(f"{name:<24}" + "".join(f"{rate:>14.1%}" for rate in of_seen) + f"   {where}")


def main() -> None:
    """Measure, print, and keep the rates if told to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=400, help="of each way and length")
    parser.add_argument("--seed", default="2038")
    parser.add_argument("--write", action="store_true", help="keep them for the product")
    options = parser.parse_args()
    found = measured(options.people, options.seed)
    if options.write:
        FILE.write_text("\n".join(rows(found, options.people)) + "\n", encoding="utf-8")
    show(found, options.people)


if __name__ == "__main__":
    main()
