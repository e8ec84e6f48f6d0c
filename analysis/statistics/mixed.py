"""Mixed logistic regression with crossed random effects of participants and items.

Fitted by GPBoost with Laplace's approximation to the likelihood. Baayen, R. H., Davidson, D. J. &
Bates, D. M. (2008). Mixed-effects modeling with crossed random effects for subjects and items.
Journal of Memory and Language, 59(4), 390-412. Sigrist, F. (2022). Gaussian process boosting.
Journal of Machine Learning Research, 23, 1-46.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import formulaic
import gpboost
import numpy as np
import pandas as pd
from formulaic.errors import FormulaicError
from scipy.sparse import coo_array, csc_array, eye_array
from scipy.sparse.linalg import splu
from scipy.special import expit
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.statistics.accuracy import PEOPLE
from analysis.statistics.resample import LEVEL, Floats, codes

# How people's constructions differ from the first, then what each model adds within each.
DEFAULT_FORMULA = "construction + construction:judge"
_COLUMNS = ("judge", "construction", "condition", "item_id")
_UNBOUNDED_LOGITS = 10.0
# With fewer participants or items their variance cannot be told.
FEWEST_CLUSTERS = 10
# Beyond, crossed effects take hours; a formula given by hand is tried all the same.
MOST_ROWS = 100_000
# The optimiser may stop at a line search that finds no step: it then starts again from there.
_OPTIMISER = {"max_num_restarts_lbfgs": 3}


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A fitted model.

    Attributes:
        formula: The fixed effects.
        coefficients: One row per fixed effect: term, estimate (logits), std_error, low, high
            (Wald, 95%), z, p (two-sided), separated (the likelihood has no maximum there, because
            the term's judgments were all right or all wrong: no number to trust).
        sd_participant: The standard deviation of participants, in logits.
        sd_item: The same of items.
        n_rows: Choices fitted, models' among them.
        left_out: "judge, construction" where a judge was always right or always wrong.
    """

    formula: str
    coefficients: pd.DataFrame
    sd_participant: float
    sd_item: float
    n_rows: int
    left_out: tuple[str, ...]


def choices(judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return people's judgments and models' decisions on the judged items as rows of one table.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        decisions: Each model's decisions, as ``analysis.join.decisions`` gives them.

    Returns:
        chose_good (0 or 1), judge (categorical, people first), participant (a model is its own),
        item_id, construction, condition, and of people also list, position, kind, good_side, rt_ms.
    """
    of_people = ["participant", "list", "position", "kind", "good_side", "rt_ms", "chose_good"]
    people = judgments[[*_COLUMNS[1:], *of_people]].assign(judge=PEOPLE)
    frames = [people]
    items = people["item_id"].unique()
    for model, frame in decisions.items():
        chosen = frame.loc[frame["item_id"].isin(items), [*_COLUMNS[1:], "correct"]]
        chosen = chosen.rename(columns={"correct": "chose_good"})
        frames.append(chosen.assign(judge=model, participant=model))
    rows = pd.concat(frames, ignore_index=True)
    return rows.assign(
        chose_good=rows["chose_good"].astype(float),
        judge=pd.Categorical(rows["judge"], [PEOPLE, *decisions]),
    )


def fit(rows: pd.DataFrame, formula: str | None = None) -> MixedModel:
    """Fit ``logit P(expected version) = fixed effects + participant + item``.

    Both random effects are normal intercepts. Participants' are of people alone: a model is one
    judge, whom its fixed effects describe. Items' are shared by all judges. With the default
    formula, cells of judge and construction without variation are left out, for their
    coefficients would be infinite.

    Args:
        rows: One row per choice, as ``choices`` gives them.
        formula: The fixed effects, as Wilkinson and Rogers write them, over the columns of
            ``rows``; by default the judges' difference within each construction.

    Raises:
        AnalysisError: The formula cannot be read, names a column that is not there, has no
            intercept or more terms than the choices can tell apart, or the fit fails.
    """
    left_out: tuple[str, ...] = ()
    if formula is None:
        rows, left_out = _varying(rows)
    design = _design(rows, formula or DEFAULT_FORMULA)
    fitted = _fitted(rows, design)
    return MixedModel(
        formula=formula or DEFAULT_FORMULA,
        coefficients=_described(fitted, list(design.columns)),
        sd_participant=fitted.sd_participant,
        sd_item=fitted.sd_item,
        n_rows=len(rows),
        left_out=left_out,
    )


def too_few(rows: pd.DataFrame) -> bool:
    """Return whether the choices are of too few participants or items for the usual model."""
    people, _ = _varying(rows)
    people = people[people["judge"] == PEOPLE]
    return min(people["participant"].nunique(), people["item_id"].nunique()) < FEWEST_CLUSTERS


def _varying(rows: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out cells where a judge is always right or wrong, and constructions without people."""
    cell = [rows["judge"], rows["construction"]]
    mean = rows["chose_good"].groupby(cell, observed=True).transform("mean")
    varies = (mean > 0) & (mean < 1)
    constant = rows.loc[~varies, ["judge", "construction"]].drop_duplicates()
    # Without people in a construction its models have nothing to differ from.
    with_people = set(rows.loc[varies & (rows["judge"] == PEOPLE), "construction"])
    kept = rows[varies & rows["construction"].isin(with_people)]
    return kept, tuple(f"{judge}, {name}" for judge, name in constant.itertuples(index=False))


def _design(rows: pd.DataFrame, formula: str) -> pd.DataFrame:
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
    # A cell that was left out, or that nobody filled, leaves a column of zeros.
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
            f"choices tell {rank} apart",
            where="the mixed model",
            remedy="Leave out terms that follow from others, such as a condition's construction",
        )
    return design


