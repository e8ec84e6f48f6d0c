"""Differences between two conditions of frames drawn where models differ: bias and coverage.

The answers are choices, ratings (1 to 7) and logarithms of reading times. Each study draws 40 of
400 frames (ten nouns, ten verbs, four places), one by one or in pairs that exchange words; 40
people, who differ in level and effect, answer each of them in one of two conditions (two lists).
Effects vary over frames and are larger where models differ: on a fifth of the frames, or (*graded*)
on all in various degrees. The truth is the difference over all 400 frames and all people, and the
mean in the first condition. Every twenty studies have other frames.
"""

import random
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from analysis.data.inclusion import COLUMNS, weigh_frames
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.contrasts import cell_means, contrasts
from experiment.design.exchanges import pair_frames
from experiment.design.frames import index_materials
from experiment.design.separating import Inclusion, compute_inclusion, draw_frames
from experiment.records import Item, Kind
from experiment.studies.study import Study

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_Rng = np.random.Generator
_SLOTS = {"noun": 10, "verb": 10, "place": 4}
NAMES = [
    " ".join(f"{slot}={slot}{number}" for slot, number in zip(_SLOTS, numbers, strict=True))
    for numbers in product(*map(range, _SLOTS.values()))
]
_PLACE = pd.Index(NAMES)
_STUDIES_OF_FRAMES = 20
_PEOPLE = 40
_WEIGHTS = {"difference": {"first": 1.0, "second": -1.0}}
# Of each measure: the standard deviations of people's levels, of their effects, and of answers.
_SPREAD = {"choices": (0.6, 0.4, 0.0), "ratings": (0.7, 0.3, 1.2), "reading times": (0.3, 0.1, 0.4)}
# The frames' mean and SD, their smallest mean effect, and how much it grows by models' difference.
_FRAMES = {
    "choices": (1.2, 0.7, 0.3, 0.8),
    "ratings": (4.0, 0.7, 0.3, 0.6),
    "reading times": (6.0, 0.2, 0.05, 0.15),
}


def _make_study() -> tuple[Study, list[Item]]:
    """Return a study that draws 40 of the frames, and its items."""
    study = Study(
        folder=Path("none"),
        study={"name": "compared", "title": "Compared", "version": "1", "language": "en"},
        materials={"grammar": "none.toml"},
        constructions=[{"name": "all", "title": "All"}],
        design={"lists": 2, "participants_per_list": 20, "trials_per_list": 40, "separate": "",
                "squares": [{"templates": ["all"], "frames": 40}]},
        exclusion=[],
        simulation={"mix": {"accurate": 1.0}},
    )  # fmt: skip
    items = [
        Item(f"{name} {condition}", Kind.TARGET, "all", condition, "all", "", name, "", "a", "b")
        for name in NAMES
        for condition in ("first", "second")
    ]
    return study, items


STUDY, ITEMS = _make_study()
INDEX = index_materials(ITEMS)


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames in two conditions, and how people answer them.

    Attributes:
        measure: ``choices``, ``ratings`` or ``reading times``.
        differences: Shape ``(frames,)``: how much the models differ.
        level: Shape ``(frames,)``: an average person's mean of both conditions, in logits, points
            or log milliseconds.
        effect: Shape ``(frames,)``: the first condition minus the second.
    """

    measure: str
    differences: Floats
    level: Floats
    effect: Floats

    def means(self) -> Floats:
        """Return the mean of each condition over all frames and people, of shape ``(2,)``."""
        level_sd, effect_sd, noise = _SPREAD[self.measure]
        people_sd = np.sqrt(level_sd**2 + effect_sd**2 / 4)
        at = np.stack([self.level + self.effect / 2, self.level - self.effect / 2])
        if self.measure == "choices":
            nodes, weights = np.polynomial.hermite_e.hermegauss(40)
            of_frames = expit(at[..., None] + people_sd * nodes) @ weights / weights.sum()
        elif self.measure == "ratings":
            above = (at[..., None] - np.arange(1.5, 7)) / np.hypot(people_sd, noise)
            of_frames = 1 + ndtr(above).sum(axis=-1)
        else:
            of_frames = at
        return np.asarray(of_frames.mean(axis=1))

    def answer(self, frame: Codes, person: Codes, first: NDArray[np.bool_], rng: _Rng) -> Floats:
        """Return the answers of people to frames in the first or the second condition."""
        level_sd, effect_sd, noise = _SPREAD[self.measure]
        effect = self.effect[frame] + rng.normal(0, effect_sd, _PEOPLE)[person]
        at = self.level[frame] + rng.normal(0, level_sd, _PEOPLE)[person]
        at += np.where(first, 0.5, -0.5) * effect
        if self.measure == "choices":
            return (rng.random(len(at)) < expit(at)).astype(float)
        values = at + rng.normal(0, noise, len(at))
        return np.clip(np.round(values), 1, 7) if self.measure == "ratings" else values

    def include(self, seed: int, *, in_pairs: bool) -> tuple[list[Inclusion], pd.DataFrame]:
        """Return the frames that could be drawn, and each one's weight by its name."""
        differences = {"all": dict(zip(NAMES, self.differences.tolist(), strict=True))}
        pairs = pair_frames(STUDY.design, INDEX, seed) if in_pairs else None
        rows = compute_inclusion(STUDY, differences, ["a", "b"], 0.25, pairs)
        return rows, weigh_frames(rows).set_index("frame")[[*COLUMNS]]


