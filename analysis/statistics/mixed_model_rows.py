"""The rows of a mixed model: participants' judgments and models' decisions in one table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import FormulaicError
from numpy.typing import NDArray

from analysis.data.declared import UNIT, clustering_column
from analysis.data.load import PEOPLE, SESSION_COLUMN
from analysis.data.own_columns import PREFIX, add_original_headers
from analysis.errors import AnalysisError
from analysis.statistics.resample import Floats, codes

_COLUMNS = ("judge", "construction", "condition", "item_id")


def choice_rows(
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
    of_people += [SESSION_COLUMN] if SESSION_COLUMN in judgments else []
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
    rows = add_original_headers(pd.concat(frames, ignore_index=True))
    return rows.assign(
        chose_good=rows["chose_good"].astype(float),
        judge=pd.Categorical(rows["judge"], [PEOPLE, *decisions]),
    )


def clusters(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of participants and of independent items (frames) in the choices.

    Args:
        rows: One row per choice, from ``choice_rows``.

    Returns:
        One row: participants, items.
    """
    unit = clustering_column(rows)
    numbers = rows.loc[rows["judge"] == PEOPLE, ["participant", unit]].nunique()
    return pd.DataFrame([{"participants": numbers["participant"], "items": numbers[unit]}])


def _find_constant_choices(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the choices of judges who are always right, or always wrong, in a construction."""
    cell = [rows["judge"], rows["construction"]]
    mean = rows["chose_good"].groupby(cell, observed=True).transform("mean").to_numpy(dtype=float)
    constant: NDArray[np.bool_] = (mean == 0) | (mean == 1)
    return constant


def bounded_rows(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return choices with finite coefficients; without participants, models have no reference."""
    varies = ~_find_constant_choices(rows)
    with_people = set(rows.loc[varies & (rows["judge"] == PEOPLE).to_numpy(), "construction"])
    bounded: NDArray[np.bool_] = varies & rows["construction"].isin(with_people).to_numpy()
    return bounded


def reorder_constructions(rows: pd.DataFrame) -> pd.DataFrame:
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
        return [str(level) for level in column.cat.categories if str(level) in used]
    return sorted(map(str, column.unique()))


_RANDOM_TERM = re.compile(r"\+?\s*\(([^()|]+)(\|\|?)([^()|]+)\)")
_SHORT_NAMES = {"item": "item_id"}
_ERROR_PLACE = "the mixed model"
# The minimum judgments of a participant on a construction to estimate their common effect.
_FEWEST_REPEATED = 2
# Below this value, in logits, a standard deviation counts as zero.
SINGULAR = 0.05
_PAIR = 2


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """The random effects of one group.

    Attributes:
        columns: The columns, as in a formula.
        group: The grouping column.
        correlated: Whether to estimate the correlation of two columns.
    """

    columns: str
    group: str
    correlated: bool = False

    def __str__(self) -> str:
        """Return the term in lme4's notation."""
        single = self.correlated or self.columns.strip() in ("1", "0 + 1")
        return f"({self.columns} {'|' if single else '||'} {self.group})"


@dataclass(frozen=True, slots=True)
class Effects:
    """The random effects of rows; effects are independent except for the pairs.

    Attributes:
        names: The effects' names, such as "participant" or "participant, rt_ms".
        groups: Shape ``(effects,)`` of arrays ``(n,)``: each row's level, from 0.
        values: Shape ``(n, effects)``: the multiplier of the level's effect.
        pairs: The indices of correlated effects of one group, the earlier one first.
    """

    names: tuple[str, ...]
    groups: tuple[NDArray[np.intp], ...]
    values: Floats
    pairs: tuple[tuple[int, int], ...] = ()


def parse_formula(formula: str) -> tuple[str, tuple[RandomTerm, ...]]:
    """Return a formula's fixed part, and its random terms."""
    random_terms = []
    for columns, bars, group in _RANDOM_TERM.findall(formula):
        terms = [part.strip() for part in columns.split("+")]
        names = [_SHORT_NAMES.get(column.strip(), column.strip()) for column in group.split(":")]
        correlated = bars == "|" and terms != ["1"]
        random_terms.append(RandomTerm(" + ".join(terms), ":".join(names), correlated))
    fixed = _RANDOM_TERM.sub("", formula).strip().lstrip("+").strip() or "1"
    return fixed, tuple(random_terms)


def default_terms(rows: pd.DataFrame) -> tuple[RandomTerm, ...]:
    """Return the default random terms of a formula without any.

    The default has intercepts of participants, of frames that several items share, and of items;
    and participant effects of constructions, if a participant judged several items of several
    constructions.
    """
    people = rows[rows["judge"] == PEOPLE]
    repeated = people.groupby(["participant", "construction"], observed=True).size()
    several = people["construction"].nunique() > 1 and repeated.mean() >= _FEWEST_REPEATED
    by_construction = [RandomTerm("1", "participant:construction")] if several else []
    frames = [RandomTerm("1", "frame")] if _frames_repeat(people) else []
    return (RandomTerm("1", "participant"), *by_construction, *frames, RandomTerm("1", "item_id"))


def _frames_repeat(people: pd.DataFrame) -> bool:
    return "frame" in people and people["frame"].nunique() < people["item_id"].nunique()


def row_effects(rows: pd.DataFrame, terms: Sequence[RandomTerm]) -> Effects:
    """Return the random effects of rows.

    Participant effects apply to human participants only: a model is a single judge, described by
    its fixed effects. A factor gives one effect for each level but the first, or for each level
    without an intercept.

    Args:
        rows: One row per choice, from ``choice_rows``.
        terms: The random terms.

    Raises:
        AnalysisError: A term names a missing column, or correlates more than two effects.
    """
    is_person = (rows["judge"] == PEOPLE).to_numpy(dtype=float)
    names: list[str] = []
    groups, values, pairs = [], [], []
    for term in terms:
        parts = term.group.split(":")
        level = _group_levels(rows, parts, term)
        of_people = is_person if "participant" in parts else np.ones(len(rows))
        columns = _effect_columns(rows, term)
        if term.correlated and len(columns.columns) > 1:
            _refuse_more_than_a_pair(term, len(columns.columns))
            pairs.append((len(names), len(names) + 1))
        for name, column in columns.items():
            names.append(term.group if name == "Intercept" else f"{term.group}, {name}")
            groups.append(level)
            values.append(column.to_numpy(dtype=float) * of_people)
    return Effects(tuple(names), tuple(groups), np.column_stack(values), tuple(pairs))


def _refuse_more_than_a_pair(term: RandomTerm, number: int) -> None:
    if number > _PAIR:
        independent = f"({term.columns} || {term.group})"
        raise AnalysisError(
            f'"{term}" asks for the correlations of {number} effects, but only two effects can '
            "be correlated",
            where=_ERROR_PLACE,
            remedy=f'Write "{independent}", which leaves the correlations out, or use the lme4 '
            "script of the report's folder",
        )


def _group_levels(rows: pd.DataFrame, parts: Sequence[str], term: RandomTerm) -> NDArray[np.intp]:
    absent = [column for column in parts if column not in rows]
    if absent:
        raise AnalysisError(
            f'"{term}" names {absent[0]}, which the choices do not have',
            where=_ERROR_PLACE,
            expected="participant, item, or another column of the choices",
        )
    level = np.zeros(len(rows), np.intp)
    for name in parts:
        number, n = codes(rows[name])
        level = codes(level * n + number)[0]
    return level


def _effect_columns(rows: pd.DataFrame, term: RandomTerm) -> pd.DataFrame:
    try:
        matrix = pd.DataFrame(formulaic.model_matrix(term.columns, rows, na_action="raise"))
    except (FormulaicError, ValueError) as error:
        raise AnalysisError(
            f'"{term}" cannot be used: {" ".join(str(error).split())}',
            where=_ERROR_PLACE,
            remedy='For example "(1 + position || participant)"',
        ) from error
    return matrix.loc[:, (matrix != 0).any()]
