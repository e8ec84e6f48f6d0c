"""What the columns of a table of reading times mean, and its rows under our names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from analysis.errors import AnalysisError
from analysis.readers.mapping import NUMBER, Rows, numbers_in_all_patterns, read_toml
from analysis.readers.sources import Source, read_source
from experiment.studies.analysis_plan import Analysis, Comparison

REQUIRED = ("participant", "item", "rt_ms")
# Columns that are taken by these names where the mapping does not name them. The others are taken
# only where it does: a "correct" or "region" of somebody else may mean anything.
USUAL = (*REQUIRED, "condition", "position", "text")
ROLES = (
    *USUAL, "text_id", "construction", "trial", "region", "critical", "distractor", "correct",
    "question_correct",
)  # fmt: skip
CRITICAL = "critical"
# An item may have several texts in a condition, where a column tells them apart.
TEXT_KEYS = ["construction", "item", "condition", "text_id"]
TRIAL_KEYS = ["participant", *TEXT_KEYS]


class TimesMapping(BaseModel):
    """What the columns of a table of reading times mean, and what is compared.

    Attributes:
        columns: The table's column for each of ours. With ``{n}`` in that of ``rt_ms`` (and of
            ``text`` or ``correct``), a row is a whole trial.
        item_columns: Columns of the table that become columns of the items: factors, predictors.
        levels: For a new column of the items, the level of each condition.
        critical: The critical region, by its number or by its name in the column ``region``; a
            table of them where it depends on the condition. Without it, the column ``critical``.
        headers: The names of all columns, in their order, of a table without headers.
        sheet: The sheet of a workbook, if it is not the first; the data frame of an R file.
        keep: Rows to keep: for each column of the table, the value or values.
        drop: Rows to leave out.
        rt_unit: The unit of the times.
        wrong_answers: Whether trials whose question was answered wrongly count.
        analysis: As in study.toml.
        comparisons: As in study.toml.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    item_columns: list[str] = []
    levels: dict[str, dict[str, str]] = {}
    critical: str | int | dict[str, str | int] = ""
    headers: list[str] = []
    sheet: str = ""
    keep: Rows = {}
    drop: Rows = {}
    rt_unit: Literal["ms", "s"] = "ms"
    wrong_answers: Literal["keep", "drop"] = "keep"
    analysis: Analysis = Analysis()
    comparisons: list[Comparison] = []


def read_times_mapping(path: Path | None) -> TimesMapping:
    """Read a mapping file; without one, columns have our names.

    Raises:
        AnalysisError: The file is missing, not TOML, or has an unknown key.
    """
    return read_toml(
        path, TimesMapping, "the mapping of reading times", "docs/reading.md", _refuse_unknown
    )


def _refuse_unknown(mapping: TimesMapping) -> None:
    if unknown := [name for name in mapping.columns if name not in ROLES]:
        raise ValueError(
            f"{unknown[0]} is not a column of reading times; the columns are {', '.join(ROLES)}"
        )


def collect_named_values(meaning: TimesMapping) -> set[str]:
    """Return the values that the mapping names, which are not marks of missing values."""
    critical = meaning.critical
    named = critical.values() if isinstance(critical, dict) else [critical]
    levels = [*meaning.levels.values()]
    return {*map(str, named), *(value for table in levels for value in table)}


def refuse_doubled_headers(source: Source, meaning: TimesMapping) -> None:
    """Refuse two different columns of one name that the mapping uses."""
    named = {*meaning.columns.values(), *meaning.item_columns, *USUAL}
    for name in named & set(source.table.columns):
        other = f"{name}.1"
        if other in source.table and not source.table[name].equals(source.table[other]):
            raise AnalysisError(
                f'two columns are called "{name}", and they differ',
                where=str(source.path),
                expected="one column of each name that the mapping uses",
                remedy="Rename one of them",
            )


