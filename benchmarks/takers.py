"""Measure the coverage of the intervals of comparisons with model participants ("takers").

python benchmarks/takers.py [--comparisons 2000] [--seeds 1 101 201]

Each seed has this number of separate comparisons. The rows of a setting combine all seeds.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.takers.by_reading import (
    compare_by_elicitation,
    estimate_history_effects,
    measure_first_place_bias,
)

Floats = NDArray[np.float64]
N_ITEMS, N_PEOPLE, N_SESSIONS = 40, 30, 12
# Nodes and weights of the mean over a standard normal variable.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)


@dataclass(frozen=True)
class Planted:
    """What is true of a model and of people.

    Attributes:
        base: The logit of the expected option, on a typical item.
        order: By how much the first place of a prompt raises its logit.
        letters: By how much more it does so with letters.
        history: By how much the session so far raises the logit of the expected option.
        lapse: The share of trials answered at random.
        items: The standard deviation of items, in logits.
        people: The logit of people.
        side: By how much the first side raises people's logit.
    """

    base: float
    order: float = 0.0
    letters: float = 0.0
    history: float = 0.0
    lapse: float = 0.0
    items: float = 0.8
    people: float = 2.0
    side: float = 0.0


SETTINGS = {
    "no bias": Planted(1.0),
    "order .8": Planted(1.0, order=0.8),
    "order -.5, letters +1": Planted(0.5, order=-0.5, letters=1.0),
    "lapse .2, order .5": Planted(1.5, order=0.5, lapse=0.2),
    "history .7, people's side .4": Planted(0.5, history=0.7, side=0.4),
    # The middle 95 in a hundred items have probabilities from .06 to .998.
    "items' spread 2, history .5": Planted(1.5, items=2.0, order=0.3, history=0.5, people=1.5),
}
WAYS = [
    (context, labels, order)
    for context in ("zero_shot", "history")
    for labels in ("numbers", "letters")
    for order in ("listed", "swapped")
]


def p_good(planted: Planted, item: Floats, first: Floats, labels: str, context: str) -> Floats:
    """Return how probably the model chooses the expected option.

    Args:
        planted: What is true.
        item: The items' own effects, in logits.
        first: Whether the expected option stands first in the prompt.
        labels: The set of labels.
        context: What stands before the trial.
    """
    bias = planted.order + planted.letters * (labels == "letters")
    logit = planted.base + item + bias * (2 * first - 1) + planted.history * (context == "history")
    found: Floats = (1 - planted.lapse) * expit(logit) + planted.lapse / 2
    return found


def _mean(values: Floats) -> float:
    return float(values @ _WEIGHTS / _WEIGHTS.sum())


def truths(planted: Planted) -> dict[str, float]:
    """Return the expectation of every estimate that is looked at, over items and answers."""
    item = planted.items * _NODES
    both = {
        (labels, context): [
            _mean(p_good(planted, item, np.full(item.shape, float(first)), labels, context))
            for first in (1, 0)
        ]
        for labels in ("numbers", "letters")
        for context in ("zero_shot", "history")
    }
    # Where it stands first, choosing it is choosing the first place; else not choosing it is.
    share = {key: (first + 1 - second) / 2 for key, (first, second) in both.items()}
    right = {key: (first + second) / 2 for key, (first, second) in both.items()}
    people = [_mean(expit(planted.people + item + side * planted.side)) for side in (1, -1)]
    of_context = {
        context: np.mean([right[labels, context] for labels in ("numbers", "letters")])
        for context in ("zero_shot", "history")
    }
    return {
        **{
            f"first place, {labels}": share[labels, "zero_shot"]
            for labels in ("numbers", "letters")
        },
        "people's side": (people[0] + 1 - people[1]) / 2,
        "people minus model": float(np.mean(people) - np.mean(list(of_context.values()))),
        "history": float(of_context["history"] - of_context["zero_shot"]),
    }


def answers(planted: Planted, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return judgments of people and a taker's answers, items with effects that both share."""
    item = rng.normal(0, planted.items, N_ITEMS)
    names = np.array([f"i{number}" for number in range(N_ITEMS)])
    rows, sittings = [], []
    for session in range(N_SESSIONS):
        # As in a list: the expected option stands first in half of the trials.
        first_on_screen = rng.permutation(np.arange(N_ITEMS) % 2 == 0)
        for context, labels, order in WAYS:
            first = first_on_screen != (order == "swapped")
            right = rng.random(N_ITEMS) < p_good(planted, item, first, labels, context)
            rows.append((first_on_screen, right))
            sittings.append((session, context, labels, order))
    columns = dict(
        zip(
            ("session", "context", "labels", "order"),
            (np.repeat(np.array(part), N_ITEMS) for part in zip(*sittings, strict=True)),
            strict=True,
        )
    )
    who = np.repeat(["-".join(map(str, one)) for one in sittings], N_ITEMS)
    taken = _judged(who, names, rows).assign(**columns)
    taken = taken.assign(model="planted", reading="forced_choice")
    return _people(planted, item, names, rng), taken.astype({"chose_good": float})


