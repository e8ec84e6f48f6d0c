"""What the columns of somebody's table mean, and the long form that every table is brought into."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError
from experiment.errors import wrong_keys

NEEDED = ("item",)
LONG = (
    "judge", "participant", "list", "item", "construction", "condition",
    "option_first", "good_side", "chosen", "correct", "rt_ms", "kept",
)  # fmt: skip
UNITS = {"ms": 1.0, "s": 1_000.0}
_TEXTS_SHOWN = 30
_ITEM = "{item}"

Rows = dict[str, str | list[str]]


class Meaning(BaseModel):
    """A mapping file: which column holds what, and how its values are written.

    Attributes:
        columns: Our column to theirs; a column that bears our name already may be left out. With
            ``wide`` numbered columns are written with ``{n}``, columns named after items with
            ``{item}``.
        values: Our column to a table from their values to ours, such as "sentence A" to "good".
            ``*`` stands for any text: "1. *" to "first". What is written without it goes first.
        item_from: Columns whose texts, joined by "-", name the item, where no column does.
        wide: One row holds a whole session.
        keep: Rows to take, of the table as it is: a column to the value, or values, it must have.
        drop: Rows to leave out, of the table as it is.
        keep_trials: The same among single trials, by their columns or ours.
        drop_trials: Trials to leave out.
        skip_blank: Our columns; trials where one of them is empty are no judgments.
        rt_unit: The unit of the reaction times, "ms" or "s".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    item_from: list[str] = []
    wide: bool = False
    keep: Rows = {}
    drop: Rows = {}
    keep_trials: Rows = {}
    drop_trials: Rows = {}
    skip_blank: list[str] = []
    rt_unit: Literal["ms", "s"] = "ms"

    def to_toml(self) -> str:
        """Return the mapping as a file of it is written, without what it does not say."""
        said = self.model_dump(exclude_defaults=True)
        plain = {key: value for key, value in said.items() if not isinstance(value, dict)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        for key, table in said.items():
            if isinstance(table, dict):
                lines += _toml_table(key, table)
        return "\n".join(lines).strip() + "\n"


def _toml_table(name: str, table: Mapping[str, object]) -> list[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = ["", f"[{name}]"] if plain else []
    lines += [
        f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in plain.items()
    ]
    for key, inner in table.items():
        if isinstance(inner, dict):
            lines += _toml_table(f"{name}.{key}", inner)
    return lines


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
        reason = wrong_keys(error) if isinstance(error, ValidationError) else error
        raise AnalysisError(
            f"the mapping cannot be read ({reason})",
            where=str(path),
            expected=f"TOML with the tables {', '.join(Meaning.model_fields)}",
            remedy="docs/data_formats.md shows one",
        ) from error


def to_long(
    table: pd.DataFrame, mapping: Meaning, path: Path, items: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a table with our columns, as far as it has them; values as text.

    Participants become p1, p2 and so on: the names they had go no further.

    Args:
        table: The table.
        mapping: What its columns mean.
        path: Where it was read from.
        items: The items' ids, for columns that are named after them.

    Raises:
        AnalysisError: A mapped column is not there, no column tells the item or the choice, or no
            row is left.
    """
    rows = _filtered(table, mapping.keep, mapping.drop, mapping, path)
    if not mapping.wide:
        rows = _renamed(rows, mapping, path)
    elif any(_ITEM in theirs for theirs in mapping.columns.values()):
        rows = _melted_by_item(rows, mapping, path, items)
    else:
        rows = _melted(rows, mapping, path)
    rows = _filtered(rows, mapping.keep_trials, mapping.drop_trials, mapping, path)
    _need(rows, mapping.skip_blank, mapping, path)
    rows = rows[(rows[mapping.skip_blank] != "").all(axis=1)] if mapping.skip_blank else rows
    for column, values in mapping.values.items():
        _need(rows, [column], mapping, path)
        rows = rows.assign(**{column: _translated(rows[column], values, path)})
    _need(rows, NEEDED, mapping, path)
    if not {"chosen", "correct"} & set(rows.columns):
        _need(rows, ["chosen"], mapping, path)
    _refuse_none(rows, table, path)
    if mapping.rt_unit != "ms" and "rt_ms" in rows:
        rows = rows.assign(rt_ms=_in_ms(rows["rt_ms"], UNITS[mapping.rt_unit]))
    if "participant" in rows:
        _refuse_blank(rows["participant"], path)
        # A worker's id is nobody's business but the platform's.
        rows = rows.assign(participant=_references(rows["participant"]))
    return rows[[name for name in LONG if name in rows.columns]].reset_index(drop=True)


def _refuse_none(rows: pd.DataFrame, table: pd.DataFrame, path: Path) -> None:
    if rows.empty:
        raise AnalysisError(
            f"no judgment is left of {len(table):,} row(s)",
            where=str(path),
            remedy="Check what the mapping keeps, drops and skips",
        )


def _refuse_blank(participants: "pd.Series[str]", path: Path) -> None:
    blank = participants.fillna("").astype(str).str.strip() == ""
    if blank.any():
        raise AnalysisError(
            f"{int(blank.sum())} of {len(blank)} judgments have an empty participant",
            where=str(path),
            expected="a participant in every row, or no column of participants at all",
            remedy='Leave such rows out with skip_blank = ["participant"] in the mapping',
        )


def _in_ms(values: "pd.Series[str]", factor: float) -> list[str]:
    numbers = pd.to_numeric(values, errors="coerce")
    kept = numbers.notna() | (values.fillna("") == "")
    # What is no number is named where reaction times are read.
    return [
        "" if pd.isna(number) and ok else f"{number * factor:.6g}" if ok else str(value)
        for number, ok, value in zip(numbers, kept, values, strict=True)
    ]


def _references(participants: "pd.Series[str]") -> list[str]:
    """Return p1, p2 and so on in place of names, in the order of their first judgments."""
    numbers, _ = pd.factorize(participants)
    return [f"p{number + 1}" for number in numbers]


def _filtered(
    rows: pd.DataFrame, keep: Rows, drop: Rows, mapping: Meaning, path: Path
) -> pd.DataFrame:
    for wanted, conditions in ((True, keep), (False, drop)):
        for column, values in conditions.items():
            _need(rows, [column], mapping, path)
            among = rows[column].isin([values] if isinstance(values, str) else values)
            rows = rows[among == wanted]
    return rows


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
        blocks.append(_block(table, named, mapping, path))
        number += 1
    if not blocks:
        first = [one.replace("{n}", "1") for one in mapping.columns.values()]
        _need(table, first or ["a column written with {n}"], mapping, path)
    return _blocks(blocks)


def _melted_by_item(
    table: pd.DataFrame, mapping: Meaning, path: Path, items: Sequence[str]
) -> pd.DataFrame:
    """Return one row per trial of a table whose columns are named after the items."""
    blocks = []
    for item in items:
        named = {ours: one.replace(_ITEM, item) for ours, one in mapping.columns.items()}
        if named.get("chosen", named.get("correct")) in table.columns:
            blocks.append(_block(table, named, mapping, path).assign(item=item))
    if not blocks:
        _need(table, [one for one in mapping.columns.values() if _ITEM in one], mapping, path)
    rows = _blocks(blocks)
    # Whoever was not shown an item has an empty cell.
    return rows[rows["chosen" if "chosen" in rows else "correct"] != ""]


def _block(
    table: pd.DataFrame, named: Mapping[str, str], mapping: Meaning, path: Path
) -> pd.DataFrame:
    _need(table, list(named.values()), mapping, path)
    used = {*mapping.keep_trials, *mapping.drop_trials} - set(named) & set(table.columns)
    block = table[list(named.values())].set_axis(list(named), axis=1)
    return block.join(table[[name for name in table.columns if name in used]])


def _blocks(blocks: Sequence[pd.DataFrame]) -> pd.DataFrame:
    # Each session's trials stand together, as they were judged.
    rows = pd.concat(blocks).sort_index(kind="stable").reset_index(drop=True)
    return rows[rows["item"].fillna("") != ""] if "item" in rows else rows


def _translated(values: "pd.Series[str]", known: Mapping[str, str], path: Path) -> "pd.Series[str]":
    meanings = {value: _meaning(value, known) for value in set(values.dropna())}
    strange = sorted(value for value, meaning in meanings.items() if meaning is None)
    if strange:
        raise AnalysisError(
            f'the value "{strange[0][:_TEXTS_SHOWN]}" of the column "{values.name}" is not in the '
            "mapping",
            where=str(path),
            expected=f"one of: {', '.join(known)}",
            remedy=f"Add it below [values.{values.name}] in the mapping file",
        )
    return values.map(meanings)


def _meaning(value: str, known: Mapping[str, str]) -> str | None:
    """Return what a value means: its own line, or the first line whose ``*`` can stand for it."""
    if value in known:
        return known[value]
    for pattern, meaning in known.items():
        if "*" in pattern and re.fullmatch(
            ".*".join(map(re.escape, pattern.split("*"))), value, re.DOTALL
        ):
            return meaning
    return None


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
