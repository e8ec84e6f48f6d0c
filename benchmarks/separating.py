"""Frames drawn where models differ: bias and coverage of what is weighted, and participants saved.

Usage: python benchmarks/separating.py [--studies 2000] [--searched 600] [--compared 500] [--seed 1]

The first table is of 400 frames with fixed difficulties (normal in logits), harder where two models
differ. Each study draws 80 of them in two lists, and 40 people, who differ as well, answer one list
each. *Graded*: the models' scores differ on every frame, in various degrees. The truth is the
accuracy over all 400 frames and all people, and that minus a model's.

The second table is of differences between two conditions (``separating_conditions``).

The third table is of two models of equal accuracy that differ on a share d of 8,000 frames; people
choose what the first chooses in 56% of answers there. Each person answers 40 of 400 drawn frames,
ten lists. The number of people that find the nearer model with 90% power is searched by simulation,
for frames drawn at random and for frames that separate the models.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

sys.path.append(str(Path(__file__).parents[1]))
from analysis.data.inclusion import PAIR, PROBABILITY, STRATUM, WEIGHT
from analysis.findings.separating import nearer_to_people
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.paired import people_against_models
from benchmarks.separating_conditions import print_conditions
from experiment.design.separating import draw_by_probability, inclusion_probabilities

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
SHARES = (0.05, 0.1, 0.2, 0.4)
_POWER = 0.9


@dataclass(frozen=True, slots=True)
class Population:
    """The frames that could be drawn.

    Attributes:
        differences: Shape ``(frames,)``: how much the models differ.
        probability: Shape ``(frames,)``: of being drawn.
        logit: Shape ``(frames,)``: of an average person's right answer.
        models: Two models' choices, of shape ``(2, frames)``: whether they are right.
        people_sd: The standard deviation of people, in logits.
    """

    differences: Floats
    probability: Floats
    logit: Floats
    models: NDArray[np.bool_]
    people_sd: float


def draw_study(
    population: Population, n_lists: int, n_people: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the judgments of one study, as ``analysis.data.join.judgments`` has them."""
    drawn = _draw(population, random.Random(int(rng.integers(2**62))))
    rng.shuffle(drawn)
    person = np.repeat(np.arange(n_people), len(drawn) // n_lists)
    lists = [drawn[number::n_lists] for number in range(n_lists)]
    frame = np.concatenate([lists[number % n_lists] for number in range(n_people)])
    ability = rng.normal(0, population.people_sd, n_people)
    right = rng.random(len(frame)) < expit(population.logit[frame] + ability[person])
    probability = population.probability[frame]
    return pd.DataFrame(
        {
            "participant": person,
            "item_id": frame,
            "frame": frame,
            "construction": "all",
            "chose_good": right,
            WEIGHT: population.probability.mean() / probability,
            PROBABILITY: probability,
            STRATUM: (population.differences[frame] > 0).astype(np.intp),
            PAIR: 0,
        }
    )


def _draw(population: Population, rng: random.Random) -> Codes:
    drawn = []
    for differ in (True, False):
        index = np.flatnonzero((population.differences > 0) == differ)
        chosen = draw_by_probability(population.probability[index].tolist(), rng)
        drawn.append(index[chosen])
    return np.concatenate(drawn)


def _decide(population: Population, model: int) -> pd.DataFrame:
    frames = np.arange(len(population.logit))
    return pd.DataFrame({"item_id": frames, "correct": population.models[model]})


def make_population(
    share: float, random_share: float, rng: np.random.Generator, *, graded: bool
) -> Population:
    """Return 400 frames, of which the models differ on a share; graded, they differ on all."""
    n = 400
    differs = np.arange(n) < round(share * n)
    differences = rng.gamma(1, 1, n) if graded else differs.astype(float)
    logit = rng.normal(2.0, 0.8, n) - (0.6 * differences if graded else 1.5 * differs)
    first = rng.random(n) < 0.8
    models = np.stack([first, first ^ differs])
    probability = np.array(inclusion_probabilities(differences.tolist(), 80, random_share))
    return Population(differences, probability, logit, models, 0.5)


def _true_accuracy(population: Population) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    of_people = expit(population.logit[:, None] + population.people_sd * nodes)
    return float((of_people @ weights / weights.sum()).mean())


def _print_bias(n_studies: int, seed: int) -> float:
    print(
        "| Models differ on | Random share | Truth | Unweighted | Weighted: bias | Coverage "
        "| People - model: bias | Coverage |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    coverages = []
    cells: Sequence[tuple[float, float, bool]] = (
        *((share, 0.25, False) for share in SHARES),
        (0.2, 0.5, False),
        (1.0, 0.25, True),
        (1.0, 0.5, True),
    )
    for number, (share, random_share, graded) in enumerate(cells):
        rng = np.random.default_rng([seed, number])
        population = make_population(share, random_share, rng, graded=graded)
        truth = _true_accuracy(population)
        gap = truth - population.models[0].mean()
        decisions, rows = {"model": _decide(population, 0)}, []
        for _ in range(n_studies):
            judged = draw_study(population, 2, 40, rng)
            accuracy = people_accuracy(judged, ["construction"]).iloc[0]
            minus = people_against_models(judged, decisions, ["construction"]).iloc[0]
            rows.append(
                (
                    judged["chose_good"].mean(),
                    accuracy["accuracy"] - truth,
                    accuracy["low"] <= truth <= accuracy["high"],
                    minus["difference"] - gap,
                    minus["low"] <= gap <= minus["high"],
                )
            )
        plain, bias, covered, gap_bias, gap_covered = np.mean(np.array(rows, float), axis=0)
        coverages += [covered, gap_covered]
        name = "all, graded" if graded else f"{share:.0%}"
        print(
            f"| {name} | {random_share} | {truth:.3f} | {plain:.3f} | {bias:+.4f} | "
            f"{100 * covered:.1f} % | {gap_bias:+.4f} | {100 * gap_covered:.1f} % |",
            flush=True,
        )
    return max(abs(covered - 0.95) for covered in coverages)


def _make_equal_models(share: float, random_share: float | None) -> Population:
    """Return 8,000 frames on which people agree with the first model in 56% where they differ."""
    n, n_drawn = 8000, 400
    differs = np.arange(n) < round(share * n)
    first = np.where(differs, np.arange(n) % 2 == 0, True)
    differences = differs.astype(float)
    drawn_by = differences if random_share is not None else np.zeros(n)
    probability = np.array(inclusion_probabilities(drawn_by.tolist(), n_drawn, random_share or 1.0))
    logit = np.where(differs, np.where(first, 1, -1) * np.log(0.56 / 0.44), 2.0)
    return Population(drawn_by, probability, logit, np.stack([first, first ^ differs]), 0.2)


def _find_people(population: Population, guess: float, n_studies: int, seed: list[int]) -> float:
    """Return the participants for 90% power: a probit line of power on the root of their number."""
    decisions = {name: _decide(population, model) for model, name in enumerate("ab")}
    rng, roots, powers = np.random.default_rng(seed), [], []
    for factor in (0.6, 0.8, 1.0, 1.2, 1.4):
        n_people = max(10, round(guess * factor))
        found = 0
        for _ in range(n_studies):
            row = nearer_to_people(draw_study(population, 10, n_people, rng), decisions).iloc[0]
            found += row["low"] > 0
        roots.append(np.sqrt(n_people))
        powers.append(norm.ppf((found + 0.5) / (n_studies + 1)))
    slope, constant = np.polyfit(roots, powers, 1)
    return float(((norm.ppf(_POWER) - constant) / slope) ** 2)


def _print_savings(n_studies: int, seed: int) -> None:
    print(
        "\n| Models differ on | Random share | At random | Separating | Share | Bound |\n"
        "|---|---:|---:|---:|---:|---:|"
    )
    # Answers for 90% power, if they were independent.
    answers = (norm.ppf(0.975) + norm.ppf(_POWER)) ** 2 * (1 - 0.12**2) / 0.12**2 / 40
    for number, share in enumerate(SHARES):
        at_random = _make_equal_models(share, None)
        alike = _find_people(at_random, answers / share, n_studies, [seed, 10, number])
        for random_share in (0.25, 0.5) if share == 0.1 else (0.25,):
            informative = (1 - random_share) + random_share * share
            population = _make_equal_models(share, random_share)
            people = _find_people(
                population, answers / informative, n_studies, [seed, 11, number, int(share * 100)]
            )
            print(
                f"| {share:.0%} | {random_share} | {alike:.0f} | {people:.0f} | "
                f"{people / alike:.3f} | {share / informative:.3f} |",
                flush=True,
            )


def main() -> None:
    """Print the tables; the exit status is 1 if an interval covers less than 93% or above 97%.

    Four standard errors are allowed for.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=2_000, help="in each cell of coverage")
    parser.add_argument("--searched", type=int, default=600, help="for each number of people")
    parser.add_argument("--compared", type=int, default=500, help="in each cell of conditions")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    checks = [
        (_print_bias(options.studies, options.seed), options.studies),
        (print_conditions(options.compared, options.seed), options.compared),
    ]
    _print_savings(options.searched, options.seed)
    failed = any(distance > 0.02 + 4 * np.sqrt(0.05 * 0.95 / n) for distance, n in checks)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
