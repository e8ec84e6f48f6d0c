"""How often stopping rules err, and how many participants they take.

Usage: python benchmarks/stopping.py [--studies 10000] [--seed 1]

The first table is of studies without an effect, looked at after every complete block of lists: a
rule errs if it ever finds a difference. Each row is a cell: the type of response, how much people
and items differ (standard deviations in logits, or in log milliseconds), and what else disturbs.
Items come in pairs with opposite effects, so that the effect on these items is exactly 0 while each
list is biased. People who drop out or are excluded do so the more often, the slower they are; who
is slow has a larger effect, in either direction. The rule counts the kept in the order of arrival;
whoever is excluded late is taken out, so that what is claimed follows from the kept alone.

The second table is of studies with the planned effect: participants relative to the fixed design
with 90% power, for planned looks and for looks at any time, with the effect known to the bets or
not, and with values limited to the effect plus or minus three standard deviations. The bets are
those of ``experiment.stopping``, on arrays that hold all studies.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import nct, t

sys.path.append(str(Path(__file__).parents[1]))
from experiment.stopping.betting import Bettor, Bounds
from experiment.stopping.rule import SPENT_SHARE, compute_limits, student_limit

Floats = NDArray[np.float64]
ALPHA = 0.05
_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of study.

    Attributes:
        measure: "choices", "ratings" or "times".
        lists: The number of lists.
        items: The number of items that each participant answers, in two conditions.
        people_sd: The standard deviation of people's effects.
        items_sd: The standard deviation of items' effects, and of their means.
        dropout: The share of people who leave or are excluded.
        uneven: Whether half of the lists lose three times as many people.
    """

    measure: str = "choices"
    lists: int = 2
    items: int = 24
    people_sd: float = 0.5
    items_sd: float = 0.5
    dropout: float = 0.0
    uneven: bool = False

    @property
    def bounds(self) -> Bounds:
        """The bounds of a participant's value."""
        largest = {"choices": 1.0, "ratings": 6.0, "times": 0.5}[self.measure]
        return Bounds(-largest, largest)


