"""Differences, main effects and interactions of any answers: weighted sums of cells' means."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.statistics.clustered import quantile, several_way, two_way
from analysis.statistics.paired import adjusted
from analysis.statistics.resample import codes
from analysis.statistics.variance_parts import contrast_variance
from analysis.statistics.withheld import CONTRAST, MEAN, ends, too_few_units

Weights = Mapping[str, float]
# Of the largest value: what rounding leaves of a sum, and of an error, which the ridge in
# ``variance_parts`` makes a little larger.
_ROUNDING, _ROUNDING_OF_ERROR = 1e-9, 1e-7


def with_z_scores(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return ratings with ``z``: less the participant's mean, over the participant's SD.

    Both are of all that the participant rated, fillers included. NaN for somebody who gave every
    sentence the same point.
    """
    values = ratings["rating"].astype(float)
    of_person = values.groupby(ratings["participant"], observed=True)
    mean, sd = of_person.transform("mean"), of_person.transform("std")
    return ratings.assign(z=((values - mean) / sd.where(sd > 0)).to_numpy())


def cell_means(answers: pd.DataFrame, value: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean of a value in each cell with a 95% interval.

    Args:
        answers: One row per answer, with participant and unit (what repeats over conditions).
        value: The column of the value; rows without one are left out.
        by: The columns that make a cell.

    Returns:
        The columns of ``by``, mean, low, high, sd (of single values), n_observations, n_units,
        n_participants; clustered by participant and unit.
    """
    rows = answers[answers[value].notna()]
    grouped = rows.groupby(list(by), sort=False, observed=True)
    found = grouped.agg(
        mean=(value, "mean"),
        sd=(value, "std"),
        n_observations=(value, "size"),
        n_units=("unit", "nunique"),
        n_participants=("participant", "nunique"),
    ).reset_index()
    group = grouped.ngroup().to_numpy().astype(np.intp)
    values = rows[value].to_numpy(dtype=float)
    deviation = values - found["mean"].to_numpy()[group]
    influence = deviation / found["n_observations"].to_numpy()[group]
    person, unit = (codes(rows[name])[0] for name in ("participant", "unit"))
    variance = two_way(influence, person, unit, group)
    half = quantile(variance.freedom) * np.sqrt(variance.total)
    low, high = ends(found["mean"] - half, found["mean"] + half, found["n_observations"], MEAN)
    return found.assign(low=low, high=high)


def contrasts(
    answers: pd.DataFrame, value: str, wanted: Mapping[str, Weights], *, people: bool = True
) -> pd.DataFrame:
    """Return weighted sums of cells' means, each with a 95% interval and a p value.

    What a participant or a unit has in several cells cancels, in the interval too
    (``levels_off``). With a third way of clustering (``also``) it is the sum of Cameron, Gelbach
    and Miller; there each further group of participants costs a degree of freedom. Of few answers
    (``withheld``) there is neither interval nor p.

    Args:
        answers: One row per answer, with cell, participant, unit, and where they are known
            ``also`` (what repeats besides) and ``group`` (of the participants). A model's values,
            and people's whom nobody knows, have no participant (missing).
        value: The column of the value; rows without one are left out.
        wanted: For each contrast its cells' weights, by the cells' names.
        people: Whether people gave the values; of a model's nothing is withheld.

    Returns:
        contrast, estimate, low, high, p (Student's t), n_observations, n_participants, n_frames
        (that these cells have), p_holm (over these contrasts); NaN where a cell has no observation
        or there is one cluster alone.
    """
    rows = answers[answers[value].notna()]
    cell = rows["cell"].astype(str)
    found = [
        {"contrast": name, **_contrast(rows, cell, value, own, people=people)}
        for name, own in wanted.items()
    ]
    names = ["contrast", "estimate", "low", "high", "p"]
    frame = pd.DataFrame(found, columns=[*names, "n_observations", "n_participants", "n_frames"])
    if frame.empty:
        return frame.assign(p_holm=[])
    return adjusted(frame).drop(columns="p_fdr")


def _contrast(
    rows: pd.DataFrame, cell: "pd.Series[str]", value: str, weights: Weights, *, people: bool
) -> dict[str, float]:
    nothing = dict.fromkeys(("estimate", "low", "high", "p"), float("nan"))
    inside = cell.isin(weights)
    own, (cells, names) = rows[inside], pd.factorize(cell[inside])
    numbers = {
        "n_observations": float(len(own)),
        "n_participants": float(own["participant"].nunique()),
        "n_frames": float(own["unit"].nunique()),
    }
    if len(names) < len(weights):
        return nothing | numbers
    values = own[value].to_numpy(dtype=float)
    of_cell, size = np.array([weights[name] for name in names]), np.bincount(cells)
    mean = np.bincount(cells, values) / size
    weight = (of_cell / size)[cells]
    influence = weight * (values - mean[cells])
    ways = [codes(own[name])[0] for name in ("participant", "unit", "also") if name in own]
    if len(ways) == 2:
        # What all have in common takes no part in a contrast, and would leave an error of rounding.
        total, freedom = contrast_variance(values - values.mean(), weight, cells, ways)
    else:
        total, freedom = several_way(influence, ways)
    if len(ways) > 2 and "group" in own and (more := own["group"].nunique() - 1) > 0:
        n_people = own["participant"].nunique()
        total *= (n_people - 1) / max(n_people - 1 - more, 1)
        freedom = min(freedom, max(n_people - 1 - more, 0))
    estimate = float(of_cell @ mean)
    # What is the same in every unit has an error of rounding alone.
    largest = float(np.abs(values).max())
    total = total if total > (_ROUNDING_OF_ERROR * largest) ** 2 else 0.0
    estimate = estimate if abs(estimate) > _ROUNDING * largest else 0.0
    if people and (
        len(own) < CONTRAST or too_few_units(numbers["n_participants"], numbers["n_frames"])
    ):
        return nothing | {"estimate": estimate} | numbers
    if total == 0 and not people:
        # Scores that are all alike tell nothing: no interval of no width.
        return nothing | {"estimate": estimate} | numbers
    return _tested(estimate, total, freedom) | numbers


def _tested(estimate: float, variance: float, freedom: float) -> dict[str, float]:
    error = float(np.sqrt(variance))
    half = float(quantile(np.array([freedom]))[0]) * error
    p = float("nan")
    if freedom > 0 and error > 0:
        p = 2 * float(student.sf(abs(estimate) / error, freedom))
    return {"estimate": estimate, "low": estimate - half, "high": estimate + half, "p": p}
