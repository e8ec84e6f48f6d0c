"""Mixed logistic regression with crossed random effects of participants, items and slopes.

Fitted by GPBoost with Laplace's approximation to the likelihood. Baayen, R. H., Davidson, D. J. &
Bates, D. M. (2008). Mixed-effects modeling with crossed random effects for subjects and items.
Journal of Memory and Language, 59(4), 390-412. Sigrist, F. (2022). Gaussian process boosting.
Journal of Machine Learning Research, 23, 1-46.
"""

import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO

import formulaic
import gpboost
import numpy as np
import pandas as pd
from formulaic.errors import FormulaicError
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import coo_array, csc_array, diags_array, eye_array, hstack
from scipy.sparse.linalg import splu
from scipy.special import expit
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.statistics.mixed_model_rows import (
    SINGULAR,
    Effects,
    bounded_rows,
    default_terms,
    parse_formula,
    reorder_constructions,
    row_effects,
)
from analysis.statistics.resample import LEVEL, Floats, codes

# Participants' constructions against the first, then each model's difference within each.
DEFAULT_FORMULA = "construction + construction:judge"
_UNBOUNDED_LOGITS = 10.0
# Above this, crossed effects take hours; an explicit formula is fitted anyway.
MOST_ROWS = 100_000
# A larger correlation is indistinguishable from a perfect one.
_NEAR_PERFECT = 0.99
_ANGLES = (-1.5, 1.5)
# If the optimiser's line search fails, it restarts as long as this improves the likelihood.
_OPTIMISER = {"max_num_restarts_lbfgs": 20}
# GPBoost prints this if the line search failed but a restart improved nothing.
_CONVERGED_AFTER_RESTARTS = "has thus likely converged"


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A fitted logistic mixed model.

    Attributes:
        formula: The fixed and random effects, in lme4's notation.
        coefficients: One row per fixed effect: term, estimate (logits), std_error, low, high
            (Wald, 95%), z, p (two-sided), penalised (the term's judgments were all right or all
            wrong, so that its estimate is finite only with a penalty).
        random: One row per random effect: effect, sd (logits), correlation (with the preceding
            effect, if estimated), singular (no variance, or a perfect correlation).
        n_rows: The number of fitted choices, including models'.
        fixed: Shape ``(n_rows, terms)``: the fixed effects' columns.
        varying: The random effects of the rows.
        covariance: Shape ``(terms, terms)``: of the coefficients.
        loadings: Shape ``(effects, effects)``: the random effects are the loadings times
            independent standard normal variables.
        is_converged: Whether the optimiser reached the highest likelihood.
    """

    formula: str
    coefficients: pd.DataFrame
    random: pd.DataFrame
    n_rows: int
    fixed: Floats
    varying: Effects
    covariance: Floats
    loadings: Floats
    is_converged: bool

    def sd(self, effect: str) -> float:
        """Return an effect's standard deviation in logits; 0 if the model lacks the effect."""
        sds = self.random.loc[self.random["effect"] == effect, "sd"]
        return float(sds.iloc[0]) if len(sds) else 0.0


def fit(rows: pd.DataFrame, formula: str | None = None) -> MixedModel:
    """Fit ``logit P(expected version) = fixed effects + random effects``.

    All random effects are normal, and independent except for pairs that a formula correlates.
    Participant effects apply to human participants only: a model is a single judge, described by
    its fixed effects. Item effects are shared by all judges. A coefficient whose judgments are all
    right or all wrong has no finite value by likelihood alone: it gets a log-F(2,2) prior,
    equivalent to one additional right and one additional wrong judgment (Greenland, S. &
    Mansournia, M. A. (2015). Penalization, bias reduction, and default priors in logistic and
    related categorical and survival regressions. Statistics in Medicine, 34(23), 3133-3143).

    Args:
        rows: One row per choice, from ``mixed_model_rows.choice_rows``.
        formula: Fixed and random effects in lme4's notation, over the columns of ``rows``; by
            default the judges' differences within each construction. Without random effects, those
            of ``mixed_model_rows.default_terms`` are added.

    Raises:
        AnalysisError: The formula cannot be read, names a missing column, has no intercept or more
            terms than the choices can identify, or the fit fails.
    """
    fixed, random = parse_formula(formula or DEFAULT_FORMULA)
    usual_cells = fixed == DEFAULT_FORMULA
    rows = reorder_constructions(rows) if usual_cells else rows
    random = random or default_terms(rows)
    design, random_effects = _make_design_matrix(rows, fixed), row_effects(rows, random)
    bounded = bounded_rows(rows) if usual_cells else np.ones(len(rows), bool)
    fitted = _fit_in_steps(rows, design, random_effects, bounded)
    unbounded = (np.abs(fitted.estimate) > _UNBOUNDED_LOGITS) | (
        np.diag(fitted.covariance) > _UNBOUNDED_LOGITS**2
    )
    if not usual_cells and unbounded.any():
        bounded = (design.to_numpy()[:, unbounded] == 0).all(axis=1)
        fitted = _fit_in_steps(rows, design, random_effects, bounded)
    return MixedModel(
        formula=" + ".join([fixed, *map(str, random)]),
        coefficients=_coefficient_table(fitted, list(design.columns)),
        random=_random_effect_table(random_effects, fitted.loadings),
        n_rows=len(rows),
        fixed=design.to_numpy(),
        varying=random_effects,
        covariance=fitted.covariance,
        loadings=fitted.loadings,
        is_converged=fitted.is_converged,
    )


