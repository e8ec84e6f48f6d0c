"""Checks of a table of reading times: conditions, places, levels and single times."""

from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.readers.mapping import UNITS, parse_truth
from analysis.readers.reading_times.mapped.mapping import (
    CRITICAL,
    REQUIRED,
    TEXT_KEYS,
    TRIAL_KEYS,
    TimesMapping,
    name_alternatives,
    require_columns,
)
from analysis.readers.reading_times.mapped.regions import (
    find_relative_regions,
    refuse_uneven_ends,
)

_SHOWN = 3


def check_rows(
    rows: pd.DataFrame, meaning: TimesMapping, path: Path
) -> tuple[pd.DataFrame, list[str]]:
    """Return rows with numbers, conditions and places, after every check of a single table."""
    factors = [f"own_{name}" for name in meaning.analysis.factors]
    if "condition" not in rows and factors and set(factors) <= set(rows):
        rows = rows.assign(condition=rows[factors].agg(" ".join, axis=1))
    for name in (*REQUIRED, "condition"):
        if name not in rows:
            raise AnalysisError(
                f'the mapping names no column for "{name}"',
                where=str(path),
                expected=f"{', '.join((*REQUIRED, 'condition'))}; and position or region where a "
                "trial has several rows",
                remedy=f'Write {name} = "HEADER" below [columns] of the mapping',
            )
    rows = rows.assign(construction=rows.get("construction", "sentences"))
    if "text_id" not in rows:
        rows = rows.assign(text_id=rows["item"] + "-" + rows["condition"])
    for name in TRIAL_KEYS:
        if (empty := rows[name] == "").any():
            raise AnalysisError(
                f'{int(empty.sum()):,} rows have no value of "{name}"',
                where=str(path),
                expected="a value in every row",
                remedy="Leave out rows that are not reading times, with [drop] or [keep]",
            )
    rows = _add_levels(rows, meaning, path)
    rows = rows.assign(position=_read_positions(rows, path))
    _refuse_several_times(rows, path)
    _refuse_contradictions(rows, path)
    rows = rows.assign(relative=find_relative_regions(rows, meaning, path))
    if "text" not in rows:
        refuse_uneven_ends(rows, path)
    rt_ms = _to_numbers(rows["rt_ms"], "rt_ms", path) * UNITS[meaning.rt_unit]
    notes = _check_items_read_twice(rows, path)
    is_time = rt_ms > 0
    if n_none := int((~is_time).sum()):
        notes.append(f"{n_none:,} times are empty or not positive, and left out.")
    for name in ("correct", "question_correct"):
        if name in rows:
            rows = rows.assign(**{name: parse_truth(rows[name], name, path)})
    return rows.assign(rt_ms=rt_ms.where(is_time)), notes


def sort_by_design(rows: pd.DataFrame, meaning: TimesMapping) -> pd.DataFrame:
    """Return rows by condition, in the order in which the mapping names these, or of their names.

    The order of a factor's levels is the sign of its effect, so that it must not depend on the
    order of the table's rows.
    """
    named = [list(levels) for levels in meaning.levels.values()]
    if isinstance(meaning.critical, dict):
        named.append(list(meaning.critical))
    order = {name: number for number, name in enumerate(dict.fromkeys(chain(*named)))}
    places = {
        name: number
        for number, name in enumerate(
            sorted(set(rows["condition"]), key=lambda name: (order.get(name, len(order)), name))
        )
    }
    if "trial" not in rows:
        # Trials are numbered in the order of the table, whatever the order of conditions.
        rows = rows.assign(trial=(~rows.duplicated(TRIAL_KEYS)).cumsum())
        rows = rows.assign(trial=rows.groupby(TRIAL_KEYS)["trial"].transform("min").astype(str))
    by = [rows["construction"], rows["condition"].map(places), rows["item"]]
    ordered = pd.concat(by, axis=1).sort_values(
        ["construction", "condition", "item"], kind="stable"
    )
    return rows.loc[ordered.index].reset_index(drop=True)


def _add_levels(rows: pd.DataFrame, meaning: TimesMapping, path: Path) -> pd.DataFrame:
    present = list(dict.fromkeys(rows["condition"]))
    for name, levels in meaning.levels.items():
        if unnamed := [condition for condition in present if condition not in levels]:
            raise AnalysisError(
                f'[levels.{name}] has no level for the condition "{unnamed[0]}"',
                where=str(path),
                expected=f"a level for each of: {', '.join(present)}",
                remedy="Add it, or leave these rows out below [drop]",
            )
        rows = rows.assign(**{f"own_{name}": rows["condition"].map(levels)})
    for name in (*meaning.item_columns, *meaning.analysis.factors):
        column = f"own_{name}"
        if column not in rows:
            require_columns(rows.rename(columns=lambda header: header.removeprefix("own_")),
                             [name], path)  # fmt: skip
        _refuse_varying(rows, column, TEXT_KEYS, name, path)
    return rows


