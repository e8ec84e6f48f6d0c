"""How often two equal accuracies are called different, with very few items.

``python -m benchmarks.few_items --studies 200`` draws studies of one construction in which people,
a model and a second model have one true accuracy, and counts intervals that leave out 0: of people
minus the model, of one model minus the other, of people where the expected version stood first
minus where it stood second, and of people on one half of the items minus the other half. No floor
of participants and frames is kept here: so it shows from how many items on an interval can be
printed. The floor of answers is kept, and what it withholds is told.
"""

import sys
from itertools import product
from pathlib import Path

import click
import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics import withheld
from analysis.statistics.accuracy import accuracy_difference
from analysis.statistics.paired import models_against_models, people_against_models
from benchmarks.situations import Situation, draw

_SEED = 35
_KINDS = tuple(product((14, 40), (True, False), ((0.65, 1.6), (0.8, 0.8))))
STATISTICS = ("people minus model", "model minus model", "first side minus second", "half of items")


def ends(situation: Situation, studies: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return for each statistic the intervals' ends, shape ``(studies, 2)``; NaN where none is."""
    judged, decided, others, alone = [], [], [], []
    for number in range(studies):
        judgments, decisions = draw(situation, rng)
        _, second = draw(situation, rng)
        alone.append([_of_kinds(judgments, rng), _of_halves(judgments)])
        name = {"construction": f"s{number}"}
        judged.append(_named(judgments, number, ("participant", "item_id")).assign(**name))
        decided.append(_named(decisions, number, ("item_id",)).assign(**name))
        others.append(_named(second, number, ("item_id",)).assign(**name))
    one, two = pd.concat(decided), pd.concat(others)
    # Each study is a group, all judged by people of their own: its numbers are those it has alone.
    people = people_against_models(pd.concat(judged), {"model": one}, ["construction"])
    models = models_against_models({"model": one, "other": two}, "construction")
    of_groups = [
        frame.loc[frame["construction"] != "", ["low", "high"]].to_numpy(float)
        for frame in (people, models)
    ]
    return [*of_groups, *np.array(alone).transpose(1, 0, 2)]


def _named(frame: pd.DataFrame, study: int, columns: tuple[str, ...]) -> pd.DataFrame:
    return frame.assign(**{name: f"{study}:" + frame[name].astype(str) for name in columns})


def _of_kinds(judgments: pd.DataFrame, rng: np.random.Generator) -> tuple[float, float]:
    return _between(judgments, rng.random(len(judgments)) < 0.5)


def _of_halves(judgments: pd.DataFrame) -> tuple[float, float]:
    number = judgments["item_id"].str.rpartition("-")[2].astype(int)
    return _between(judgments, (number % 2 == 0).to_numpy())


def _between(judgments: pd.DataFrame, first: np.ndarray) -> tuple[float, float]:
    row = accuracy_difference(judgments, first).iloc[0]
    return float(row["low"]), float(row["high"])


@click.command(help=__doc__)
@click.option("--studies", default=200, show_default=True, help="Studies of each kind.")
@click.option("--items", default="2,3,4,5,6,8,12", show_default=True, help="Numbers of items.")
def main(studies: int, items: str) -> None:
    """Print for each number of items the mean and the highest share over the kinds of study."""
    withheld.UNITS = 0
    click.echo(f"{len(_KINDS)} kinds of study, {studies} studies of each")
    click.echo(f"called different, mean (in the worst kind): items | {' | '.join(STATISTICS)}")
    for n_items in map(int, items.split(",")):
        found = []
        for number, (people, shared, (accuracy, sd)) in enumerate(_KINDS):
            kind = Situation("equal", (accuracy,), (accuracy,), n_people=people, n_items=n_items,
                             sd_item=sd, shared=shared, each=n_items)  # fmt: skip
            rng = np.random.default_rng([_SEED, n_items, number])
            found.append(ends(kind, studies, rng))
        told = [_told([one[place] for one in found]) for place in range(len(STATISTICS))]
        click.echo(f"{n_items} | {' | '.join(told)}")


def _told(found: list[np.ndarray]) -> str:
    """Return the shares called different, of the kinds in which half of the intervals are there."""
    shares = []
    for ends_of in found:
        there = np.isfinite(ends_of).all(1)
        if there.mean() >= 0.5:
            low, high = ends_of[there].T
            shares.append(((low > 0) | (high < 0)).mean())
    return f"{np.mean(shares):.1%} ({max(shares):.1%})" if shares else "withheld"


if __name__ == "__main__":
    main()
