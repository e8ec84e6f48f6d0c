"""Do answers fit an item response model? Infit of items, people and language models.

Infit is the sum of squared residuals relative to what the model expects: Wright, B. D. & Masters,
G. N. (1982). Rating scale analysis. MESA Press, chapter 5. Abilities come from the answers to the
*other* items, and difficulties from the answers of the other people: a prediction that has seen the
answer comes too close to it, and infit would be below 1 also where the model holds.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import norm

from analysis.statistics.resample import Codes, Floats

# Evenly spaced values of a standard normal effect. Gauss-Hermite nodes lie further apart and miss
# the likelihood of a person who answered many items.
NODES = np.linspace(-6, 6, 97)
LOG_WEIGHTS = norm.logpdf(NODES) - logsumexp(norm.logpdf(NODES))
_STEPS = 50
_LARGEST_STEP = 1.0
# Infit compares answers where the model is sure with those where it is not: p is not valid if its
# predictions within a column vary less than this (standard deviation of 2 p).
_LEAST_SPREAD = 0.05


def count_answers(person: Codes, item: Codes, right: NDArray[np.generic]) -> tuple[Floats, Floats]:
    """Return how often each person was right, and how often wrong, on each item.

    Args:
        person: The person of each answer, from 0.
        item: Its item, from 0.
        right: Whether it is right.

    Returns:
        Two tables of the shape ``(people, items)``.
    """
    tables = [np.zeros((person.max() + 1, item.max() + 1)) for _ in range(2)]
    for table, value in zip(tables, (right, 1 - right), strict=True):
        np.add.at(table, (person, item), value)
    return tables[0], tables[1]


def predict_from_others(right: Floats, wrong: Floats, logits: Floats) -> Floats:
    """Return the probability of each right answer, given the person's answers to other items.

    Args:
        right: Shape ``(people, items)``: how often each person was right on each item.
        wrong: How often the person was wrong.
        logits: Shape ``(items, nodes)``: of a right answer, for people at each of ``NODES``.
    """
    when_right, when_wrong = log_expit(logits), log_expit(-logits)
    joint = right @ when_right + wrong @ when_wrong + LOG_WEIGHTS
    chance = np.empty(right.shape)
    for item, of_item in enumerate(expit(logits)):
        own = np.outer(right[:, item], when_right[item])
        own += np.outer(wrong[:, item], when_wrong[item])
        others = joint - own
        weights = np.exp(others - others.max(axis=1, keepdims=True))
        chance[:, item] = weights @ of_item / weights.sum(axis=1)
    return chance


def infit(right: Floats, wrong: Floats, chance: Floats) -> dict[str, Floats]:
    """Return n_judgments, share of right answers, infit and its p (two-sided) for each column.

    p is NaN where the predictions of a column are practically alike.

    The predictions of a column are first moved so that as many right answers are expected as there
    are, because infit is about the noise of answers, not about their number. A squared residual
    minus its expectation is ``(answer - p) (1 - 2 p)``; its variance loses what the move takes.

    Args:
        right: Shape ``(rows, columns)``: right answers.
        wrong: Wrong answers.
        chance: The predicted probability of a right answer.
    """
    n, n_right = right + wrong, right.sum(0)
    share = n_right / n.sum(0)
    is_mixed = (share > 0) & (share < 1)
    base = np.log(chance) - np.log1p(-chance)
    shift = np.zeros(len(share))
    for _ in range(_STEPS):
        moved = expit(base + shift)
        variance = n * moved * (1 - moved)
        step = (n_right - (n * moved).sum(0)) / variance.sum(0)
        shift += np.where(is_mixed, np.clip(step, -_LARGEST_STEP, _LARGEST_STEP), 0.0)
    expected = variance.sum(0)
    residual = (right * (1 - moved) ** 2 + wrong * moved**2).sum(0)
    lean = 1 - 2 * moved
    lean -= (variance * lean).sum(0) / expected
    error = np.sqrt((variance * lean**2).sum(0))
    is_alike = is_mixed & (error < _LEAST_SPREAD * np.sqrt(expected))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(is_mixed & (error > 0), (residual - expected) / error, 0.0)
    return {
        "n_judgments": n.sum(0),
        "share": share,
        "infit": np.where(is_mixed, residual / expected, np.nan),
        "p_fit": np.where(is_alike, np.nan, 2 * norm.sf(np.abs(z))),
    }
