"""Measure how often each printed interval holds what it says, over thirty kinds of study.

Usage: python benchmarks/coverage.py [--simulations 300] [--settings 30] [--only NAME ...]

Each setting draws new participants and new items every time: three designs, two levels of
accuracy, five pairs of standard deviations of participants and items. The truth is what the
statistic is on average over such studies. 95 of 100 intervals are to hold it. The settings are
gone through in rounds of some studies each. Until the last round is done, the tables of all rounds
so far go to standard error, so that the program may be stopped at any time. The studies are the
same whichever statistics are asked for.
"""

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

# The tests check a few of the same settings.
sys.path.append(str(Path(__file__).parents[1]))
from tests.analysis.simulated_study import DESIGNS, SETTINGS, STATISTICS, coverage, intervals

_ROUND = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=300)
    parser.add_argument("--settings", type=int, default=len(SETTINGS))
    known = {one.__name__.removeprefix("of_"): one for one in STATISTICS}
    parser.add_argument("--only", nargs="+", choices=known, default=list(known))
    options = parser.parse_args()
    statistics = [known[name] for name in options.only]
    chosen = SETTINGS[: options.settings]
    found: list[list[pd.DataFrame]] = [[] for _ in chosen]
    for done in range(0, options.simulations, _ROUND):
        size = min(_ROUND, options.simulations - done)
        for number, setting in enumerate(chosen):
            rng = np.random.default_rng([22, number, done])
            found[number].append(intervals(setting, size, rng, statistics))
        last = done + size == options.simulations
        with redirect_stdout(sys.stdout if last else sys.stderr):
            print_tables([pd.concat(one) for one in found], done + size)


def print_tables(found: list[pd.DataFrame], simulations: int) -> None:
    """Print what each interval covers in each setting, and over all settings."""
    names = {sizes: name for name, sizes in DESIGNS.items()}
    error = 100 * (0.95 * 0.05 / simulations) ** 0.5
    print(f"{simulations} studies of each kind; a coverage of 95 % has an error of {error:.1f}")
    print("design | base | SD participants, items | covered %, width as a share of the right one")
    covered = [coverage(one) for one in found]
    rows = [one[one["n"] > simulations / 2] for one in covered]
    for setting, row in zip(SETTINGS, rows, strict=False):
        each = " | ".join(
            f"{one.statistic} {100 * one.covered:.1f} {one.ratio:.2f}" for one in row.itertuples()
        )
        print(f"{names[setting.design]} | {setting.base} | {setting.spread} | {each}")
    print("statistic | settings | covered %: lowest, mean, highest | mean share of right width")
    for name, each in pd.concat(rows).groupby("statistic", sort=False):
        low, mean, high = 100 * each["covered"].agg(["min", "mean", "max"])
        ratio = each["ratio"].mean()
        print(f"{name} | {len(each)} | {low:.1f}, {mean:.1f}, {high:.1f} | {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
