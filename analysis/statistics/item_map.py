"""Items, people and models on one scale: the one-parameter logistic model with random effects.

``logit P(person p is right on item i) = ability_p - difficulty_i``, with normal abilities and
difficulties: the Rasch model as lme4 fits it, ``right ~ 1 + (1 | person) + (1 | item)``. De Boeck,
P., Bakker, M., Zwitser, R., Nivard, M., Hofman, A., Tuerlinckx, F. & Partchev, I. (2011). The
estimation of item response models with the lmer function from the lme4 package in R. Journal of
Statistical Software, 39(12). A model is no draw from the people: its ability is found from its own
answers, given the difficulties that people's answers show.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from analysis.statistics.crossed import optimum
from analysis.statistics.laplace import RandomTerm
from analysis.statistics.paired import add_adjusted_p
from analysis.statistics.resample import LEVEL, Floats, codes

_STEPS = 100
_CONVERGED = 1e-10
_LARGEST_STEP = 2.0


@dataclass(frozen=True, slots=True)
class ItemMap:
    """A fitted item map, in logits; the average person has the ability 0.

    Attributes:
        items: One row per item: item_id, difficulty (the ability at which half of the answers are
            right), std_error, low, high (95%), n_judgments, share (right answers), infit, p_fit (of
            answers as noisy as the model says; two-sided), p_holm.
        judges: One row per person and model: judge, is_model, ability, std_error, low, high, n,
            share, infit, p_fit, p_holm.
        sd_people: The standard deviation of abilities.
        sd_items: The standard deviation of difficulties.
        mean_difficulty: Their mean.
        loglik: The log-likelihood by Laplace's approximation.
    """

    items: pd.DataFrame
    judges: pd.DataFrame
    sd_people: float
    sd_items: float
    mean_difficulty: float
    loglik: float


def fit_item_map(judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]) -> ItemMap:
    """Fit the model to people's answers, and place each model.

    Args:
        judgments: One row per judgment: participant, item_id, chose_good; some right, some wrong.
        decisions: Each model's decisions, with item_id and correct; they cover every judged item.
    """
    right = judgments["chose_good"].to_numpy(dtype=float)
    people, person = np.unique(judgments["participant"].astype(str), return_inverse=True)
    item, _ = codes(judgments["item_id"])
    names = judgments["item_id"].drop_duplicates().astype(str).to_numpy()
    ones = np.ones((len(right), 1))
    terms = [RandomTerm("person", person, ("1",), ones), RandomTerm("item", item, ("1",), ones)]
    fitted = optimum(right.astype(int), pd.DataFrame(index=judgments.index), terms)
    (ability, of_ability), (easiness, of_easiness) = fitted.find_effects()
    mean = float(fitted.thresholds[0])
    difficulty, difficulty_variance = mean - easiness[:, 0], of_easiness[:, 0]
    chance = expit(ability[person, 0] - difficulty[item])
    items = pd.DataFrame({"item_id": names}).assign(
        **_estimates("difficulty", difficulty, difficulty_variance),
        **_fit_of(right, chance, item),
    )
    judges = pd.DataFrame({"judge": people, "is_model": False}).assign(
        **_estimates("ability", ability[:, 0], of_ability[:, 0]), **_fit_of(right, chance, person)
    )
    rows = [add_adjusted_p(judges.rename(columns={"p_fit": "p"}))]
    for name, frame in decisions.items():
        correct = frame.set_index(frame["item_id"].astype(str))["correct"].reindex(names)
        rows.append(_place_model(name, correct.to_numpy(float), difficulty, difficulty_variance))
    sds = fitted.random["sd"].tolist()
    return ItemMap(
        items=add_adjusted_p(items.rename(columns={"p_fit": "p"})).drop(columns="p_fdr"),
        judges=pd.concat(rows, ignore_index=True).drop(columns="p_fdr"),
        sd_people=sds[0],
        sd_items=sds[1],
        mean_difficulty=mean,
        loglik=fitted.loglik,
    )


def _estimates(name: str, values: Floats, variances: Floats) -> dict[str, Floats]:
    error = np.sqrt(variances)
    half = norm.ppf((1 + LEVEL) / 2) * error
    return {name: values, "std_error": error, "low": values - half, "high": values + half}


def _fit_of(
    right: Floats, chance: Floats, unit: "np.ndarray[tuple[int], np.dtype[np.intp]]"
) -> dict[str, Floats]:
    """Return each unit's infit and its p: the squared residuals relative to those expected.

    Wright, B. D. & Masters, G. N. (1982). Rating scale analysis. MESA Press, chapter 5.
    """
    variance = chance * (1 - chance)
    expected = np.bincount(unit, variance)
    residual = np.bincount(unit, (right - chance) ** 2)
    # The variance of a squared residual is p (1 - p) (1 - 2 p)^2.
    error = np.sqrt(np.bincount(unit, variance * (1 - 2 * chance) ** 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, (residual - expected) / error, 0.0)
    n = np.bincount(unit).astype(float)
    return {
        "n_judgments": n,
        "share": np.bincount(unit, right) / n,
        "infit": residual / expected,
        "p_fit": 2 * norm.sf(np.abs(z)),
    }


def _place_model(name: str, correct: Floats, difficulty: Floats, variance: Floats) -> pd.DataFrame:
    """Return the ability of a model, given the items' difficulties.

    Its likelihood is multiplied by that of one right and one wrong answer to an item of average
    difficulty (log-F(2,2), Greenland and Mansournia, 2015), so that it is finite if all answers are
    right. Its error includes that of the difficulties.
    """
    centre = difficulty.mean()
    at = centre
    for _ in range(_STEPS):
        chance, prior = expit(at - difficulty), expit(at - centre)
        slope = float((correct - chance).sum() + 1 - 2 * prior)
        weight = chance * (1 - chance)
        curvature = float(weight.sum() + 2 * prior * (1 - prior))
        step = float(np.clip(slope / curvature, -_LARGEST_STEP, _LARGEST_STEP))
        at += step
        if abs(step) < _CONVERGED:
            break
    shares = weight / curvature
    of_ability = np.array([1 / curvature + float(shares**2 @ variance)])
    fit = _fit_of(correct, chance, np.zeros(len(correct), np.intp))
    row = pd.DataFrame({"judge": [name], "is_model": True}).assign(
        **_estimates("ability", np.array([at]), of_ability), **fit
    )
    return add_adjusted_p(row.rename(columns={"p_fit": "p"}))