def keep_rows(source: Source, meaning: TimesMapping) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that the mapping keeps, and the number of rows that it drops."""
    table, notes = source.table, []
    for rule, is_kept in ((meaning.keep, True), (meaning.drop, False)):
        for name, given_values in rule.items():
            values = [given_values] if isinstance(given_values, str) else given_values
            require_columns(table, [name], source.path)
            cells = table[name].str.strip()
            if unseen := [value for value in values if not (source.table[name] == value).any()]:
                raise AnalysisError(
                    f'no row has "{unseen[0]}" in the column "{name}"',
                    where=str(source.path),
                    expected=f"one of: {', '.join(map(str, source.table[name].unique()[:10]))}",
                    remedy="Correct the value below [keep] or [drop]",
                )
            chosen = cells.isin(values) == is_kept
            if n_left_out := int((~chosen).sum()):
                what = "is not" if is_kept else "is"
                notes.append(
                    f"{n_left_out:,} rows are left out: {name} {what} {name_alternatives(values)}."
                )
            table = table[chosen]
    return table.reset_index(drop=True), notes


def name_alternatives(values: Sequence[str]) -> str:
    """Return values in quotation marks, joined by "or"."""
    return " or ".join(f'"{value}"' for value in values)


def require_columns(table: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    """Refuse a table without one of the named columns."""
    if missing := [name for name in names if name not in table]:
        raise AnalysisError(
            f'the table has no column "{missing[0]}"',
            where=str(path),
            expected=f"one of its columns: {', '.join(map(str, table.columns))}",
            remedy="Correct the mapping, or the header",
        )


def give_roles(table: pd.DataFrame, meaning: TimesMapping, path: Path) -> pd.DataFrame:
    """Return the table with our columns, and those that become columns of the items."""
    columns = dict(meaning.columns)
    usual = USUAL if columns else ROLES
    headers = {str(header).strip().lower(): str(header) for header in reversed(table.columns)}
    columns |= {name: headers[name] for name in usual if name not in columns and name in headers}
    numbered = {role: name for role, name in columns.items() if NUMBER in name}
    if numbered:
        table = _stack_regions(table, numbered, path)
        columns |= {role: f"\0{role}" for role in numbered} | {"position": "\0position"}
    require_columns(table, [*columns.values()], path)
    own = [name for name in meaning.item_columns if name in table]
    rows = {role: table[name].str.strip() for role, name in columns.items()}
    return pd.DataFrame(rows | {f"own_{name}": table[name].str.strip() for name in own})


def _stack_regions(table: pd.DataFrame, numbered: dict[str, str], path: Path) -> pd.DataFrame:
    """Return a row for each region of tables that have a column for each."""
    numbers = numbers_in_all_patterns([*map(str, table.columns)], [*numbered.values()], path)
    if not numbers:
        raise AnalysisError(
            f"no columns are called {' or '.join(numbered.values())}",
            where=str(path),
            expected=f"one of its columns: {', '.join(map(str, table.columns))}",
        )
    parts = [
        table.assign(
            **{f"\0{role}": table[name.replace(NUMBER, n)] for role, name in numbered.items()},
            **{"\0position": n},
        )
        for n in numbers
    ]
    return pd.concat(parts, ignore_index=True)


def join_texts(
    rows: pd.DataFrame, path: Path, meaning: TimesMapping
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of the texts in a table, with its columns."""
    texts = read_source(path).table.apply(lambda column: column.str.strip())
    require_columns(texts, ["text_id"], path)
    if "text_id" not in rows:
        raise AnalysisError(
            'the reading times have no column "text_id", which the table of texts is joined by',
            where=str(path),
            expected='text_id = "HEADER" below [columns], or columns that join to it',
        )
    if (is_repeated := texts["text_id"].duplicated()).any():
        raise AnalysisError(
            f'the text "{texts["text_id"][is_repeated].iloc[0]}" is in two rows',
            where=str(path),
            expected="one row for each text_id",
        )
    own = {name: f"own_{name}" for name in (*meaning.item_columns, *meaning.analysis.factors)
           if name in texts and name not in ROLES}  # fmt: skip
    known = [name for name in texts if name in ROLES]
    texts = texts[[*known, *own]].rename(columns=own)
    rows = rows.drop(columns=[name for name in texts if name != "text_id" and name in rows])
    if missing_texts := sorted(set(texts["text_id"]) - set(rows["text_id"])):
        raise AnalysisError(
            f'nobody read {len(missing_texts):,} of the texts; the first: "{missing_texts[0]}"',
            where=str(path),
            expected="text_id as in the table of reading times, such as "
            f'"{rows["text_id"].iloc[0]}"',
        )
    joined = rows.merge(texts, "inner", on="text_id", validate="m:1")
    n_left_out = len(rows) - len(joined)
    note = f"{n_left_out:,} times are left out: the table of texts does not have their text."
    return joined, [note] if n_left_out else []
