"""The terms of a design's mixed model: what repeats, what is held constant, which slopes vary."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.data.own_columns import PREFIX
from analysis.statistics.laplace import RandomTerm
from analysis.statistics.resample import codes
from experiment.studies.study import Study

MOST_CORRELATED = 4
_MOST, _LOOKED_AT = 0.5, 100


def units(rows: pd.DataFrame, study: Study) -> Iterator[tuple[str, str]]:
    """Yield what repeats over answers, and the column of each: participants, frames, more."""
    yield from (("participant", "participant"), ("frame", "unit"))
    if (column := f"{PREFIX}{study.analysis.repeats}") in rows:
        yield study.analysis.repeats, column


def covariates(rows: pd.DataFrame, study: Study) -> Iterator[pd.DataFrame]:
    """Yield the columns of what is held constant: numbers in standard deviations, or levels."""
    for name in study.analysis.covariates:
        column = f"{PREFIX}{name}"
        if column not in rows or rows[column].nunique() < 2:
            continue
        values = rows[column]
        if pd.api.types.is_numeric_dtype(values):
            known = values.fillna(values.mean())
            yield pd.DataFrame({name: (known - known.mean()) / known.std()})
        else:
            levels = pd.get_dummies(values.astype(str), prefix=name, drop_first=True, dtype=float)
            yield levels - levels.mean()


def random_term(unit: str, values: pd.Series, effects: pd.DataFrame) -> RandomTerm:
    """Return an intercept and the slopes of all effects that a level of the unit can tell apart.

    Within a participant of one group a factor's slope and that of its interaction with the group
    are the same: the later one is left out.
    """
    level = codes(values)[0]
    places = [np.flatnonzero(level == one) for one in range(min(int(level.max()) + 1, _LOOKED_AT))]
    columns, names = np.ones((len(level), 1)), ["1"]
    for name in effects:
        tried = np.column_stack([columns, effects[name].to_numpy()])
        told = [np.linalg.matrix_rank(tried[one]) == tried.shape[1] for one in places]
        if np.mean(told) > _MOST:
            columns, names = tried, [*names, str(name)]
    return RandomTerm(unit, level, tuple(names), columns, correlated=len(names) <= MOST_CORRELATED)
