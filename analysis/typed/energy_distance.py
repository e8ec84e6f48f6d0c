"""The distance by meaning between people's answers to a text and a model's: the energy distance.

Answers are vectors of length 1, and two answers are as far apart as their vectors (Euclid): 0 if
they are the same, 1.41 if their vectors are at right angles, 2 if they are opposite. For an answer
X of people and Y of the model, X' and Y' further answers of the same source, the energy distance is

    2 E|X - Y| - E|X - X'| - E|Y - Y'|,

which is 0 only if both sources have the same distribution over vectors, else positive (Székely, G.
J. & Rizzo, M. L., 2013, Energy statistics: A class of statistics based on distances, Journal of
Statistical Planning and Inference 143, 1249-1272). Means over pairs of different people estimate it
without bias, so that it can come out below 0 (Gretton, A. et al., 2012, A kernel two-sample test,
Journal of Machine Learning Research 13, 723-773, Lemma 6, with the kernel -|x - y|).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """The distances of a source's answers to a text.

    Attributes:
        people: Who answered: people, or a model's sessions.
        between: The mean distance of an answer from one of the other source.
        among: That of two different people's answers.
        between_without: Shape ``(people,)``: ``between`` without each.
        among_without: Shape ``(people,)``: ``among`` without each.
    """

    people: tuple[str, ...]
    between: float
    among: float
    between_without: Floats
    among_without: Floats

    def changes(self) -> Floats:
        """Return by how much the energy distance changes without each."""
        without = 2 * self.between_without - self.among_without
        return np.asarray(without - (2 * self.between - self.among), np.float64)


def measure_distances(vectors: Floats) -> Floats:
    """Return how far vectors of length 1 are apart, of shape ``(answers, answers)``."""
    distances = np.sqrt(np.maximum(2 - 2 * vectors @ vectors.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances, np.float64)


def list_by_person(rows: pd.DataFrame, answers: pd.Index) -> tuple[tuple[str, ...], Floats]:
    """Return the people, and the weight of each answer of each: shape ``(people, answers)``.

    Args:
        rows: person, answer and weight.
        answers: The answers, each once.
    """
    number, people = pd.factorize(rows["person"])
    weights = np.zeros((len(people), len(answers)))
    place = answers.get_indexer(pd.Index(rows["answer"]))
    np.add.at(weights, (number, place), rows["weight"].to_numpy(float))
    return tuple(map(str, people)), weights


def measure_sample(
    people: tuple[str, ...], weights: Floats, other: Floats, distances: Floats
) -> Sample:
    """Return the distances of a source's answers from another's, and among themselves.

    Args:
        people: Who answered, at least three.
        weights: Shape ``(people, answers)``: how often each gave each answer.
        other: Shape ``(answers,)``: the other source's share of each answer.
        distances: What ``measure_distances`` returns.
    """
    n_own = weights.sum(1)
    n_all = n_own.sum()
    to_other = weights @ (distances @ other)
    to_all = (weights @ distances) @ weights.sum(0)
    # Several answers of one person are no pair of different people.
    to_own = ((weights @ distances) * weights).sum(1)
    total, n_pairs = to_all.sum() - to_own.sum(), n_all**2 - (n_own**2).sum()
    n_left = n_pairs - 2 * n_own * (n_all - n_own)
    return Sample(
        people,
        float(to_other.sum() / n_all),
        float(total / n_pairs),
        (to_other.sum() - to_other) / (n_all - n_own),
        (total - 2 * (to_all - to_own)) / n_left,
    )