def _random_effect_table(varying: Effects, loadings: Floats) -> pd.DataFrame:
    covariance = loadings @ loadings.T
    sd = np.sqrt(np.diag(covariance))
    correlation = np.full(len(sd), np.nan)
    for first, second in varying.pairs:
        product = sd[first] * sd[second]
        correlation[second] = covariance[first, second] / product if product else 0.0
    singular = (sd < SINGULAR) | (np.abs(correlation) > _NEAR_PERFECT)
    return pd.DataFrame(
        {"effect": varying.names, "sd": sd, "correlation": correlation, "singular": singular}
    )


def _make_design_matrix(rows: pd.DataFrame, formula: str) -> pd.DataFrame:
    try:
        matrix = formulaic.model_matrix(formula, rows, na_action="raise")
    except (FormulaicError, ValueError) as error:
        raise AnalysisError(
            f'the formula "{formula}" cannot be used: {" ".join(str(error).split())}',
            where="the mixed model",
            expected=f"fixed effects over the columns {', '.join(rows.columns)}",
            remedy=f'For example "{DEFAULT_FORMULA}" or "judge + construction"',
        ) from error
    design = pd.DataFrame(matrix).astype(float)
    # A cell that is left out, or has no choices, gives a column of zeros.
    design = design.loc[:, (design != 0).any()]
    if "Intercept" not in design:
        raise AnalysisError(
            f'the formula "{formula}" has no intercept, without which the fit does not converge',
            where="the mixed model",
            remedy='Leave out "0 +" or "- 1": the terms then say how far groups are from the first',
        )
    rank = int(np.linalg.matrix_rank(design.to_numpy()))
    if not len(rows) or rank < design.shape[1]:
        raise AnalysisError(
            f'the formula "{formula}" has {design.shape[1]} terms, of which the {len(rows)} '
            f"choices can estimate only {rank}",
            where="the mixed model",
            remedy="Remove terms that follow from others, such as a condition's construction",
        )
    return design


@dataclass(frozen=True, slots=True)
class _Fitted:
    estimate: Floats
    covariance: Floats
    loadings: Floats
    penalised: NDArray[np.bool_]
    is_converged: bool


def _fit_in_steps(
    rows: pd.DataFrame, design: pd.DataFrame, varying: Effects, bounded: NDArray[np.bool_]
) -> _Fitted:
    """Fit the bounded choices, then the other coefficients with the former kept constant."""
    x, y = design.to_numpy(), rows["chose_good"].to_numpy(dtype=float)
    free = (x[bounded] == 0).all(axis=0)
    if np.linalg.matrix_rank(x[bounded][:, ~free]) < (~free).sum():
        raise AnalysisError(
            "all choices of some terms are right, or all are wrong, and the other choices "
            "cannot estimate the remaining terms",
            where="the mixed model",
            remedy="Try fewer terms",
        )
    estimate = np.zeros(x.shape[1])
    part = Effects(
        varying.names,
        tuple(codes(level[bounded])[0] for level in varying.groups),
        varying.values[bounded],
        varying.pairs,
    )
    estimate[~free], loadings, logits, is_converged = _fit_correlated(
        x[bounded][:, ~free], y[bounded], part
    )
    z = random_columns(varying.groups, varying.values @ loadings)
    penalised, prior = np.zeros(len(free), bool), np.zeros(len(free))
    if free.any():
        penalised = free & _separated_columns(x, y)
        estimate[free], logits = penalised_mode(x[:, free], z, y, x @ estimate, penalised[free])
        chance = expit(estimate[penalised])
        prior[penalised] = 2 * chance * (1 - chance)
    covariance = penalised_covariance(x, z, logits, prior)
    return _Fitted(estimate, covariance, loadings, penalised, is_converged)


