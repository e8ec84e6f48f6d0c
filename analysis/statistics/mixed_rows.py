"""The rows of a mixed model: participants' judgments and models' decisions in one table."""

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
    """Return participants' judgments and models' decisions on judged items in one table.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.

        of_participants: Columns of judgments without values for models, such as the level of a
            between-participant factor.

    Returns:
        chose_good (0 or 1), judge (categorical, people first), participant (a model is its own),
        item_id, construction, condition, and, for human participants, also list, position, kind,
        good_side, rt_ms (and session, with several parts); the items' own columns as ``own_`` and
        their headers, and also by their headers, unless a built-in column has the same name.
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
    """Return the numbers of participants and of independent items (frames) behind the choices.

    Args:
        rows: One row per choice, from ``choices``.

    Returns:
        One row: participants, items.
    """
    unit = unit_column(rows)
    numbers = rows.loc[rows["judge"] == PEOPLE, ["participant", unit]].nunique()
    return pd.DataFrame([{"participants": numbers["participant"], "items": numbers[unit]}])


def _constant(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the choices of judges who are always right, or always wrong, in a construction."""
    cell = [rows["judge"], rows["construction"]]
    mean = rows["chose_good"].groupby(cell, observed=True).transform("mean").to_numpy(dtype=float)
    found: NDArray[np.bool_] = (mean == 0) | (mean == 1)
    return found


def bounded_rows(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return choices with finite coefficients; without participants, models have no reference."""
    varies = ~_constant(rows)
    with_people = set(rows.loc[varies & (rows["judge"] == PEOPLE).to_numpy(), "construction"])
    found: NDArray[np.bool_] = varies & rows["construction"].isin(with_people).to_numpy()
    return found


def with_varying_reference(rows: pd.DataFrame) -> pd.DataFrame:
    """Reorder the constructions: in the first, choices are neither all right nor all wrong."""
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
    """Return a factor's levels in the order of the design: the first is the reference."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = set(column.astype(str))
        return [str(one) for one in column.cat.categories if str(one) in used]
    return sorted(map(str, column.unique()))
