"""Differences, main effects and interactions of any answers, as weighted sums of cell means."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.statistics.clustered import (
    several_way_variance,
    student_interval,
    student_quantile,
    two_way_variance,
)
from analysis.statistics.drawn_frames import (
    find_drawn,
    find_weights,
    weighted_deviations,
    weighted_means,
)
from analysis.statistics.paired import add_adjusted_p
from analysis.statistics.resample import LEVEL, Codes, Floats, codes
from analysis.statistics.variance_parts import contrast_variance
from analysis.statistics.withheld import CONTRAST, MEAN, too_few_units, withhold_ends

Weights = Mapping[str, float]
# Rounding errors, relative to the largest value, of a sum and of a standard error; the ridge in
# ``variance_parts`` makes the latter slightly larger.
_ROUNDING, _ROUNDING_OF_ERROR = 1e-9, 1e-7


def add_z_scores(ratings: pd.DataFrame) -> pd.DataFrame:
    """Add ``z`` to ratings: the distance from the participant's mean in the participant's SDs.

    Mean and SD cover all of the participant's ratings, including fillers. NaN for participants who
    gave every sentence the same point.
    """
    values = ratings["rating"].astype(float)
    of_person = values.groupby(ratings["participant"], observed=True)
    mean, sd = of_person.transform("mean"), of_person.transform("std")
    return ratings.assign(z=((values - mean) / sd.where(sd > 0)).to_numpy())


def cell_means(answers: pd.DataFrame, value: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean of a value in each cell, with a 95% interval.

    Args:
        answers: One row per answer, with participant and unit (repeats over conditions).
        value: The column of the value; rows without a value are left out.
        by: The columns that make a cell.

    Returns:
        The columns of ``by``, mean, low, high, sd (of single values), n_observations, n_units,
        n_participants; clustered by participant and unit.
    """
    rows = answers[answers[value].notna()]
    grouped = rows.groupby(list(by), sort=False, observed=True)
    numbers = grouped.agg(
        n_observations=(value, "size"),
        n_units=("unit", "nunique"),
        n_participants=("participant", "nunique"),
    ).reset_index()
    group = grouped.ngroup().to_numpy().astype(np.intp)
    means = clustered_means(rows, rows[value].to_numpy(dtype=float), "unit", group)
    return pd.concat([numbers[list(by)], means, numbers.drop(columns=list(by))], axis=1)


def clustered_means(answers: pd.DataFrame, values: Floats, unit: str, group: Codes) -> pd.DataFrame:
    """Return the mean of each group with a 95% interval, clustered by participant and unit.

    Args:
        answers: One row per answer.
        values: Shape ``(n,)``: their values.
        unit: The column of the units.
        group: Shape ``(n,)``: the group of each answer, from 0 without gaps.

    Returns:
        mean, low, high, sd (of single values), weighted if frames were drawn with unequal
        probabilities.
    """
    drawn, weight = find_drawn(answers), find_weights(answers)
    mean, sd = (of(values, weight, group) for of in (weighted_means, weighted_deviations))
    influence = weight / np.bincount(group, weight)[group] * (values - mean[group])
    person, units = (codes(answers[name])[0] for name in ("participant", unit))
    variance = two_way_variance(influence, person, units, group, drawn=drawn)
    half = student_quantile(variance.freedom) * np.sqrt(variance.total)
    low, high = withhold_ends(mean - half, mean + half, np.bincount(group), MEAN)
    return pd.DataFrame({"mean": mean, "low": low, "high": high, "sd": sd})


def hold_constant(
    values: Floats,
    covariates: Floats,
    cell: "pd.Series[str]",
    weights: Weights,
    counts: Floats,
) -> Floats:
    """Return values whose contrast is that of a linear regression on cells and covariates.

    The contrast of the returned values is the regression's, and their deviations are each answer's
    influence on it, so that the interval counts the uncertainty of the covariates' coefficients.

    Args:
        values: Shape ``(n,)``.
        covariates: Shape ``(n, k)``.
        cell: Each answer's cell.
        weights: The weight of every cell.
        counts: Shape ``(n,)``: the weight of each answer's frame.
    """
    cells, names = pd.factorize(cell)
    of_cell = np.array([weights[name] for name in names])
    weight = (of_cell / np.bincount(cells, counts))[cells]
    columns = np.column_stack([values, covariates])
    means = np.column_stack([weighted_means(column, counts, cells) for column in columns.T])
    centred = columns - means[cells]
    y, x = centred[:, 0], centred[:, 1:]
    inverse = np.linalg.pinv(x.T @ (counts[:, None] * x))
    slopes = inverse @ (x.T @ (counts * y))
    adjusted = values - (covariates - covariates.mean(axis=0)) @ slopes
    # The covariates' coefficients matter as far as the cells differ in their means of covariates.
    influence = (x @ (inverse @ ((counts * weight) @ covariates))) * (y - x @ slopes)
    result: Floats = adjusted - influence / weight
    return result