def _separated_columns(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Return the columns that end a row's terms and whose choices are all right or all wrong."""
    last = x.shape[1] - 1 - np.argmax(x[:, ::-1] != 0, axis=1)
    n_right, n_judged = (
        np.bincount(last, values, minlength=x.shape[1]) for values in (y, np.ones(len(y)))
    )
    separated: NDArray[np.bool_] = (n_judged > 0) & ((n_right == 0) | (n_right == n_judged))
    return separated


def _fit_correlated(x: Floats, y: Floats, varying: Effects) -> tuple[Floats, Floats, Floats, bool]:
    """Return coefficients, the random effects' loadings, fitted logits, and whether it converged.

    GPBoost's effects are independent. Two correlated effects are represented by an independent pair
    of which the first also affects the second's column; the size of this effect is optimised for
    each pair by maximum likelihood. (This is Cholesky's factor of their covariance, as in Bates et
    al. 2015.)
    """

    def mixing(angles: Floats) -> Floats:
        mixing_matrix = np.eye(len(varying.names))
        for (first, second), angle in zip(varying.pairs, angles, strict=True):
            size = np.sqrt((varying.values[:, [first, second]] ** 2).mean(axis=0))
            mixing_matrix[second, first] = np.tan(angle) * size[0] / size[1]
        return mixing_matrix

    def fit_at(angles: Floats) -> tuple[Floats, Floats, Floats, float, bool]:
        values = varying.values @ mixing(angles)
        return _fit_with_gpboost(x, y, Effects(varying.names, varying.groups, values))

    number = len(varying.pairs)
    angles = np.zeros(number)
    if number:
        start = np.vstack([angles, np.eye(number) * 0.3])
        options = {"initial_simplex": start, "xatol": 0.01, "fatol": 1e-3}
        angles = minimize(
            lambda at: fit_at(at)[3],
            angles,
            method="Nelder-Mead",
            bounds=[_ANGLES] * number,
            options=options,
        ).x
    estimate, sds, logits, _, is_converged = fit_at(angles)
    return estimate, mixing(angles) * sds, logits, is_converged


def _fit_with_gpboost(
    x: Floats, y: Floats, varying: Effects
) -> tuple[Floats, Floats, Floats, float, bool]:
    """Return coefficients, random effects' SDs, logits, -log-likelihood, whether it converged."""
    number = range(len(varying.groups))
    model = gpboost.GPModel(
        group_data=np.column_stack(varying.groups),
        group_rand_coef_data=varying.values,
        ind_effect_group_rand_coef=[effect + 1 for effect in number],
        drop_intercept_group_rand_effect=[True for _ in number],
        likelihood="bernoulli_logit",
        num_parallel_threads=1,
    )
    warnings = StringIO()
    try:
        with redirect_stdout(warnings):
            model.fit(y=y, X=x, params=_OPTIMISER)
    except gpboost.basic.GPBoostError as error:
        raise AnalysisError(
            f"the fit failed: {error}", where="the mixed model", remedy="Try fewer terms"
        ) from error
    estimate = model.get_coef().loc["Param."].to_numpy(dtype=float)
    sds = np.sqrt(model.get_cov_pars().iloc[0].to_numpy(dtype=float))
    random_effects = model.predict_training_data_random_effects().to_numpy()
    logits = x @ estimate + (random_effects * varying.values).sum(axis=1)
    is_converged = all(
        _CONVERGED_AFTER_RESTARTS in warning for warning in warnings.getvalue().splitlines()
    )
    return estimate, sds, logits, float(model.get_current_neg_log_likelihood()), is_converged


def _coefficient_table(fitted: _Fitted, terms: list[str]) -> pd.DataFrame:
    estimate, error = fitted.estimate, np.sqrt(np.diag(fitted.covariance))
    z = estimate / error
    half = norm.ppf((1 + LEVEL) / 2) * error
    return pd.DataFrame(
        {
            "term": [readable(term) for term in terms],
            "estimate": estimate,
            "std_error": error,
            "low": estimate - half,
            "high": estimate + half,
            "z": z,
            "p": 2 * norm.sf(np.abs(z)),
            "penalised": fitted.penalised,
        }
    )


def readable(term: str) -> str:
    """Return a term without its coding notation: ``judge[T.lstm]`` as ``judge lstm``."""
    return re.sub(r"\[(?:T\.)?([^\]]*)\]", r" \1", term).replace(":", ", ")


_MOST_STEPS, _LARGEST_STEP, _SMALL = 100, 3.0, 1e-8


def random_columns(levels: Sequence[NDArray[np.intp]], values: Floats) -> csc_array:
    """Return the random effects' columns, one for each level of each effect.

    Args:
        levels: Each effect's levels of the rows, from 0.
        values: Shape ``(n, effects)``: the effect's value in each row, times its standard
            deviation.
    """
    sizes = [int(level.max()) + 1 for level in levels]
    starts = np.cumsum([0, *sizes])
    columns = np.concatenate([level + start for level, start in zip(levels, starts, strict=False)])
    row = np.tile(np.arange(len(values)), len(levels))
    return coo_array((values.T.ravel(), (row, columns)), (len(values), starts[-1])).tocsc()


def penalised_mode(
    x: Floats, z: csc_array, y: Floats, offset: Floats, penalised: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the coefficients and logits that maximise the penalised likelihood.

    A penalised coefficient ``b`` adds ``b - 2 log(1 + exp b)``: the logarithm of a log-F(2,2)
    density, which is the likelihood of one right and one wrong judgment.

    Args:
        x: Shape ``(n, terms)``: the columns of the coefficients to estimate.
        z: Shape ``(n, levels)``: from ``random_columns``.
        y: Shape ``(n,)``: 1 for a right choice, 0 for a wrong one.
        offset: Shape ``(n,)``: the known part of the logits.
        penalised: Shape ``(terms,)``: whether each coefficient is penalised.
    """
    number = x.shape[1]
    columns = hstack([csc_array(x), z]).tocsc()
    parameters = np.zeros(columns.shape[1])
    for _ in range(_MOST_STEPS):
        chance = expit(offset + columns @ parameters)
        prior = np.where(penalised, expit(parameters[:number]), 0.5)
        slope = columns.T @ (y - chance)
        slope[:number] += 1 - 2 * prior
        slope[number:] -= parameters[number:]
        prior_curvature = np.concatenate(
            [
                np.where(penalised, 2 * prior * (1 - prior), _SMALL),
                np.ones(len(parameters) - number),
            ]
        )
        weight = chance * (1 - chance)
        curvature = columns.T @ diags_array(weight) @ columns + diags_array(prior_curvature)
        step = splu(curvature.tocsc()).solve(slope)
        largest = float(np.abs(step).max())
        parameters += step * min(1.0, _LARGEST_STEP / max(largest, _SMALL))
        if largest < _SMALL:
            break
    return parameters[:number], offset + columns @ parameters


def penalised_covariance(x: Floats, z: csc_array, logits: Floats, prior: Floats) -> Floats:
    """Return the coefficients' covariance from the curvature of the penalised likelihood.

    ``inverse(X'WX - X'WZ inverse(Z'WZ + I) Z'WX)`` with ``W = p (1 - p)``, with the variances taken
    as known. (GPBoost's own approximation of the Hessian is not always positive definite.)

    Args:
        x: Shape ``(n, terms)``: the fixed effects' columns.
        z: Shape ``(n, levels)``: the random effects' columns, each times its standard deviation.
        logits: Shape ``(n,)``: the fitted logits, random effects included.
        prior: Shape ``(terms,)``: the curvature of each coefficient's penalty.
    """
    chance = expit(logits)
    weight = chance * (1 - chance)
    weighted = x * weight[:, None]
    random = (z.T @ (z * weight[:, None])).tocsc() + eye_array(z.shape[1], format="csc")
    mixed = z.T @ weighted
    information = x.T @ weighted - mixed.T @ splu(random).solve(mixed) + np.diag(prior)
    inverse: Floats = np.linalg.inv(information)
    return inverse
