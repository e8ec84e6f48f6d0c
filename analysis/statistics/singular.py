"""What is done where a mixed model is singular: a rule, so that nobody chooses after the fact.

First the fit has every intercept, slope and correlation that the design allows. If it is singular
(something varies by nothing, or a correlation is perfect), the correlations are left out; if it
still is, the slopes that vary by nothing. Intercepts stay. Bates, D., Kliegl, R., Vasishth, S. &
Baayen, H. (2015). Parsimonious mixed models. arXiv:1506.04967.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.statistics.crossed import SINGULAR, CrossedModel, Optimum, optimum
from analysis.statistics.laplace import RandomTerm

AS_DECLARED = ""
NO_CORRELATIONS = "the full model is singular, so correlations are left out"
NO_SLOPES = "the full model is singular, so correlations and slopes that vary by nothing are out"


def fit_by_rule(
    answers: NDArray[np.generic], fixed: pd.DataFrame, terms: Sequence[RandomTerm]
) -> tuple[CrossedModel, str]:
    """Return the largest model that is not singular, and what was left out for it, in words.

    The last step's model may be singular still, where an intercept varies by nothing.

    Args:
        answers: As ``crossed.optimum`` takes them.
        fixed: The same.
        terms: The random effects of the full model.

    Raises:
        ValueError: All answers are the same.
    """
    full = optimum(answers, fixed, terms)
    if not full.singular or all(len(term.effects) == 1 for term in terms):
        return full.model(), AS_DECLARED
    apart = [replace(term, correlated=False) for term in terms]
    simpler = optimum(answers, fixed, apart)
    if not simpler.singular:
        return simpler.model(), NO_CORRELATIONS
    kept = [_without_nothing(term, simpler) for term in apart]
    return optimum(answers, fixed, kept).model(), NO_SLOPES


def _without_nothing(term: RandomTerm, fitted: Optimum) -> RandomTerm:
    rows = fitted.random[fitted.random["unit"] == term.unit]
    moved = rows["sd"].to_numpy() * np.sqrt((term.columns**2).mean(axis=0))
    kept = np.flatnonzero((moved >= SINGULAR) | (np.arange(len(moved)) == 0))
    effects = tuple(term.effects[place] for place in kept)
    return replace(term, effects=effects, columns=term.columns[:, kept])
