"""How often intervals cover where a third level repeats, such as a verb over several frames.

``python -m benchmarks.third_level --studies 300`` draws studies of four designs in which a verb is
in several frames (``repeats`` under ``[analysis]``), the truth of the contrast being 0, and prints
how often its 95% interval covers that: with the verb as a third way of clustering, and without.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics.contrasts import contrasts

WANTED = {"a - b": {"a": 1.0, "b": -1.0}}
_SEED = 35


@dataclass(frozen=True, slots=True)
class Design:
    """A design whose verbs repeat.

    Attributes:
        name: What it is about.
        verbs: How many verbs.
        each: Frames of a verb.
        people: Participants.
        within: Whether each verb is in both cells; else half of the verbs are in either.
        choices: Whether answers are right or wrong in place of ratings.
    """

    name: str
    verbs: int
    each: int
    people: int
    within: bool = False
    choices: bool = False

    def study(self, rng: np.random.Generator) -> pd.DataFrame:
        """Return the answers of one study."""
        frames = self.verbs * self.each
        person, frame = np.divmod(np.arange(self.people * frames), frames)
        verb = frame // self.each
        # Within verbs, a frame is in one cell for half of the participants.
        second = (frame + person) % 2 if self.within else verb % 2
        value = rng.normal(0, 0.5, self.people)[person]
        value += rng.normal(0, 0.4, (self.people, 2))[person, second]
        value += rng.normal(0, 1.0, self.verbs)[verb]
        value += rng.normal(0, 0.6, (self.verbs, 2))[verb, second]
        value += rng.normal(0, 0.5, frames)[frame]
        if self.choices:
            value = (value + rng.logistic(size=len(frame)) > 0).astype(float)
        else:
            value += rng.normal(size=len(frame))
        cell = np.where(second == 1, "a", "b")
        rows = {"participant": person, "unit": frame, "also": verb, "cell": cell, "rating": value}
        return pd.DataFrame(rows)


DESIGNS = (
    Design("24 verbs of two kinds, 3 frames each, ratings", 24, 3, 24),
    Design("12 verbs of two kinds, 4 frames each, ratings", 12, 4, 24),
    Design("16 verbs in both conditions, 3 frames each, ratings", 16, 3, 24, within=True),
    Design("24 verbs of two kinds, 2 frames each, choices", 24, 2, 40, choices=True),
    Design("16 verbs in both conditions, 3 frames each, choices", 16, 3, 40, True, True),
)


@click.command(help=__doc__)
@click.option("--studies", default=300, show_default=True)
def main(studies: int) -> None:
    """Print the coverage of each design, with and without the verb."""
    click.echo(f"{studies} studies of each design; a coverage of 95 % has an error of "
               f"{100 * (0.95 * 0.05 / studies) ** 0.5:.1f}")  # fmt: skip
    click.echo("design | with the verb % | without it %")
    for number, design in enumerate(DESIGNS):
        rng = np.random.default_rng([_SEED, number])
        held = np.zeros(2)
        for _ in range(studies):
            rows = design.study(rng)
            for place, own in enumerate((rows, rows.drop(columns="also"))):
                [found] = contrasts(own, "rating", WANTED).to_dict("records")
                held[place] += found["low"] <= 0 <= found["high"]
        click.echo(f"{design.name} | {100 * held[0] / studies:.1f} | {100 * held[1] / studies:.1f}")


if __name__ == "__main__":
    main()
