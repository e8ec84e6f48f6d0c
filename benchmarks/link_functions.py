"""How often the planted link explains most, and paired intervals of links cover.

Usage: python benchmarks/link_functions.py [--studies 400] [--seed 1]

Each row simulates studies in which people choose by one of a model's scores, with participants and
items that differ besides. Three scores are related to the choices as in a report: the sum of the
tokens' log-probabilities, their mean, and a second sum with noise of its own. The true difference
of two links is the mean of the estimates over all studies of a row: what such a study is expected
to show. In the row *alike*, two scores are the planted one with equally much noise, so that neither
is nearer to people: an interval without 0 is false.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics.links import (
    Curve,
    assign_folds,
    compare_links,
    losses,
    predict_by_fold,
)

Floats = NDArray[np.float64]
LOW, HIGH = 0.92, 0.98
_PEOPLE_SD, _ITEMS_SD, _BASE = 0.5, 0.5, 1.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of study.

    Attributes:
        planted: The score by which people choose.
        slope: How strongly, in logits for each standard deviation.
        people: The number of participants, who each judge every second item.
        frames: The number of frames, of two items each.
        alike: Whether the other scores are the planted one with equally much noise.
    """

    planted: str = "mean"
    slope: float = 1.0
    people: int = 40
    frames: int = 30
    alike: bool = False


CELLS = {
    "per token": Cell(),
    "sum": Cell(planted="sum"),
    "weak": Cell(slope=0.4),
    "15 frames": Cell(frames=15),
    "60 frames, 20 people": Cell(frames=60, people=20),
    "alike": Cell(alike=True),
}


def draw_scores(cell: Cell, rng: np.random.Generator) -> dict[str, Floats]:
    """Return each score's difference between the versions of the items, standardised."""
    n = 2 * cell.frames
    lengths = rng.integers(4, 16, (2, n))
    of_frames = np.repeat(rng.normal(0, 0.3, cell.frames), 2)
    means = rng.normal(-3, 0.4, (2, n)) + np.stack([of_frames, -of_frames])
    scores = {"mean": means[0] - means[1], "sum": (means * lengths)[0] - (means * lengths)[1]}
    scores["noisy sum"] = scores["sum"] + rng.normal(0, scores["sum"].std(), n)
    if cell.alike:
        planted = scores[cell.planted]
        for name in ("sum", "noisy sum"):
            scores[name] = planted + rng.normal(0, planted.std(), n)
    return {name: (values - values.mean()) / values.std() for name, values in scores.items()}


def simulate(cell: Cell, rng: np.random.Generator) -> tuple[str, dict[str, tuple[float, ...]]]:
    """Return the link that explains most, and each pair's difference with its interval."""
    scores = draw_scores(cell, rng)
    n = 2 * cell.frames
    person, item = np.divmod(np.arange(cell.people * n), n)
    shown = (item + person) % 2 == 0
    person, item = person[shown], item[shown]
    own = rng.normal(0, _PEOPLE_SD, cell.people)[person] + rng.normal(0, _ITEMS_SD, n)[item]
    chance = expit(_BASE + own + cell.slope * scores[cell.planted][item])
    outcome = (rng.random(len(item)) < chance).astype(float)
    unit = np.arange(n) // 2
    counts, total = np.bincount(item, minlength=n).astype(float), np.bincount(item, outcome, n)
    fold = assign_folds(unit, rng)

    def lose(values: Floats) -> Floats:
        predicted = predict_by_fold(values, total, counts, fold, Curve.LOGISTIC)
        return losses(outcome, predicted[item], Curve.LOGISTIC)

    of_links = {name: lose(values[:, None]) for name, values in scores.items()}
    compared = compare_links(of_links, lose(np.empty((n, 0))), person, unit[item])
    pairs = {
        f"{row.first}, {row.second}": (row.difference, row.low, row.high)
        for row in compared.itertuples()
    }
    return min(of_links, key=lambda name: of_links[name].sum()), pairs


def main() -> None:
    """Print the table; the exit status is 1 if the share of all intervals is not 92 to 98%."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=400, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| People choose by | planted link explains most | intervals that cover |")
    print("|---|---:|---:|")
    shares = []
    for number, (name, cell) in enumerate(CELLS.items()):
        drawn = [
            simulate(cell, np.random.default_rng([options.seed, number, study]))
            for study in range(options.studies)
        ]
        best = np.mean([nearest == cell.planted for nearest, _ in drawn])
        pairs = ["sum, noisy sum"] if cell.alike else list(drawn[0][1])
        covered = []
        for pair in pairs:
            difference, low, high = np.array([found[pair] for _, found in drawn]).T
            truth = 0.0 if cell.alike else difference.mean()
            covered.append(((low <= truth) & (truth <= high)).mean())
        shares.append(np.mean(covered))
        print(f"| {name} | {100 * best:.1f} % | {100 * shares[-1]:.1f} % |", flush=True)
    pooled = float(np.mean(shares))
    print(f"| all {options.studies * len(CELLS):,} | | {100 * pooled:.1f} % |")
    sys.exit(0 if LOW <= pooled <= HIGH or options.studies < 100 else 1)


if __name__ == "__main__":
    main()
