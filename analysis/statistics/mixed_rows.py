"""The rows of a mixed model: people's judgments and models' decisions as one table."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.declared import UNIT, unit_column
from analysis.data.load import PEOPLE, SESSION
from analysis.data.own_columns import PREFIX, with_headers
from analysis.errors import AnalysisError

_COLUMNS = ("judge", "construction", "condition", "item_id")


def choices(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    of_participants: Sequence[str] = (),
) -> pd.DataFrame:
    """Return people's judgments and models' decisions on the judged items as rows of one table.

    Args:
        judgments: One row per judgment, as ``analysis.data.join.judgments`` gives them.
        decisions: Each model's decisions, as ``analysis.data.join.decisions`` gives them.

        of_participants: Columns of judgments that models have no value of, such as the level of a
            factor between participants.

    Returns:
        chose_good (0 or 1), judge (categorical, people first), participant (a model is its own),
        item_id, construction, condition, and of people also list, position, kind, good_side, rt_ms
        (of several parts, session);
        the items' own columns as ``own_`` and their headers, and by their headers alone where
        those are no names of ours.
    """
    of_people = ["participant", "list", "position", "kind", "good_side", "rt_ms", "chose_good"]
    of_people += [SESSION] if SESSION in judgments else []
    of_items = [str(name) for name in judgments if name == UNIT or str(name).startswith(PREFIX)]
    people = judgments[[*_COLUMNS[1:], *of_people, *of_items]].assign(judge=PEOPLE)
    of_items = [name for name in of_items if name not in of_participants]
    frames = [people]
    items = people.drop_duplicates("item_id").set_index("item_id")[of_items]
    for model, frame in decisions.items():
        chosen = frame.loc[frame["item_id"].isin(items.index), [*_COLUMNS[1:], "correct"]]
        chosen = chosen.rename(columns={"correct": "chose_good"})
        if of_items:
            chosen = chosen.join(items, on="item_id")
        frames.append(chosen.assign(judge=model, participant=model))
    rows = with_headers(pd.concat(frames, ignore_index=True))
    return rows.assign(
        chose_good=rows["chose_good"].astype(float),
        judge=pd.Categorical(rows["judge"], [PEOPLE, *decisions]),
    )


def clusters(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many participants and independent items (frames) people's choices are of.

    Args:
        rows: One row per choice, as ``choices`` gives them.

    Returns:
        One row: participants, items.
    """
    unit = unit_column(rows)
    numbers = rows.loc[rows["judge"] == PEOPLE, ["participant", unit]].nunique()
    return pd.DataFrame([{"participants": numbers["participant"], "items": numbers[unit]}])


def _constant(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which choices are of a judge who is always right, or wrong, in the construction."""
    cell = [rows["judge"], rows["construction"]]
    mean = rows["chose_good"].groupby(cell, observed=True).transform("mean").to_numpy(dtype=float)
    found: NDArray[np.bool_] = (mean == 0) | (mean == 1)
    return found


def bounded_rows(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the choices whose coefficients are finite; without people models have no reference."""
    varies = ~_constant(rows)
    with_people = set(rows.loc[varies & (rows["judge"] == PEOPLE).to_numpy(), "construction"])
    found: NDArray[np.bool_] = varies & rows["construction"].isin(with_people).to_numpy()
    return found


def with_varying_reference(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the choices with a construction first in which people are not always right."""
    names = list(dict.fromkeys(design_levels(rows["construction"])))
    varying = rows.loc[bounded_rows(rows), "construction"].astype(str).unique()
    if not len(varying):
        raise AnalysisError(
            "people are always right, or always wrong, in every construction",
            where="the mixed model",
            expected="a construction in which people's choices vary",
        )
    first = next(name for name in names if name in varying)
    ordered = [first, *(name for name in names if name != first)]
    return rows.assign(construction=pd.Categorical(rows["construction"].astype(str), ordered))


def design_levels(column: "pd.Series[str]") -> list[str]:
    """Return a factor's levels in the order of a design: the first one is the reference."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = set(column.astype(str))
        return [str(one) for one in column.cat.categories if str(one) in used]
    return sorted(map(str, column.unique()))