def _refuse_varying(rows: pd.DataFrame, column: str, by: list[str], name: str, path: Path) -> None:
    """Refuse a column with several values where there is one item, condition (and place)."""
    several = rows.groupby(by, sort=False)[column].transform("nunique") > 1
    if not several.any():
        return
    first = rows[several].iloc[0]
    same = (rows[by] == first[by]).all(axis=1)
    location = f", position {first['position']}" if "position" in by else ""
    values = name_alternatives(list(dict.fromkeys(rows[same][column]))[:_SHOWN])
    raise AnalysisError(
        f'the item "{first["item"]}" in the condition "{first["condition"]}"{location} has several '
        f'values of "{name}": {values}',
        where=str(path),
        expected=f'one "{name}" for each item and condition'
        + (" and position" if location else ""),
        remedy="A column may be shifted or sorted apart from the others, or items have the same "
        "number: correct the table, or the mapping",
    )


def _read_positions(rows: pd.DataFrame, path: Path) -> "pd.Series[int]":
    if "position" not in rows:
        key = [*TRIAL_KEYS, *(["trial"] if "trial" in rows else [])]
        if (several := rows.duplicated(key, keep=False)).any():
            first = rows[several].iloc[0]
            raise AnalysisError(
                f'the participant "{first["participant"]}" has {int(several.sum()):,} rows in '
                f'trials with several, the first of the item "{first["item"]}", and no column '
                "says where in the sentence they are",
                where=str(path),
                expected='position = "HEADER" below [columns]: the number of the word or region',
                remedy="Or keep the rows of one region, below [keep]; or, if each row is a trial, "
                'write trial = "HEADER": the number of the trial',
            )
        return pd.Series(1, rows.index)
    numbers = _to_numbers(rows["position"], "position", path)
    if (strange := numbers.isna() | (numbers != numbers.round())).any():
        raise AnalysisError(
            f"{int(strange.sum()):,} positions are not whole numbers; the first is "
            f'"{rows["position"][strange].iloc[0]}"',
            where=str(path),
            expected="the number of each word or region in its sentence",
            remedy="Leave out rows that are not words, with [drop]",
        )
    return numbers.astype(int)


def _to_numbers(cells: "pd.Series[str]", name: str, path: Path) -> "pd.Series[float]":
    numbers = pd.to_numeric(cells.where(cells != ""), errors="coerce").astype(float)
    strange = (numbers.isna() & (cells != "")) | np.isinf(numbers)
    if strange.any():
        raise AnalysisError(
            f'{int(strange.sum()):,} values of "{name}" are not numbers; the first is '
            f'"{cells[strange].iloc[0]}"',
            where=str(path),
            expected="numbers, or nothing where none was measured",
        )
    return numbers


def _refuse_several_times(rows: pd.DataFrame, path: Path) -> None:
    key = [*TRIAL_KEYS, "position", *(["trial"] if "trial" in rows else [])]
    is_repeated = rows.duplicated(key)
    if is_repeated.any():
        first = rows[is_repeated].iloc[0]
        raise AnalysisError(
            f"{int(is_repeated.sum()):,} times are repeated; the first: participant "
            f'"{first["participant"]}", item "{first["item"]}", condition '
            f'"{first["condition"]}", position {first["position"]}',
            where=str(path),
            expected="one time for each participant, item, condition and position",
            remedy="Leave other rows out below [drop], or name a column of the trial's number: "
            'trial = "HEADER"',
        )


def _refuse_contradictions(rows: pd.DataFrame, path: Path) -> None:
    for name in ("text", "region"):
        if name in rows:
            _refuse_varying(rows, name, [*TEXT_KEYS, "position"], name, path)
    if CRITICAL in rows:
        _refuse_varying(rows, CRITICAL, TEXT_KEYS, CRITICAL, path)


def _check_items_read_twice(rows: pd.DataFrame, path: Path) -> list[str]:
    """Refuse a few items that were read in two conditions, where the others were read in one.

    A single participant who did so, perhaps with two lists, is named in a note instead.
    """
    read = rows.drop_duplicates(["participant", "construction", "item", "condition"])
    number = read.groupby(["participant", "construction", "item"])["condition"].size()
    several = number[number > 1]
    if several.empty or len(several) >= len(number) / 2:
        return []
    person, _, item = several.index[0]
    if several.index.get_level_values("participant").nunique() == 1:
        return [f'The participant "{person}" alone read an item in two conditions: "{item}".']
    own = read[(read["participant"] == person) & (read["item"] == item)]
    raise AnalysisError(
        f'the participant "{person}" read the item "{item}" in {several.iloc[0]} conditions '
        f"({', '.join(own['condition'])}); this happened {len(several):,} times in all, while "
        f"{len(number) - len(several):,} times an item was read in one",
        where=str(path),
        expected="items that everybody reads in one condition, or everybody in several",
        remedy="Two items may have exchanged their numbers in one condition: correct the "
        "table, or leave these items out below [drop]",
    )
