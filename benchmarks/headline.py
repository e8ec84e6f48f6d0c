"""How often the report's first sentence is wrong: thirty constructed situations.

``python -m benchmarks.headline --studies 200`` draws so many studies of each situation, from people
and items that vary, and holds the sentence against the truth. Better or worse is wrong where the
truth is no difference or the other one; the same is wrong where the truth lies beyond the margin.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
import pandas as pd
from scipy.special import expit, logit

from analysis.report.verdict import Verdict, verdict
from analysis.statistics.paired import people_against_models

MARGIN = 0.1
_MOST = 0.05
_SEED = 35
# Gauss and Hermite's points: the mean of a logistic curve over a normal variable.
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True, slots=True)
class Situation:
    """A study that could be.

    Attributes:
        name: What it is about.
        people: The true share of expected choices in each construction.
        model: The same of the model.
        n_people: How many people.
        n_items: Items of each construction.
        sd_person: How people differ, in logits.
        sd_item: How items differ for people, in logits.
        shared: Whether the items that are hard for people are those on which the model errs.
        each: Items of a construction that one person judges; all where there are fewer.
    """

    name: str
    people: tuple[float, ...]
    model: tuple[float, ...]
    n_people: int = 24
    n_items: int = 24
    sd_person: float = 0.6
    sd_item: float = 0.8
    shared: bool = False
    each: int = 12

    @property
    def difference(self) -> float:
        """People's true share minus the model's."""
        return float(np.mean(self.people) - np.mean(self.model))


def _situations() -> Iterator[Situation]:
    pairs = {
        "no difference": ((0.85, 0.75), (0.85, 0.75)),
        "within the margin": ((0.88, 0.80), (0.84, 0.76)),
        "at the margin": ((0.90, 0.80), (0.80, 0.70)),
        "worse": ((0.92, 0.88), (0.70, 0.66)),
        "better": ((0.75, 0.65), (0.90, 0.88)),
        "better here, worse there": ((0.95, 0.60), (0.60, 0.95)),
    }
    kinds: dict[str, dict[str, object]] = {
        "usual": {},
        "few people": {"n_people": 12},
        "items differ much": {"sd_item": 1.6, "n_items": 32},
        "hard items shared": {"shared": True, "sd_item": 1.2},
        "few trials each": {"each": 4, "n_people": 40},
    }
    for pair, (people, model) in pairs.items():
        for kind, changed in kinds.items():
            yield Situation(f"{pair}, {kind}", people, model, **changed)  # type: ignore[arg-type]


SITUATIONS = tuple(_situations())


def _centre(share: float, sd: float) -> float:
    """Return the logit whose logistic curve, over a normal variable, has the mean ``share``."""
    low, high = logit(share) - 10, logit(share) + 10
    for _ in range(60):
        middle = (low + high) / 2
        mean = float(_WEIGHTS @ expit(middle + sd * _POINTS) / _WEIGHTS.sum())
        low, high = (middle, high) if mean < share else (low, middle)
    return float((low + high) / 2)


def draw(situation: Situation, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the judgments and the model's decisions of one study of a situation."""
    judgments, decisions = [], []
    person = rng.normal(0, situation.sd_person, situation.n_people)
    spread = float(np.hypot(situation.sd_person, situation.sd_item))
    for number, (share, models) in enumerate(zip(situation.people, situation.model, strict=True)):
        name = "abcdef"[number]
        n = situation.n_items
        item = rng.normal(size=n)
        chosen = expit(_centre(share, spread) + person[:, None] + situation.sd_item * item)
        right = rng.random(chosen.shape) < chosen
        seen = np.argsort(rng.random(chosen.shape), axis=1)[:, : situation.each]
        who = np.repeat(np.arange(situation.n_people), seen.shape[1])
        which = seen.ravel()
        ids = np.array([f"{name}-{one}" for one in range(n)])
        judgments.append(
            pd.DataFrame(
                {
                    "participant": who.astype(str),
                    "item_id": ids[which],
                    "construction": name,
                    "chose_good": right[who, which],
                }
            )
        )
        # By the same items' ease, or by luck of its own.
        ease = item if situation.shared else rng.normal(size=n)
        correct = rng.random(n) < expit(_centre(models, 1.5) + 1.5 * ease)
        decisions.append(
            pd.DataFrame({"item_id": ids, "construction": name, "correct": correct, "tie": False})
        )
    return pd.concat(judgments, ignore_index=True), pd.concat(decisions, ignore_index=True)


def said(situation: Situation, rng: np.random.Generator) -> Verdict:
    """Return what the sentence says of one study."""
    judgments, decisions = draw(situation, rng)
    judged = decisions[decisions["item_id"].isin(judgments["item_id"])]
    found = people_against_models(judgments, {"model": judged}, ["construction"], MARGIN)
    return verdict(found[found["construction"] == ""].iloc[0].to_dict())


def is_wrong(situation: Situation, rng: np.random.Generator) -> bool:
    """Return whether the sentence of one study says what is not true."""
    truth, told = situation.difference, said(situation, rng)
    return (
        (told is Verdict.WORSE and truth <= 0)
        or (told is Verdict.BETTER and truth >= 0)
        or (told is Verdict.SAME and abs(truth) >= MARGIN - 1e-9)
    )


@click.command(help=__doc__)
@click.option("--studies", default=200, show_default=True, help="Studies of each situation.")
def main(studies: int) -> None:
    """Print for each situation how often the sentence is wrong."""
    total = 0
    for number, situation in enumerate(SITUATIONS):
        rng = np.random.default_rng([_SEED, number])
        wrong = sum(is_wrong(situation, rng) for _ in range(studies))
        total += wrong
        click.echo(f"{wrong / studies:6.1%}  {situation.difference:+.2f}  {situation.name}")
    share = total / (studies * len(SITUATIONS))
    click.echo(f"{share:6.1%}  of all {studies * len(SITUATIONS):,} (at most {_MOST:.0%})")


if __name__ == "__main__":
    main()
