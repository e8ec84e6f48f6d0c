"""Items that differ in discrimination: the two-parameter logistic model, next to the one-parameter.

``logit P(person p is right on item i) = discrimination_i (ability_p - difficulty_i)``, with
standard normal abilities. The one-parameter model has the same discrimination for all items. Both
are fitted by marginal maximum likelihood: Bock, R. D. & Aitkin, M. (1981). Marginal maximum
likelihood estimation of item parameters: application of an EM algorithm. Psychometrika, 46(4),
443-459. The likelihood is maximised by its gradient instead of by EM, which takes fewer steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp
from scipy.stats import chi2, norm

from analysis.statistics.item_fit import (
    LOG_WEIGHTS,
    NODES,
    count_answers,
    infit,
    predict_from_others,
)
from analysis.statistics.item_map import place_model
from analysis.statistics.resample import LEVEL, Floats

_STOP = {"ftol": 1e-13, "gtol": 1e-6, "maxiter": 1000}


@dataclass(frozen=True, slots=True)
class TwoParameters:
    """The two-parameter model, and how much better it fits than the one-parameter model.

    Abilities and difficulties are in standard deviations of people's abilities; the average person
    has the ability 0.

    Attributes:
        items: One row per item that some get right and some wrong: item_id, discrimination (logits
            per standard deviation) and difficulty, each with ``_error``, ``_low`` and ``_high``
            (Wald, 95%), n_judgments, share (right answers), infit and p_fit.
        judges: One row per person and model: judge, is_model, ability, std_error, low, high.
        left_out: The other items.
        common_discrimination: That of all items in the one-parameter model.
        loglik_one: The log-likelihood of the one-parameter model.
        loglik_two: That of the two-parameter model.
        chi_squared: Twice their difference.
        df: How many parameters more the two-parameter model has.
        p: The p value of the likelihood ratio test of equal discriminations.
    """

    items: pd.DataFrame
    judges: pd.DataFrame
    left_out: list[str]
    common_discrimination: float
    loglik_one: float
    loglik_two: float
    chi_squared: float
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class _Answers:
    """How often each person was right and wrong on each item, shape ``(people, items)``."""

    people: list[str]
    items: list[str]
    right: Floats
    wrong: Floats

    def find_abilities(self, intercept: Floats, slope: Floats) -> tuple[Floats, Floats, Floats]:
        """Return each person's log-likelihood, the posterior of the ability, and items' chances.

        Shapes: ``(people,)``, ``(people, abilities)`` and ``(items, abilities)``.
        """
        logits = intercept[:, None] + slope[:, None] * NODES
        joint = self.right @ log_expit(logits) + self.wrong @ log_expit(-logits) + LOG_WEIGHTS
        loglik = logsumexp(joint, axis=1)
        return loglik, np.exp(joint - loglik[:, None]), expit(logits)


def has_both_answers(judgments: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each item whether some judgments of it are right and some are wrong."""
    shares = judgments.groupby(judgments["item_id"].astype(str), sort=False)["chose_good"].mean()
    return (shares > 0) & (shares < 1)


def fit_two_parameters(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]
) -> TwoParameters:
    """Fit both models to people's answers, and place each language model.

    Args:
        judgments: One row per judgment: participant, item_id, chose_good; two items at least that
            some get right and some wrong.
        decisions: Each model's decisions, with item_id and correct; they cover every judged item.
    """
    is_mixed = has_both_answers(judgments)
    answers = _tabulate(judgments, is_mixed.index[is_mixed].tolist())
    n_items = len(answers.items)
    judged = answers.right + answers.wrong
    share = answers.right.sum(0) / judged.sum(0)
    one, loglik_one = _maximise(
        lambda at: _one_parameter(answers, at[:-1], at[-1]), np.append(logit(share), 1.0)
    )
    start = np.append(one[:-1], np.full(n_items, abs(one[-1])))
    two, loglik_two = _maximise(lambda at: _two_parameter(answers, *np.split(at, 2)), start)
    intercept, slope = np.split(two, 2)
    items = _describe_items(answers.items, intercept, slope, _covariance(answers, intercept, slope))
    _, posterior, _ = answers.find_abilities(intercept, slope)
    logits = intercept[:, None] + slope[:, None] * NODES
    chance = predict_from_others(answers.right, answers.wrong, logits)
    chi_squared = 2 * (loglik_two - loglik_one)
    return TwoParameters(
        items=items.assign(**infit(answers.right, answers.wrong, chance)),
        judges=pd.concat(
            [_place_people(answers.people, posterior), *_place_models(items, decisions)],
            ignore_index=True,
        ),
        left_out=is_mixed.index[~is_mixed].tolist(),
        common_discrimination=abs(float(one[-1])),
        loglik_one=loglik_one,
        loglik_two=loglik_two,
        chi_squared=chi_squared,
        df=n_items - 1,
        p=float(chi2.sf(chi_squared, n_items - 1)),
    )