def contrasts(
    answers: pd.DataFrame,
    value: str,
    comparisons: Mapping[str, Weights],
    *,
    people: bool = True,
    level: float = LEVEL,
) -> pd.DataFrame:
    """Return weighted sums of cells' means, each with an interval (of 95%) and a p value.

    Effects of a participant or unit that are common to several cells cancel, in the interval too
    (``levels_off``). With a third way of clustering (``also``), the variance is the sum of Cameron,
    Gelbach and Miller; each further group of participants then costs a degree of freedom. With few
    answers (``withheld``) there is neither interval nor p. Answers to frames that were drawn with
    unequal probabilities are weighted (``drawn_frames``); with a third way, these frames count as
    drawn from an unlimited number.

    Args:
        answers: One row per answer, with cell, participant, unit, and, if known, ``also`` (a
            further repeated unit) and ``group`` (of the participants). Values of models and of
            unknown participants have no participant (missing).
        value: The column of the value; rows without a value are left out.
        comparisons: For each contrast its cells' weights, by the cells' names.
        people: Whether the values come from human participants; models' intervals are never
            withheld.
        level: The level of the intervals.

    Returns:
        contrast, estimate, low, high, p (Student's t), n_observations, n_participants, n_frames (in
        these cells), p_holm (over these contrasts); NaN if a cell has no observation or there is
        only one cluster.
    """
    rows = answers[answers[value].notna()]
    cell = rows["cell"].astype(str)
    results = [
        {"contrast": name, **_contrast_row(rows, cell, value, weights, people, level)}
        for name, weights in comparisons.items()
    ]
    names = ["contrast", "estimate", "low", "high", "p"]
    frame = pd.DataFrame(results, columns=[*names, "n_observations", "n_participants", "n_frames"])
    if frame.empty:
        return frame.assign(p_holm=[])
    return add_adjusted_p(frame).drop(columns="p_fdr")


def _contrast_row(
    rows: pd.DataFrame,
    cell: "pd.Series[str]",
    value: str,
    weights: Weights,
    people: bool,
    level: float,
) -> dict[str, float]:
    nothing = dict.fromkeys(("estimate", "low", "high", "p"), float("nan"))
    inside = cell.isin(weights)
    observations, (cells, names) = rows[inside], pd.factorize(cell[inside])
    numbers = {
        "n_observations": float(len(observations)),
        "n_participants": float(observations["participant"].nunique()),
        "n_frames": float(observations["unit"].nunique()),
    }
    if len(names) < len(weights):
        return nothing | numbers
    values = observations[value].to_numpy(dtype=float)
    of_cell, count = np.array([weights[name] for name in names]), find_weights(observations)
    mean = weighted_means(values, count, cells)
    weight = count * (of_cell / np.bincount(cells, count))[cells]
    influence = weight * (values - mean[cells])
    ways = [
        codes(observations[name])[0]
        for name in ("participant", "unit", "also")
        if name in observations
    ]
    if len(ways) == 2:
        # Subtract the common mean: it cancels in a contrast, but would cause rounding errors.
        total, freedom = contrast_variance(
            values - values.mean(), weight, cells, ways, find_drawn(observations)
        )
    else:
        total, freedom = several_way_variance(influence, ways)
    if (
        len(ways) > 2
        and "group" in observations
        and (n_more_groups := observations["group"].nunique() - 1) > 0
    ):
        n_people = observations["participant"].nunique()
        total *= (n_people - 1) / max(n_people - 1 - n_more_groups, 1)
        freedom = min(freedom, max(n_people - 1 - n_more_groups, 0))
    estimate = float(of_cell @ mean)
    # If all units are equal, the error is only rounding error.
    largest = float(np.abs(values).max())
    total = total if total > (_ROUNDING_OF_ERROR * largest) ** 2 else 0.0
    estimate = estimate if abs(estimate) > _ROUNDING * largest else 0.0
    if people and (
        len(observations) < CONTRAST
        or too_few_units(numbers["n_participants"], numbers["n_frames"])
    ):
        return nothing | {"estimate": estimate} | numbers
    if total == 0 and not people:
        # If all scores are equal, report no interval instead of one with zero width.
        return nothing | {"estimate": estimate} | numbers
    return {"estimate": estimate} | student_interval(estimate, total, freedom, level) | numbers
