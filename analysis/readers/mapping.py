"""What the columns of somebody's table mean, and the long form that every table is brought into."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError

NEEDED = ("item",)
LONG = (
    "judge", "participant", "list", "item", "construction", "condition",
    "option_first", "chosen", "correct", "rt_ms", "kept",
)  # fmt: skip
_TEXTS_SHOWN = 30


class Meaning(BaseModel):
    """A mapping file: which column holds what, and how its values are written.

    Attributes:
        columns: Our column to theirs; a column that bears our name already may be left out.
        values: Our column to a table from their values to ours, such as "sentence A" to "good".
        item_from: Columns whose texts, joined by "-", name the item, where no column does.
        wide: Numbered columns, one per trial (MTurk's ``Input.a1``, ``Answer.a1``): in ``columns``
            the number is written ``{n}``.
        drop: Rows to leave out: a column of theirs to the value that marks them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    item_from: list[str] = []
    wide: bool = False
    drop: dict[str, str] = {}


def read_mapping(path: Path | None) -> Meaning:
    """Return a mapping file's content; without a file the columns bear our names.

    Raises:
        AnalysisError: The file is missing, not TOML, or has a key that no mapping has.
    """
    if path is None:
        return Meaning()
    try:
        return Meaning.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise AnalysisError(
            f"the mapping cannot be read ({error})",
            where=str(path),
            expected=f"TOML with the tables {', '.join(Meaning.model_fields)}",
            remedy="docs/data_formats.md shows one",
        ) from error


def to_long(table: pd.DataFrame, mapping: Meaning, path: Path) -> pd.DataFrame:
    """Return a table with our columns, as far as it has them; values as text.

    Participants become p1, p2 and so on: the names they had go no further.

    Raises:
        AnalysisError: A mapped column is not there, or no column tells the item or the choice.
    """
    rows = table
    for column, value in mapping.drop.items():
        _need(rows, [column], mapping, path)
        rows = rows[rows[column] != value]
    rows = _melted(rows, mapping, path) if mapping.wide else _renamed(rows, mapping, path)
    for column, values in mapping.values.items():
        _need(rows, [column], mapping, path)
        rows = rows.assign(**{column: _translated(rows[column], values, path)})
    _need(rows, NEEDED, mapping, path)
    if not {"chosen", "correct"} & set(rows.columns):
        _need(rows, ["chosen"], mapping, path)
    if "participant" in rows:
        # A worker's id is nobody's business but the platform's.
        rows = rows.assign(participant=_references(rows["participant"]))
    return rows[[name for name in LONG if name in rows.columns]].reset_index(drop=True)


def _references(participants: "pd.Series[str]") -> list[str]:
    """Return p1, p2 and so on in place of names, in the order of their first judgments."""
    numbers, _ = pd.factorize(participants)
    return [f"p{number + 1}" for number in numbers]


def _renamed(table: pd.DataFrame, mapping: Meaning, path: Path) -> pd.DataFrame:
    _need(table, list(mapping.columns.values()) + mapping.item_from, mapping, path)
    found = table.assign(**{ours: table[theirs] for ours, theirs in mapping.columns.items()})
    if mapping.item_from:
        found["item"] = found[mapping.item_from].agg("-".join, axis=1)
    return found


def _melted(table: pd.DataFrame, mapping: Meaning, path: Path) -> pd.DataFrame:
    """Return one row per trial of a table with one row per session."""
    blocks, number = [], 1
    while True:
        named = {ours: one.replace("{n}", str(number)) for ours, one in mapping.columns.items()}
        numbered = [named[ours] for ours, one in mapping.columns.items() if "{n}" in one]
        if not numbered or not set(numbered) <= set(table.columns):
            break
        _need(table, list(named.values()), mapping, path)
        blocks.append(table[list(named.values())].set_axis(list(named), axis=1))
        number += 1
    if not blocks:
        first = [one.replace("{n}", "1") for one in mapping.columns.values()]
        _need(table, first or ["a column written with {n}"], mapping, path)
    rows = pd.concat(blocks, ignore_index=True)
    return rows[rows["item"].fillna("") != ""]


def _translated(values: "pd.Series[str]", known: Mapping[str, str], path: Path) -> "pd.Series[str]":
    strange = sorted(set(values.dropna()) - set(known))
    if strange:
        raise AnalysisError(
            f'the value "{strange[0][:_TEXTS_SHOWN]}" of the column "{values.name}" is not in the '
            "mapping",
            where=str(path),
            expected=f"one of: {', '.join(known)}",
            remedy=f"Add it below [values.{values.name}] in the mapping file",
        )
    return values.map(known)


def _need(table: pd.DataFrame, names: Sequence[str], mapping: Meaning, path: Path) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        tried = ", ".join(f"{ours} = {theirs}" for ours, theirs in mapping.columns.items())
        raise AnalysisError(
            f"the table lacks the column(s) {', '.join(missing)}; the mapping tried was: "
            f"{tried or 'none'}",
            where=str(path),
            expected=f"columns named by the mapping, or {', '.join(LONG)}",
            remedy=f"The columns seen are {', '.join(map(str, table.columns)) or 'none'}",
        )
