"""Print how long people's mice rest before they press, in published paths.

Usage: python benchmarks/mouse_rest.py PATHS

PATHS is the data set KH2017_raw of the R package mousetrap (Kieslich & Henninger 2017, Behavior
Research Methods 49, 1652-1667), saved by R: ``write.csv(mousetrap::KH2017_raw, "PATHS")``. In it 60
people sort animals by mouse in 19 trials each. The bounds of the signal ``waits`` rest on it.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import pandas as pd


def rest_ms(trial: pd.Series) -> float:
    """Return the milliseconds from the last movement of a trial's mouse to its press."""
    path = (json.loads(trial[f"{name}_get_response"]) for name in ("timestamps", "xpos", "ypos"))
    samples = list(zip(*path, strict=True))
    moved = [time for (_, *before), (time, *here) in pairwise(samples) if here != before]
    began = samples[0][0]
    return trial["response_time"] - (max(moved, default=began) - began)


def main() -> None:
    """Read the paths and print how long the mouse rests, by trials and by people."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=Path)
    trials = pd.read_csv(parser.parse_args().paths)
    rests = trials.apply(rest_ms, axis=1)
    shares = (rests / trials["response_time"]).groupby(trials["subject_nr"]).median()
    print(f"{len(shares)} people, {len(trials)} trials")
    _print("rest before the press, ms", rests)
    _print("its share of the time, median of a person", shares)


def _print(what: str, values: pd.Series) -> None:
    low, middle, high = values.quantile([0.05, 0.5, 0.95])
    rest = f"5 to 95 % {low:.4g} to {high:.4g}, at most {values.max():.4g}"
    print(f"{what:<43}median {middle:.4g}, {rest}")


if __name__ == "__main__":
    main()
