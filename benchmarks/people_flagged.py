"""How often the score and its signals speak against people, by way of answering and length.

Usage: python benchmarks/people_flagged.py [--people 400] [--write]

The people and their devices are simulated (``agent_bench/people.py``, ``agent_bench/ways.py``).
``--write`` keeps the rates in ``experiment/integrity/rates.tsv``, by which the product decides
which signals count. Signals on how people read and choose are not measured: nobody was observed.
"""

import argparse
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from agent_bench.people import Shown
from agent_bench.ways import WAYS, session
from scipy.stats import beta

from experiment.exclusion.integrity import flags
from experiment.integrity import rates
from experiment.integrity.agent import DIRECT, NO_EVIDENCE, SIGNALS, likelihood
from experiment.integrity.certificate import Certificate, certify

LENGTHS = (8, 15, 20, 24, 40, 76, 150)
FILE = Path(rates.__file__).with_name("rates.tsv")
# A signal speaks against somebody from so many nats on, the score above this bound.
SPEAKS_NATS, FLAGGED = 0.5, 0.5
# These ask how people read; the others ask what a device does.
NOT_MEASURED = ("reading", "drift")
MEASURED = tuple(name for name in SIGNALS if name not in (*DIRECT, *NOT_MEASURED))
FLAGS = ("timing_mismatch", "impossible_time")


def exact(n_flagged: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share (Clopper & Pearson 1934)."""
    low = 0.0 if not n_flagged else float(beta.ppf(0.025, n_flagged, n - n_flagged + 1))
    high = 1.0 if n_flagged == n else float(beta.ppf(0.975, n_flagged + 1, n - n_flagged))
    return low, high


def observed(way: str, n_trials: int, people: int, seed: str) -> list[Certificate]:
    """Return the certificates of so many simulated people."""
    found = []
    for n in range(people):
        rng = random.Random(f"{seed} {way} {n_trials} {n}")
        found.append(certify(session(way, _trials(n_trials, rng), rng)))
    return found


def signals_of(certificates: Sequence[Certificate]) -> dict[str, int]:
    """Return against how many people each signal, and each flag but the score's, speaks."""
    found = dict.fromkeys((*MEASURED, *FLAGS), 0)
    for one in certificates:
        nats, raised = dict(one.signals), flags(one)
        for name in MEASURED:
            found[name] += nats.get(name, 0.0) >= SPEAKS_NATS
        for name in FLAGS:
            found[name] += name in raised
    return found


def scored(certificates: Sequence[Certificate], safe: Collection[str]) -> int:
    """Return how many people the score flags where these signals count."""
    kept = ({k: v for k, v in one.signals if k in (*DIRECT, *safe)} for one in certificates)
    return sum((likelihood(nats) or 0.0) > FLAGGED for nats in kept)


def measured(people: int, seed: str) -> dict[tuple[str, int], dict[str, int]]:
    """Return what speaks against how many, by way of answering and length."""
    seen = {(way, n): observed(way, n, people, seed) for way in WAYS for n in LENGTHS}
    found = {cell: signals_of(certificates) for cell, certificates in seen.items()}
    for (way, n), certificates in seen.items():
        alike = [found[each, n] for each in WAYS if WAYS[each][1] == WAYS[way][1]]
        worst = {name: max(of[name] for of in alike) for name in MEASURED}
        rare = {name for name, k in worst.items() if exact(k, people)[1] < rates.MOST}
        safe = rare - set(NO_EVIDENCE)
        found[way, n][rates.SCORE] = scored(certificates, safe)
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
        cells = [found[way, length][rates.SCORE] for length in LENGTHS]
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