def draw_blocks(
    cell: Cell, n_blocks: int, n_studies: int, effect: float, rng: np.random.Generator
) -> Floats:
    """Return the values of kept people, of shape (studies, blocks, lists)."""
    n_people = int(np.ceil(n_blocks / (1 - min(0.9, 1.5 * cell.dropout)))) + 6
    base = rng.normal(0.8, cell.items_sd, (n_studies, cell.items // 2))
    tilt = rng.normal(0, cell.items_sd, (n_studies, cell.items // 2))
    base, tilt = np.hstack([base, base]), np.hstack([tilt, -tilt])
    kept = np.empty((n_studies, n_blocks, cell.lists))
    for list_ in range(cell.lists):
        in_first = (np.arange(cell.items) + list_) % 2 == 0
        if cell.lists > 2:
            # Further lists share out the items otherwise; each has a mirror image.
            order = np.random.default_rng(list_ // 2).permutation(cell.items)
            in_first = in_first[order]
        sign = np.where(in_first, 0.5, -0.5)
        person = rng.normal(0, 0.5, (n_studies, n_people, 1))
        of_person = rng.normal(0, cell.people_sd, (n_studies, n_people, 1))
        middle = base[:, None, :] + person + sign * (of_person + tilt[:, None, :] + effect)
        values = _differ(cell, middle, in_first, rng)
        # Who is slow has a larger effect, of either sign, and leaves or is excluded more often.
        slow = np.abs(of_person[..., 0]) > 0.674 * max(cell.people_sd, 1e-9)
        share = cell.dropout * (1.5 if cell.uneven and list_ % 2 else 0.5 if cell.uneven else 1)
        leaves = rng.random(slow.shape) < np.where(slow, 1.5, 0.5) * share
        order = np.argsort(leaves, axis=1, kind="stable")[:, :n_blocks]
        kept[..., list_] = np.take_along_axis(values, order, 1)
    return kept


def _differ(
    cell: Cell, middle: Floats, in_first: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """Return each person's difference of means between the two conditions."""
    if cell.measure == "choices":
        answers = (rng.random(middle.shape) < expit(middle)).astype(float)
    elif cell.measure == "ratings":
        latent = middle + rng.logistic(size=middle.shape)
        cuts = np.array([-2.0, -1.2, -0.4, 0.4, 1.2, 2.0])
        answers = 1.0 + np.searchsorted(cuts, latent)
    else:
        # A fifth of the logits, and the long right tail of reading times.
        answers = 0.2 * middle + rng.gamma(2, 0.25, middle.shape)
    difference = answers[..., in_first].mean(-1) - answers[..., ~in_first].mean(-1)
    return np.clip(difference, cell.bounds.low, cell.bounds.high)


def stop_any_time(
    values: Floats, bounds: Bounds, planned: float | None, *, sides: Sequence[int] = (1, -1)
) -> Floats:
    """Return the block after which each study finds a difference; infinity if none does."""
    n_studies, n_blocks, n_lists = values.shape
    stops = np.full(n_studies, np.inf)
    bettors = [Bettor(0.0, bounds if side > 0 else bounds.mirrored(), planned) for side in sides]
    for block in range(n_blocks):
        for side, bettor in zip(sides, bettors, strict=True):
            bettor.bet([side * values[:, block, list_] for list_ in range(n_lists)])
            reached = (np.asarray(bettor.wealth) >= 2 / ALPHA) & np.isinf(stops)
            stops[reached] = block + 1
    return stops


def stop_as_planned(values: Floats, spending: str, shares: Sequence[float] = _SHARES) -> Floats:
    """Return the block of the look at which each study finds a difference; else infinity."""
    n_studies, n_blocks, n_lists = values.shape
    looks = [*dict.fromkeys(max(2, round(share * n_blocks)) for share in shares)]
    limits = compute_limits(tuple(look / n_blocks for look in looks), SPENT_SHARE * ALPHA, spending)
    stops = np.full(n_studies, np.inf)
    for look, limit in zip(looks, limits, strict=True):
        taken = values[:, :look]
        error = np.sqrt(taken.var(axis=1, ddof=1).sum(-1) / look) / n_lists
        beyond = np.abs(taken.mean((1, 2))) > student_limit(limit, (look - 1) * n_lists) * error
        stops[beyond & np.isinf(stops)] = look
    return stops


def peek_naively(values: Floats) -> Floats:
    """Return whether an ordinary t-test at any block from the fifth on is below .05."""
    n_studies, n_blocks, n_lists = values.shape
    found = np.zeros(n_studies, bool)
    for look in range(5, n_blocks + 1):
        taken = values[:, :look]
        error = np.sqrt(taken.var(axis=1, ddof=1).sum(-1) / look) / n_lists
        found |= np.abs(taken.mean((1, 2))) > t.isf(ALPHA / 2, (look - 1) * n_lists) * error
    return found


_HARD = {"dropout": 0.2, "uneven": True}
NULL_CELLS = {
    "choices": Cell(),
    "choices, people 0, items 0": Cell(people_sd=0, items_sd=0),
    "choices, people 1.5": Cell(people_sd=1.5),
    "choices, items 1.5": Cell(items_sd=1.5),
    "choices, 8 lists, items 1.5": Cell(lists=8, items_sd=1.5),
    "choices, 4 answers": Cell(items=4),
    "choices, dropout, uneven lists": Cell(people_sd=1.0, **_HARD),
    "choices, a fifth excluded": Cell(people_sd=1.0, dropout=0.2),
    "ratings": Cell("ratings"),
    "ratings, items 1.5, 8 lists": Cell("ratings", lists=8, items_sd=1.5),
    "ratings, dropout, uneven lists": Cell("ratings", people_sd=1.0, **_HARD),
    "times": Cell("times"),
    "times, people 1.5, uneven lists": Cell("times", people_sd=1.5, **_HARD),
}


def _print_errors(n_studies: int, n_blocks: int, seed: int) -> float:
    print("| Without an effect | any time | effect known | O'Brien-Fleming | Pocock | t-test |")
    print("|---|---:|---:|---:|---:|---:|")
    worst = 0.0
    for number, (name, cell) in enumerate(NULL_CELLS.items()):
        errors = np.zeros(5)
        for part in range(0, n_studies, 1_000):
            rng = np.random.default_rng([seed, number, part])
            size = min(1_000, n_studies - part)
            blocks = n_blocks * 2 // cell.lists
            values = draw_blocks(cell, blocks, size, 0.0, rng)
            planned = 0.1 * cell.bounds.high
            rules = [
                np.isfinite(stop_any_time(values, cell.bounds, None)),
                np.isfinite(stop_any_time(values, cell.bounds, planned)),
                np.isfinite(stop_as_planned(values, "obrien_fleming")),
                np.isfinite(stop_as_planned(values, "pocock")),
                peek_naively(values),
            ]
            errors += [rule.sum() for rule in rules]
        shares = errors / n_studies
        worst = max(worst, shares[:4].max())
        print(f"| {name} | " + " | ".join(f"{100 * share:.2f} %" for share in shares) + " |")
    return worst


def _fixed_blocks(values: Floats, effect: float) -> int:
    """Return the blocks of the fixed design with 90% power, by the noncentral t distribution."""
    n_lists = values.shape[2]
    sd = np.sqrt(values.var(axis=1, ddof=1).mean(0).sum()) / n_lists
    for blocks in range(2, 10_000):
        freedom = (blocks - 1) * n_lists
        limit = t.isf(ALPHA / 2, freedom)
        if nct.sf(limit, freedom, effect / sd * np.sqrt(blocks)) >= 0.9:
            return blocks
    raise ValueError("the effect is too small")


EFFECT_CELLS = {
    "choices": (Cell(), 0.6),
    "choices, small effect": (Cell(), 0.3),
    "choices, 8 answers": (Cell(items=8), 0.6),
    "choices, 48 answers": (Cell(items=48), 0.3),
    "choices, 4 lists": (Cell(lists=4), 0.5),
    "choices, people 1.0": (Cell(people_sd=1.0), 0.5),
    "ratings": (Cell("ratings"), 0.4),
    "times": (Cell("times"), 0.3),
}
_MAXIMUM = {
    "any time": 2.0,
    "any time, bounds": 1.75,
    "any time, unknown effect": 2.5,
    "O'Brien-Fleming": 1.05,
    "Pocock": 1.2,
}


def _print_sizes(n_studies: int, seed: int) -> None:
    print(
        "\n| With an effect | Fixed | Rule | Power | Mean | 10 % | Median | 90 % | Maximum |\n"
        "|---|---:|---|---:|---:|---:|---:|---:|---:|"
    )
    for number, (name, (cell, logits)) in enumerate(EFFECT_CELLS.items()):
        rng = np.random.default_rng([seed, 100 + number])
        pilot = draw_blocks(cell, 60, 600, logits, rng)
        effect = float(pilot.mean())
        fixed = _fixed_blocks(pilot, effect)
        reach = effect + 3 * float(pilot.std(axis=(1, 2)).mean())
        for rule, most in _MAXIMUM.items():
            blocks, stops = int(np.ceil(most * fixed)), []
            for part in range(0, n_studies, 1_000):
                rng = np.random.default_rng([seed, 200 + number, part])
                size = min(1_000, n_studies - part)
                values = draw_blocks(cell, blocks, size, logits, rng)
                if rule.startswith("any"):
                    planned = None if "unknown" in rule else effect
                    bounds = Bounds(-reach, reach) if "bounds" in rule else cell.bounds
                    values = values.clip(bounds.low, bounds.high)
                    stops.append(stop_any_time(values, bounds, planned))
                else:
                    spending = "pocock" if rule == "Pocock" else "obrien_fleming"
                    stops.append(stop_as_planned(values, spending))
            stopped = np.concatenate(stops)
            taken = np.minimum(stopped, blocks) / fixed
            tenth, median, most_of = np.quantile(taken, [0.1, 0.5, 0.9])
            shares = (taken.mean(), tenth, median, most_of, most)
            print(
                f"| {name} | {fixed * cell.lists} | {rule} | {np.isfinite(stopped).mean():.3f} | "
                + " | ".join(f"{share:.2f}" for share in shares)
                + " |"
            )


def main() -> None:
    """Print both tables; the exit status is 1 if a rule errs in more than 5% of a cell's studies.

    Four standard errors of a share of 5% are allowed for.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=10_000, help="in each cell without effect")
    parser.add_argument("--blocks", type=int, default=60, help="of two people")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    worst = _print_errors(options.studies, options.blocks, options.seed)
    _print_sizes(max(200, options.studies // 5), options.seed)
    allowed = ALPHA + 4 * np.sqrt(ALPHA * (1 - ALPHA) / options.studies)
    print(f"\nlargest share of studies that err: {100 * worst:.2f} %")
    sys.exit(1 if worst > allowed else 0)


if __name__ == "__main__":
    main()