def _tabulate(judgments: pd.DataFrame, names: list[str]) -> _Answers:
    kept = judgments[judgments["item_id"].astype(str).isin(names)]
    people, person = np.unique(kept["participant"].astype(str), return_inverse=True)
    item = pd.Index(names).get_indexer(pd.Index(kept["item_id"].astype(str)))
    right = kept["chose_good"].to_numpy(dtype=int)
    return _Answers(people.tolist(), names, *count_answers(person, item, right))


def _two_parameter(answers: _Answers, intercept: Floats, slope: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood of items ``intercept + slope * ability``, and its gradient.

    By Fisher's identity, the gradient is that of the answers' likelihood at known abilities,
    averaged over what the answers say of each person's ability.
    """
    loglik, posterior, chance = answers.find_abilities(intercept, slope)
    n_right, n_wrong = answers.right.T @ posterior, answers.wrong.T @ posterior
    residual = n_right - (n_right + n_wrong) * chance
    return float(loglik.sum()), np.append(residual.sum(1), residual @ NODES)


def _one_parameter(answers: _Answers, intercept: Floats, slope: float) -> tuple[float, Floats]:
    """Return the log-likelihood of items with the same slope, and its gradient."""
    loglik, gradient = _two_parameter(answers, intercept, np.full(len(intercept), slope))
    by_intercept, by_slope = np.split(gradient, 2)
    return loglik, np.append(by_intercept, by_slope.sum())


def _maximise(
    loglik: Callable[[Floats], tuple[float, Floats]], start: Floats
) -> tuple[Floats, float]:
    """Return the place and the value of the maximum of a log-likelihood with its gradient."""

    def negative(at: Floats) -> tuple[float, Floats]:
        value, gradient = loglik(at)
        return -value, -gradient

    result = minimize(negative, start, jac=True, method="L-BFGS-B", options=_STOP)
    return np.asarray(result.x, dtype=float), -float(result.fun)


def _covariance(answers: _Answers, intercept: Floats, slope: Floats) -> Floats:
    """Return the inverse of the observed information: that of known abilities, minus what is lost.

    Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm.
    Journal of the Royal Statistical Society B, 44(2), 226-233.
    """
    n_items = len(intercept)
    _, posterior, chance = answers.find_abilities(intercept, slope)
    judged = answers.right + answers.wrong
    weight = judged.T @ posterior * chance * (1 - chance)
    information = np.block(
        [[np.diag(weight @ NODES**i) for i in powers] for powers in ((0, 1), (1, 2))]
    )
    for person, of_person in enumerate(posterior):
        seen = np.flatnonzero(judged[person])
        score = answers.right[person, seen, None] - judged[person, seen, None] * chance[seen]
        score = np.concatenate([score, score * NODES])
        score -= (score @ of_person)[:, None]
        places = np.append(seen, n_items + seen)
        information[np.ix_(places, places)] -= (score * of_person) @ score.T
    return np.asarray(np.linalg.pinv(information, hermitian=True), dtype=float)


def _describe_items(
    names: list[str], intercept: Floats, slope: Floats, covariance: Floats
) -> pd.DataFrame:
    """Return each item's discrimination and difficulty, by the delta method."""
    n_items = len(names)
    variances = np.diag(covariance)
    by_intercept, by_slope = -1 / slope, intercept / slope**2
    of_difficulty = (
        by_intercept**2 * variances[:n_items]
        + by_slope**2 * variances[n_items:]
        + 2 * by_intercept * by_slope * np.diag(covariance[:n_items, n_items:])
    )
    half = norm.ppf((1 + LEVEL) / 2)
    columns: dict[str, object] = {"item_id": names}
    for name, values, variance in (
        ("discrimination", slope, variances[n_items:]),
        ("difficulty", -intercept / slope, of_difficulty),
    ):
        # Where the likelihood is flat, rounding can leave a negative variance.
        error = np.sqrt(np.where(variance > 0, variance, np.nan))
        columns |= {name: values, f"{name}_error": error, f"{name}_low": values - half * error,
                    f"{name}_high": values + half * error}  # fmt: skip
    return pd.DataFrame(columns)


def _place_people(names: list[str], posterior: Floats) -> pd.DataFrame:
    """Return the mean and the standard deviation of what the answers say of each ability."""
    ability = posterior @ NODES
    error = np.sqrt(posterior @ NODES**2 - ability**2)
    half = norm.ppf((1 + LEVEL) / 2) * error
    return pd.DataFrame({"judge": names, "is_model": False}).assign(
        ability=ability, std_error=error, low=ability - half, high=ability + half
    )


def _place_models(items: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]) -> list[pd.DataFrame]:
    variance = items["difficulty_error"].fillna(0.0).to_numpy() ** 2
    columns = ["judge", "is_model", "ability", "std_error", "low", "high"]
    placed = []
    for name, frame in decisions.items():
        of_item = frame.set_index(frame["item_id"].astype(str))["correct"]
        correct = of_item.reindex(items["item_id"]).to_numpy(float)
        difficulty, slope = items["difficulty"].to_numpy(), items["discrimination"].to_numpy()
        placed.append(place_model(name, correct, difficulty, variance, slope)[columns])
    return placed
