"""How often a model as accurate as people is called better or worse, with very few items.

``python -m benchmarks.few_items --studies 200`` draws studies of one construction in which people
and model have one true accuracy, and counts intervals of people minus the model that leave out 0.
Nothing is withheld here: so it shows from how many items on an interval can be printed.
"""

import sys
from itertools import product
from pathlib import Path

import click
import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics import withheld
from analysis.statistics.paired import people_against_models
from benchmarks.situations import Situation, draw

_SEED = 35
_KINDS = tuple(product((14, 40), (True, False), ((0.65, 1.6), (0.8, 0.8))))


def called_different(situation: Situation, rng: np.random.Generator) -> bool:
    """Return whether the interval of one study leaves out 0."""
    judgments, decisions = draw(situation, rng)
    row = people_against_models(judgments, {"model": decisions}, ["construction"]).iloc[0]
    return bool(row["low"] > 0 or row["high"] < 0)


@click.command(help=__doc__)
@click.option("--studies", default=200, show_default=True, help="Studies of each kind.")
@click.option("--items", default="2,3,4,5,6,8,12", show_default=True, help="Numbers of items.")
def main(studies: int, items: str) -> None:
    """Print for each number of items the mean and the highest share over the kinds of study."""
    withheld.UNITS = 0
    click.echo(f"{len(_KINDS)} kinds of study, {studies} studies of each")
    click.echo("items | called different: mean | in the worst kind")
    for n_items in map(int, items.split(",")):
        shares = []
        for number, (people, shared, (accuracy, sd)) in enumerate(_KINDS):
            kind = Situation("equal", (accuracy,), (accuracy,), n_people=people, n_items=n_items,
                             sd_item=sd, shared=shared, each=n_items)  # fmt: skip
            rng = np.random.default_rng([_SEED, n_items, number])
            shares.append(sum(called_different(kind, rng) for _ in range(studies)) / studies)
        click.echo(f"{n_items} | {np.mean(shares):.1%} | {max(shares):.1%}")


if __name__ == "__main__":
    main()
