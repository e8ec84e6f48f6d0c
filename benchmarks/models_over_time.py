"""How often the intervals of crossing times cover the planted times, and falls are named.

Usage: python benchmarks/models_over_time.py [--curves 100] [--seed 1]

Each row is a kind of training. An item has its own time at which the model learns it, normal around
the construction's; its probability of a right answer rises from chance to a ceiling along a
logistic curve of log tokens. Answers at neighbouring checkpoints depend on each other through a
latent normal variable. Trainings with other seeds learn the construction earlier or later. People
judge the same items, each of which has its own difficulty, and participants differ. A planted time
is that at which the mean curve over all items and trainings passes the level: chance plus .1, or
people's accuracy. A time after the last checkpoint counts as covered if the interval is open.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

sys.path.append(str(Path(__file__).parents[1]))
from analysis.over_time.crossing import (
    added_variance,
    find_crossing,
    find_fall,
    resample_curves,
    resample_people,
)

Floats = NDArray[np.float64]
CHANCE, MARGIN, DRAWS, N_DRAWN = 0.5, 0.1, 1_000, 20_001
LOW, HIGH = 0.93, 0.97
_PEOPLE_SD, _ITEMS_SD = 0.3, 0.4


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of training, on an axis of doublings of the tokens.

    Attributes:
        items: The number of items.
        middle: The doubling at which half of the items are learned.
        slope: The slope of an item's logistic curve.
        top: The ceiling.
        items_sd: The standard deviation of items' times, in doublings.
        kept: The correlation of an item's answers at neighbouring checkpoints.
        per_doubling: The number of checkpoints in a doubling.
        trainings: The number of trainings with other seeds.
        trainings_sd: The standard deviation of their times, in doublings.
        people: People's accuracy, in the middle of an item.
        dip: How much of the rise is lost and regained, around the ninth doubling.
    """

    items: int = 40
    middle: float = 9.0
    slope: float = 1.0
    top: float = 0.95
    items_sd: float = 1.0
    kept: float = 0.7
    per_doubling: int = 2
    trainings: int = 1
    trainings_sd: float = 0.0
    people: float = 0.85
    dip: float = 0.0

    @property
    def axis(self) -> Floats:
        """The checkpoints, as doublings."""
        return np.arange(0, 18 * self.per_doubling + 1) / self.per_doubling

    def probability(self, doublings: Floats, times: Floats) -> Floats:
        """Return the probability of a right answer, by item's time and doubling."""
        rise = expit(self.slope * (doublings - times))
        lost = self.dip * np.exp(-((doublings - self.middle - 4) ** 2) / 2)
        return CHANCE + (self.top - CHANCE) * rise * (1 - lost)


CELLS = {
    "40 items": Cell(),
    "20 items": Cell(items=20),
    "100 items": Cell(items=100),
    "answers independent": Cell(kept=0.0),
    "answers kept": Cell(kept=0.95),
    "items learned together, one checkpoint a doubling": Cell(
        slope=2.0, items_sd=0.3, per_doubling=1
    ),
    "slow": Cell(slope=0.5, items_sd=2.0),
    "3 trainings": Cell(trainings=3, trainings_sd=0.5),
    "8 trainings": Cell(trainings=8, trainings_sd=0.5),
    "people never reached": Cell(top=0.78, people=0.92),
    "U-shape": Cell(items=60, dip=0.7),
}


def draw_answers(cell: Cell, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return right answers of shape (trainings, items, checkpoints)."""
    axis, of_items = cell.axis, rng.normal(0, cell.items_sd, cell.items)
    later = rng.normal(0, cell.trainings_sd, cell.trainings)
    times = cell.middle + of_items[None, :, None] + later[:, None, None]
    chance = cell.probability(axis, times)
    latent = rng.normal(size=chance.shape)
    for k in range(1, len(axis)):
        fresh = np.sqrt(1 - cell.kept**2) * latent[..., k]
        latent[..., k] = cell.kept * latent[..., k - 1] + fresh
    return norm.cdf(latent) < chance


def plant(cell: Cell, level: float, after: float = -5.0) -> float:
    """Return the doubling at which the mean curve passes a level; infinity if it never does."""
    spread = np.hypot(cell.items_sd, cell.trainings_sd)
    times = cell.middle + spread * norm.ppf((np.arange(N_DRAWN) + 0.5) / N_DRAWN)

    def above(doubling: float) -> float:
        return float(cell.probability(np.array(doubling), times).mean()) - level

    end = float(cell.axis[-1])
    return np.inf if above(end) < 0 else brentq(above, after, end)


def draw_people(cell: Cell, rng: np.random.Generator, n_people: int = 20) -> NDArray[np.bool_]:
    """Return right judgments of shape (people, items)."""
    person = rng.normal(0, _PEOPLE_SD, (n_people, 1))
    item = rng.normal(0, _ITEMS_SD, (1, cell.items))
    return rng.normal(size=(n_people, cell.items)) < norm.ppf(cell.people) + person + item


def measure(cell: Cell, n_curves: int, seed: list[int]) -> tuple[float, float, float]:
    """Return the shares of intervals that cover, of both levels, and of curves with a U-shape."""
    spread = np.sqrt(1 + _PEOPLE_SD**2 + _ITEMS_SD**2)
    planted = (
        plant(cell, CHANCE + MARGIN),
        plant(
            cell,
            float(norm.cdf(norm.ppf(cell.people) / spread)),
            # The model reaches people for good after the dip.
            cell.middle + 4 if cell.dip else -5.0,
        ),
    )
    covered, fallen = np.zeros((n_curves, 2)), np.zeros(n_curves)
    for number in range(n_curves):
        rng = np.random.default_rng([*seed, number])
        unit = np.arange(cell.items)
        curves = resample_curves(draw_answers(cell, rng), unit, cell.axis, rng, DRAWS)
        fall = find_fall(curves)
        fallen[number] = fall is not None and fall.recovers
        right = draw_people(cell, rng).astype(float)
        person = np.repeat(np.arange(len(right)), cell.items)
        of_people = resample_people(
            right.sum(axis=0),
            np.full(cell.items, float(len(right))),
            curves.weights,
            added_variance(right.ravel(), person),
            rng,
        )
        levels = (CHANCE + MARGIN, np.full(DRAWS, CHANCE + MARGIN)), (right.mean(), of_people)
        for which, (level, drawn) in enumerate(levels):
            crossing = find_crossing(curves, float(level), drawn, fall)
            covered[number, which] = crossing.low <= planted[which] <= crossing.high
    return (*covered.mean(axis=0).tolist(), float(fallen.mean()))


def main() -> None:
    """Print the table; the exit status is 1 if the share of all intervals is not 93 to 97%.

    Four standard errors of a share of 95% are allowed for.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--curves", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    allowed = 4 * np.sqrt(0.05 * 0.95 / (options.curves * len(CELLS)))
    all_shares = []
    print("| Trainings | passes chance + .1 | reaches people | U-shape named |")
    print("|---|---:|---:|---:|")
    for number, (name, cell) in enumerate(CELLS.items()):
        *shares, fallen = measure(cell, options.curves, [options.seed, number])
        cells = [f"{100 * share:.1f} %" for share in (*shares, fallen)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        all_shares.append(shares)
    pooled = np.mean(all_shares, axis=0)
    passes, reaches = (f"{100 * share:.1f} %" for share in pooled)
    print(f"| all {options.curves * len(CELLS):,} | {passes} | {reaches} | |")
    within = (pooled >= LOW - allowed) & (pooled <= HIGH + allowed)
    sys.exit(0 if within.all() else 1)


if __name__ == "__main__":
    main()
