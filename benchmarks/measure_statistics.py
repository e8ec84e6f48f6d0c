"""Measure the intervals of accuracy, and what the statistics cost.

Usage: python benchmarks/measure_statistics.py WHAT [--simulations 200] ...

intervals  coverage and width of three intervals of accuracy, participants and items differing
bootstrap  seconds of the crossed bootstrap against a plain pandas loop and scipy's one-way one
large      seconds and memory of the whole comparison of ten million answers with five models

Each prints a Markdown table; intervals also prints each of its settings, to standard error.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
from large_run import SIZES, STUDY, write_large_run, write_large_scores
from scipy.special import expit

from analysis.comparison import compare
from analysis.data.load import load_all_scores, load_run
from analysis.options import ComparisonOptions
from analysis.report.write import write_comparison
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import (
    cells,
    crossed_bootstrap,
    percentile_interval,
    wilson_interval,
)

Numbers = np.ndarray

# A condition or construction of the ten-list design: 100 participants, each list its own items.
DESIGNS = {"10 items, each person 1": 1, "60 items, each person 6": 6}
BASES = (0.5, 2.0, 3.5)
SPREADS = ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 0.5), (0.5, 1.5))


WHAT = ("intervals", "bootstrap", "large")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(WHAT))
    parser.add_argument("--study", choices=list(SIZES), default=STUDY, help="of large")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--participants", type=int, default=131_579)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=100)
    options = parser.parse_args()
    if options.what == "intervals":
        intervals(options.simulations)
    elif options.what == "bootstrap":
        bootstrap()
    else:
        large(options)


def intervals(simulations: int) -> None:
    """Print, over all designs, how often each interval covers the true accuracy, and its width."""
    log("design | mean accuracy | SD participants, items | covered %, mean width of each")
    everything = defaultdict(list)
    for design, each in DESIGNS.items():
        people = np.repeat(np.arange(100), each)
        items = people // 10 * each + np.tile(np.arange(each), 100)
        for base in BASES:
            for spread in SPREADS:
                rng = np.random.default_rng(
                    [7, each, int(10 * base), *(int(10 * s) for s in spread)]
                )
                found = coverage(people, items, base, spread, simulations, rng)
                truth = true_accuracy(base, spread)
                cells_ = [f"{name} {100 * c:.1f} {w:.3f}" for name, (c, w) in found.items()]
                log(f"{design} | {truth:.3f} | {spread} | {' | '.join(cells_)}")
                for name, pair in found.items():
                    everything[name].append(pair)
    print("| Interval | Covered, lowest to highest | Covered, mean | Mean width |")
    print("|---|---:|---:|---:|")
    for name, pairs in everything.items():
        covered, width = np.array(pairs).T
        print(f"| {name} | {100 * covered.min():.1f} to {100 * covered.max():.1f} % | "
              f"{100 * covered.mean():.1f} % | {width.mean():.3f} |")  # fmt: skip


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def true_accuracy(base: float, spread: tuple[float, float]) -> float:
    points, weights = np.polynomial.hermite_e.hermegauss(61)
    return float((expit(base + np.hypot(*spread) * points) * weights).sum() / weights.sum())


def coverage(
    people: Numbers,
    items: Numbers,
    base: float,
    spread: tuple[float, float],
    simulations: int,
    rng: np.random.Generator,
) -> dict[str, tuple[float, float]]:
    """Return for each interval (share that covers the truth, mean width)."""
    truth, n = true_accuracy(base, spread), len(people)
    one_group = np.zeros(n, np.intp)
    found = defaultdict(list)
    for _ in range(simulations):
        of_people = rng.normal(0, spread[0], people.max() + 1)
        of_items = rng.normal(0, spread[1], items.max() + 1)
        correct = (rng.random(n) < expit(base + of_people[people] + of_items[items])).astype(float)
        if correct.all():
            continue
        draws = crossed_bootstrap(cells(correct, people, items, one_group), rng, 400)[:, 0]
        clustered = clustered_intervals(correct, people, items, one_group)
        resampled, wilson = percentile_interval(draws), wilson_interval(int(correct.sum()), n)
        for name, low, high in (
            ("two-way clustered", clustered.low[0], clustered.high[0]),
            ("crossed bootstrap", resampled.low, resampled.high),
            ("Wilson, no clusters", wilson.low, wilson.high),
        ):
            found[name].append((low <= truth <= high, high - low))
    return {name: tuple(np.mean(pairs, axis=0)) for name, pairs in found.items()}


def bootstrap() -> None:
    """Print the seconds of 10,000 resamples of 7,600 judgments in 68 conditions, by route."""
    rng = np.random.default_rng(1)
    people, trial = np.divmod(np.arange(7600), 76)
    frame = pd.DataFrame(
        {"participant": people, "item": people // 10 * 76 + trial, "condition": trial % 68,
         "right": rng.random(7600) < 0.85}
    )  # fmt: skip
    started = time.perf_counter()
    counted = cells(
        frame["right"], frame["participant"], frame["item"], frame["condition"].to_numpy()
    )
    crossed_bootstrap(counted, rng, 10_000)
    ours = time.perf_counter() - started
    few = 20
    started = time.perf_counter()
    for _ in range(few):
        pandas_resample(frame, rng)
    theirs = (time.perf_counter() - started) / few * 10_000
    started = time.perf_counter()
    scipy_bootstrap(frame, rng)
    one_way = time.perf_counter() - started
    print("| 10,000 resamples | Seconds | As a multiple |\n|---|---:|---:|")
    print(f"| Parallax | {ours:.2f} | 1 |")
    print(f"| a pandas loop, extrapolated from {few} resamples | {theirs:.1f} "
          f"| {theirs / ours:.0f} |")  # fmt: skip
    print(f"| `scipy.stats.bootstrap`, participants alone | {one_way:.2f} "
          f"| {one_way / ours:.1f} |")  # fmt: skip


def scipy_bootstrap(frame: pd.DataFrame, rng: np.random.Generator) -> Numbers:
    """Resample participants alone: scipy's bootstrap knows no second kind of cluster."""
    cells_ = frame.groupby(["participant", "condition"])["right"].agg(["sum", "size"])
    right, judged = (cells_[name].unstack(fill_value=0).to_numpy() for name in ("sum", "size"))

    def accuracies(drawn: Numbers, axis: int) -> Numbers:
        return np.moveaxis(right[drawn].sum(axis=-2) / judged[drawn].sum(axis=-2), -1, 0)

    found = scipy.stats.bootstrap(
        (np.arange(len(right)),), accuracies, n_resamples=10_000, batch=200, vectorized=True,
        method="percentile", rng=rng,
    )  # fmt: skip
    return found.confidence_interval.low