def _people(
    planted: Planted, item: Floats, names: NDArray[np.str_], rng: np.random.Generator
) -> pd.DataFrame:
    rows = []
    for _ in range(N_PEOPLE):
        first = rng.permutation(np.arange(N_ITEMS) % 2 == 0)
        p = expit(planted.people + item + planted.side * (2 * first - 1))
        rows.append((first, rng.random(N_ITEMS) < p))
    return _judged(np.repeat([f"p{person}" for person in range(N_PEOPLE)], N_ITEMS), names, rows)


def _judged(
    who: NDArray[np.str_],
    names: NDArray[np.str_],
    rows: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]],
) -> pd.DataFrame:
    """Return judgments: where the expected option stood, and whether it was chosen, of each."""
    first, right = (np.concatenate(part) for part in zip(*rows, strict=True))
    item = np.tile(names, len(rows))
    return pd.DataFrame(
        {
            "participant": who,
            "item_id": item,
            "frame": item,
            "construction": "all",
            "good_side": np.where(first, "first", "second"),
            "chosen_side": np.where(right == first, "first", "second"),
            "chose_good": right,
        }
    )


def intervals(people: pd.DataFrame, taken: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Yield the ends of every interval that is looked at, as the report prints them."""
    leaning = measure_first_place_bias(taken, people)
    for labels in ("numbers", "letters"):
        row = leaning[(leaning["labels"] == labels) & (leaning["context"] == "zero_shot")].iloc[0]
        yield f"first place, {labels}", row["low"], row["high"]
    row = leaning[leaning["judge"] == "people"].iloc[0]
    yield "people's side", row["low"], row["high"]
    found = compare_by_elicitation(people, taken, 0.1)
    row = found[found["construction"] == ""].iloc[0]
    yield "people minus model", row["low"], row["high"]
    row = estimate_history_effects(taken).iloc[0]
    yield "history", row["low"], row["high"]


def coverage(planted: Planted, n: int, seed: int) -> dict[str, float]:
    """Return the share of ``n`` comparisons in which each interval covers the truth."""
    true, covered = truths(planted), defaultdict[str, int](int)
    for number in range(n):
        people, taken = answers(planted, np.random.default_rng([seed, number]))
        for name, low, high in intervals(people, taken):
            covered[name] += bool(low <= true[name] <= high)
    return {name: covered[name] / n for name in true}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=2000, help="of a seed, in all settings")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    chosen = parser.parse_args()
    n = -(-chosen.comparisons // len(SETTINGS))
    print(f"| Planted | {' | '.join(truths(Planted(0.0)))} |")
    print(f"|---|{'---:|' * len(truths(Planted(0.0)))}")
    every = []
    for number, (name, planted) in enumerate(SETTINGS.items()):
        every.append([list(coverage(planted, n, seed + number).values()) for seed in chosen.seeds])
        _print_row(name, np.mean(every[-1], axis=0))
    for place, seed in enumerate(chosen.seeds):
        _print_row(f"all, seed {seed}", np.mean([of_seeds[place] for of_seeds in every], axis=0))
    total = n * len(SETTINGS) * len(chosen.seeds)
    print(f"\n{total:,} comparisons, {n} of each setting and seed;", end=" ")
    print(f"{N_ITEMS} items, {N_PEOPLE} people, {N_SESSIONS} sessions.")


def _print_row(name: str, shares: Floats) -> None:
    print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
