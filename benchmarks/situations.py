"""Thirty constructed situations of humans and a model, for ``benchmarks/headline.py``."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

# Gauss and Hermite's points: the mean of a logistic curve over a normal variable.
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


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


def centre(share: float, sd: float) -> float:
    """Return the logit whose logistic curve, over a normal variable, has the mean ``share``."""
    low, high = logit(share) - 10, logit(share) + 10
    for _ in range(60):
        middle = (low + high) / 2
        mean = float(WEIGHTS @ expit(middle + sd * POINTS) / WEIGHTS.sum())
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
        chosen = expit(centre(share, spread) + person[:, None] + situation.sd_item * item)
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
        correct = rng.random(n) < expit(centre(models, 1.5) + 1.5 * ease)
        decisions.append(
            pd.DataFrame({"item_id": ids, "construction": name, "correct": correct, "tie": False})
        )
    return pd.concat(judgments, ignore_index=True), pd.concat(decisions, ignore_index=True)