@dataclass(frozen=True, slots=True)
class _Fitted:
    estimate: Floats
    std_error: Floats
    sd_participant: float
    sd_item: float


def _fitted(rows: pd.DataFrame, design: pd.DataFrame) -> _Fitted:
    person, n_people = codes(rows["participant"])
    item, n_items = codes(rows["item_id"])
    # A random slope of being a person, without an intercept, keeps models free of the effect.
    is_person = (rows["judge"] == PEOPLE).to_numpy(dtype=float)
    x = design.to_numpy()
    model = gpboost.GPModel(
        group_data=np.column_stack([person, item]),
        group_rand_coef_data=is_person[:, None],
        ind_effect_group_rand_coef=[1],
        drop_intercept_group_rand_effect=[True, False],
        likelihood="bernoulli_logit",
        num_parallel_threads=1,
    )
    try:
        model.fit(y=rows["chose_good"].to_numpy(), X=x, params=_OPTIMISER)
    except gpboost.basic.GPBoostError as error:
        raise AnalysisError(
            f"the fit failed: {error}", where="the mixed model", remedy="Try fewer terms"
        ) from error
    estimate = model.get_coef().loc["Param."].to_numpy(dtype=float)
    variances = model.get_cov_pars().iloc[0]
    sd_item, sd_participant = (float(np.sqrt(variances.iloc[place])) for place in (0, 1))
    effects = model.predict_training_data_random_effects().to_numpy().sum(axis=1)
    scales = np.concatenate([sd_participant * is_person, np.full(len(rows), sd_item)])
    number = np.arange(len(rows))
    z = coo_array(
        (scales, (np.tile(number, 2), np.concatenate([person, n_people + item]))),
        (len(rows), n_people + n_items),
    ).tocsc()
    return _Fitted(estimate, _std_errors(x, z, x @ estimate + effects), sd_participant, sd_item)


def _std_errors(x: Floats, z: csc_array, logits: Floats) -> Floats:
    """Return the coefficients' standard errors from the curvature of the penalised likelihood.

    ``inverse(X'WX - X'WZ inverse(Z'WZ + I) Z'WX)`` with ``W = p (1 - p)``, the variances taken as
    known. Bates, D., Maechler, M., Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects
    models using lme4. Journal of Statistical Software, 67(1), section 5. (GPBoost's own
    approximation of the Hessian is not always positive definite.)

    Args:
        x: Shape ``(n, terms)``: the fixed effects' columns.
        z: Shape ``(n, participants + items)``: the random effects' columns, each times its
            standard deviation.
        logits: Shape ``(n,)``: the fitted logits, random effects included.
    """
    chance = expit(logits)
    weight = chance * (1 - chance)
    weighted = x * weight[:, None]
    random = (z.T @ (z * weight[:, None])).tocsc() + eye_array(z.shape[1], format="csc")
    mixed = z.T @ weighted
    information = x.T @ weighted - mixed.T @ splu(random).solve(mixed)
    found: Floats = np.sqrt(np.diag(np.linalg.inv(information)))
    return found


def _described(fitted: _Fitted, terms: list[str]) -> pd.DataFrame:
    estimate, error = fitted.estimate, fitted.std_error
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
            "separated": (np.abs(estimate) > _UNBOUNDED_LOGITS) | (error > _UNBOUNDED_LOGITS),
        }
    )


def readable(term: str) -> str:
    """Return a term without the notation of its coding: ``judge[T.lstm]`` as ``judge lstm``."""
    return re.sub(r"\[(?:T\.)?([^\]]*)\]", r" \1", term).replace(":", ", ")