def make_frames(measure: str, rng: _Rng, *, graded: bool) -> Frames:
    """Return 400 frames with larger effects where models differ: on a fifth of them, or on all."""
    n = len(NAMES)
    differences = rng.gamma(1, 1, n) if graded else (rng.permutation(n) < n / 5).astype(float)
    middle, sd, least, growth = _FRAMES[measure]
    effect = rng.normal(least, sd / 2, n) + growth * differences
    return Frames(measure, differences, rng.normal(middle, sd, n), effect)


def draw_answers(
    frames: Frames, included: tuple[list[Inclusion], pd.DataFrame], rng: _Rng
) -> pd.DataFrame:
    """Return the answers of one study, as ``contrasts`` and ``people_accuracy`` take them."""
    rows, weights = included
    chosen = draw_frames(rows, random.Random(int(rng.integers(2**62))))
    rng.shuffle(chosen)
    number, person = np.tile(np.arange(len(chosen)), _PEOPLE), np.repeat(range(_PEOPLE), 40)
    first = (number + person) % 2 == 0
    frame = _PLACE.get_indexer(chosen)[number]
    drawn = weights.loc[chosen].iloc[number].reset_index(drop=True)
    value = frames.answer(frame, person, first, rng)
    return drawn.assign(
        participant=person, unit=frame, frame=frame, item_id=2 * frame + first, value=value,
        chose_good=value, cell=np.where(first, "first", "second"),
    )  # fmt: skip


def _compare(answers: pd.DataFrame, means: Floats, measure: str) -> tuple[float, ...]:
    """Return the unweighted difference, and the errors of both estimates and if they cover."""
    row, truth = contrasts(answers, "value", _WEIGHTS).iloc[0], means[0] - means[1]
    first = (answers["cell"] == "first").to_numpy()
    if measure == "choices":
        mean = people_accuracy(answers[first], ["cell"]).rename(columns={"accuracy": "mean"})
    else:
        mean = cell_means(answers[first], "value", ["cell"])
    [mean_row] = mean.to_dict("records")
    return (
        answers["value"][first].mean() - answers["value"][~first].mean(),
        row["estimate"] - truth,
        row["low"] <= truth <= row["high"],
        mean_row["mean"] - means[0],
        mean_row["low"] <= means[0] <= mean_row["high"],
    )


def print_conditions(n_studies: int, seed: int) -> float:
    """Print the table; return the largest distance of a coverage from 95%."""
    print(
        "\n| Difference of | Frames drawn | Models differ on | Truth | Unweighted | Weighted: bias "
        "| Coverage | One condition: bias | Coverage |\n"
        "|---|---|---|---:|---:|---:|---:|---:|---:|"
    )
    coverages = []
    cells = enumerate(product(_SPREAD, (False, True), (False, True)))
    for number, (measure, in_pairs, graded) in cells:
        rng = np.random.default_rng([seed, 20, number])
        rows, truths = [], []
        for study in range(n_studies):
            if study % _STUDIES_OF_FRAMES == 0:
                frames = make_frames(measure, rng, graded=graded)
                means, included = frames.means(), frames.include(0, in_pairs=False)
            if in_pairs:
                included = frames.include(int(rng.integers(2**31)), in_pairs=True)
            rows.append(_compare(draw_answers(frames, included, rng), means, measure))
            truths.append(means[0] - means[1])
        plain, bias, covered, mean_bias, mean_covered = np.mean(np.array(rows, float), axis=0)
        coverages += [covered, mean_covered]
        print(
            f"| {measure} | {'in pairs' if in_pairs else 'one by one'} | "
            f"{'all, graded' if graded else '20%'} | {np.mean(truths):.3f} | {plain:.3f} | "
            f"{bias:+.4f} | {100 * covered:.1f} % | "
            f"{mean_bias:+.4f} | {100 * mean_covered:.1f} % |",
            flush=True,
        )
    return max(abs(covered - 0.95) for covered in coverages)
