"""Random effects in lme4's formula language: ``(1 + x | participant)``, ``(1 | item)``.

Bates, D., Maechler, M., Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects models using
lme4. Journal of Statistical Software, 67(1), section 2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import FormulaicError
from numpy.typing import NDArray

from analysis.data.load import PEOPLE
from analysis.errors import AnalysisError
from analysis.statistics.resample import Floats, codes

_TERM = re.compile(r"\+?\s*\(([^()|]+)(\|\|?)([^()|]+)\)")
_SHORT = {"item": "item_id"}
_WHERE = "the mixed model"
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


def parse(formula: str) -> tuple[str, tuple[RandomTerm, ...]]:
    """Return a formula's fixed part, and its random terms."""
    found = []
    for columns, bars, group in _TERM.findall(formula):
        terms = [part.strip() for part in columns.split("+")]
        names = [_SHORT.get(one.strip(), one.strip()) for one in group.split(":")]
        correlated = bars == "|" and terms != ["1"]
        found.append(RandomTerm(" + ".join(terms), ":".join(names), correlated))
    fixed = _TERM.sub("", formula).strip().lstrip("+").strip() or "1"
    return fixed, tuple(found)


def usual(rows: pd.DataFrame) -> tuple[RandomTerm, ...]:
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


def effects(rows: pd.DataFrame, terms: Sequence[RandomTerm]) -> Effects:
    """Return the random effects of rows.

    Participant effects apply to human participants only: a model is a single judge, described by
    its fixed effects. A factor gives one effect for each level but the first, or for each level
    without an intercept.

    Args:
        rows: One row per choice, from ``mixed.choices``.
        terms: The random terms.

    Raises:
        AnalysisError: A term names a missing column, or correlates more than two effects.
    """
    is_person = (rows["judge"] == PEOPLE).to_numpy(dtype=float)
    names: list[str] = []
    groups, values, pairs = [], [], []
    for term in terms:
        parts = term.group.split(":")
        level = _level(rows, parts, term)
        of_people = is_person if "participant" in parts else np.ones(len(rows))
        columns = _columns(rows, term)
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
            f'"{term}" asks for the correlations of {number} effects; one of two is fitted',
            where=_WHERE,
            remedy=f'Write "{independent}", which leaves them out, or use the lme4 script of the '
            "report's folder",
        )


def _level(rows: pd.DataFrame, parts: Sequence[str], term: RandomTerm) -> NDArray[np.intp]:
    absent = [one for one in parts if one not in rows]
    if absent:
        raise AnalysisError(
            f'"{term}" names {absent[0]}, which the choices do not have',
            where=_WHERE,
            expected="participant, item, or another column of the choices",
        )
    level = np.zeros(len(rows), np.intp)
    for name in parts:
        number, n = codes(rows[name])
        level = codes(level * n + number)[0]
    return level


def _columns(rows: pd.DataFrame, term: RandomTerm) -> pd.DataFrame:
    try:
        found = pd.DataFrame(formulaic.model_matrix(term.columns, rows, na_action="raise"))
    except (FormulaicError, ValueError) as error:
        raise AnalysisError(
            f'"{term}" cannot be used: {" ".join(str(error).split())}',
            where=_WHERE,
            remedy='For example "(1 + position || participant)"',
        ) from error
    return found.loc[:, (found != 0).any()]
