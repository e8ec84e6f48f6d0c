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
from analysis.statistics.item_fit import NODES, count_answers, infit, predict_from_others
from analysis.statistics.laplace import RandomTerm
from analysis.statistics.paired import add_adjusted_p
from analysis.statistics.resample import LEVEL, Floats

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
    right = judgments["chose_good"].to_numpy(dtype=int)
    people, person = np.unique(judgments["participant"].astype(str), return_inverse=True)
    item, names = pd.factorize(judgments["item_id"].astype(str))
    ones = np.ones((len(right), 1))
    terms = [RandomTerm("person", person, ("1",), ones), RandomTerm("item", item, ("1",), ones)]
    fitted = optimum(right, pd.DataFrame(index=judgments.index), terms)
    (ability, of_ability), (easiness, of_easiness) = fitted.find_effects()
    mean, (sd_people, sd_items) = float(fitted.thresholds[0]), fitted.random["sd"].tolist()
    difficulty, difficulty_variance = mean - easiness[:, 0], of_easiness[:, 0]
    n_right, n_wrong = count_answers(person, item, right)
    of_items = predict_from_others(n_right, n_wrong, sd_people * NODES - difficulty[:, None])
    of_people = predict_from_others(n_right.T, n_wrong.T, ability - mean + sd_items * NODES)
    items = pd.DataFrame({"item_id": names}).assign(
        **_estimates("difficulty", difficulty, difficulty_variance),
        **infit(n_right, n_wrong, of_items),
    )
    judges = pd.DataFrame({"judge": people, "is_model": False}).assign(
        **_estimates("ability", ability[:, 0], of_ability[:, 0]),
        **infit(n_right.T, n_wrong.T, of_people),
    )
    rows = [add_adjusted_p(judges.rename(columns={"p_fit": "p"}))]
    same_slope = np.ones(len(names))
    for name, frame in decisions.items():
        of_item = frame.set_index(frame["item_id"].astype(str))["correct"]
        correct = of_item.reindex(names).to_numpy(float)
        rows.append(place_model(name, correct, difficulty, difficulty_variance, same_slope))
    return ItemMap(
        items=add_adjusted_p(items.rename(columns={"p_fit": "p"})).drop(columns="p_fdr"),
        judges=pd.concat(rows, ignore_index=True).drop(columns="p_fdr"),
        sd_people=sd_people,
        sd_items=sd_items,
        mean_difficulty=mean,
        loglik=fitted.loglik,
    )


def _estimates(name: str, values: Floats, variances: Floats) -> dict[str, Floats]:
    error = np.sqrt(variances)
    half = norm.ppf((1 + LEVEL) / 2) * error
    return {name: values, "std_error": error, "low": values - half, "high": values + half}


def place_model(
    name: str, correct: Floats, difficulty: Floats, variance: Floats, discrimination: Floats
) -> pd.DataFrame:
    """Return the ability of a model, given the items' difficulties.

    Its likelihood is multiplied by that of one right and one wrong answer to an average item
    (log-F(2,2), Greenland and Mansournia, 2015), so that it is finite if all answers are right. Its
    error includes that of the difficulties.

    Args:
        name: The model's name.
        correct: Whether the model is right on each item.
        difficulty: The items' difficulties.
        variance: Their variances.
        discrimination: The items' slopes.
    """
    centre, steepness = difficulty.mean(), discrimination.mean()
    at = centre
    for _ in range(_STEPS):
        chance, prior = expit(discrimination * (at - difficulty)), expit(steepness * (at - centre))
        slope = float(discrimination @ (correct - chance) + steepness * (1 - 2 * prior))
        weight = discrimination**2 * chance * (1 - chance)
        curvature = float(weight.sum() + 2 * steepness**2 * prior * (1 - prior))
        step = float(np.clip(slope / curvature, -_LARGEST_STEP, _LARGEST_STEP))
        at += step
        if abs(step) < _CONVERGED:
            break
    shares = weight / curvature
    of_ability = np.array([1 / curvature + float(shares**2 @ variance)])
    row = pd.DataFrame({"judge": [name], "is_model": True}).assign(
        **_estimates("ability", np.array([at]), of_ability),
        **infit(correct[:, None], 1 - correct[:, None], chance[:, None]),
    )
    return add_adjusted_p(row.rename(columns={"p_fit": "p"}))