def pandas_resample(frame: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """Resample as one would write it down: merge what was drawn, group, average."""
    people = rng.choice(frame["participant"].unique(), frame["participant"].nunique())
    drawn = pd.DataFrame({"participant": people}).merge(frame, on="participant")
    items = (
        frame[["condition", "item"]]
        .drop_duplicates()
        .groupby("condition")["item"]
        .sample(frac=1, replace=True, random_state=rng)
    )
    return (
        pd.DataFrame({"item": items}).merge(drawn, on="item").groupby("condition")["right"].mean()
    )


def large(options: argparse.Namespace) -> None:
    """Print seconds and peak memory of loading a large run and comparing it with models."""
    if options.write:
        write(options.write, options.study, options.participants, options.models)
        return
    models, resamples = options.models, options.resamples
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the memory that writing takes is not the comparison's.
        subprocess.run([sys.executable, *sys.argv, "--write", name], check=True)
        n = options.participants * SIZES[options.study][0]
        print(f"{n:,} responses, {models} models, {resamples} resamples:\n")
        print("| Step | Seconds | Peak MiB |\n|---|---:|---:|", flush=True)
        started = time.perf_counter()
        run = load_run(folder / "export")
        scores = load_all_scores(sorted(folder.glob("*.parquet")))
        report("run and scores, loaded and checked", started)
        started = time.perf_counter()
        found = compare(
            run, scores, ComparisonOptions(resamples=resamples), code_version="benchmark"
        )
        report("compared", started)
        started = time.perf_counter()
        write_comparison(found, folder / "report", figures=False)
        report("tables and report, written", started)


def write(folder: Path, study: str, participants: int, models: int) -> None:
    write_large_run(folder / "export", participants, 1, study)
    for number in range(models):
        write_large_scores(folder / f"scores_{number}.parquet", number, study)


def report(step: str, started: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {step} | {time.perf_counter() - started:.1f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
