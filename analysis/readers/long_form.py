"""Convert any table of judgments to the long form, with every row and column accounted for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.readers.accounting import Accounting
from analysis.readers.item_identity import identify_items
from analysis.readers.mapping import (
    ITEM,
    LONG,
    NUMBER,
    UNITS,
    Rows,
    TableMap,
    numbers_in_all_patterns,
)
from analysis.readers.rating_scale import state_scale
from analysis.readers.single_answers import ANSWERS, settle_typed_answers
from analysis.readers.texts import as_ids
from experiment.records import Item

_TEXTS_SHOWN, _VALUES_SHOWN, _AT_ONCE = 30, 8, 500_000
# The trial's row in the source.
ROW_COLUMN = "row of the source"
_REQUIRED_COLUMNS = ("item",)


@dataclass(frozen=True, slots=True)
class LongForm:
    """A source's judgments in Parallax's columns, and the accounting of the rest.

    Attributes:
        rows: Those of Parallax's columns that the source has, as texts, and ``ROW_COLUMN``.
        account: The used data, and the data dropped by each rule.
    """

    rows: pd.DataFrame
    account: Accounting


def to_long(
    table: pd.DataFrame, mapping: TableMap, path: Path, items: Sequence[Item] = ()
) -> LongForm:
    """Return a table with those of Parallax's columns that the source has; values are text.

    Participants are renamed to p1, p2 and so on; their original names are discarded.

    Args:
        table: The table.
        mapping: The meaning of its columns.
        path: The file of the table.
        items: The items, for columns that are named after them or contain their texts.

    Raises:
        AnalysisError: A mapped column is missing, no column gives the item or the choice, a rule
            drops nothing, or no row remains.
    """
    return _LongFormConverter(table, mapping, path).long(items)


class _LongFormConverter:
    """The conversion of one table to the long form."""

    def __init__(self, table: pd.DataFrame, mapping: TableMap, path: Path) -> None:
        self._table, self._mapping, self._path = table, mapping, path
        self._account = Accounting(str(path), len(table), tuple(map(str, table.columns)))
        self._per_trial = self._shared = 0

    def long(self, items: Sequence[Item]) -> LongForm:
        mapping, account = self._mapping, self._account
        table = self._table.assign(**{ROW_COLUMN: range(len(self._table))})
        rows = self._apply_filters(table, mapping.keep, mapping.drop, account.rows_dropped)
        rows = self._split_into_trials(rows, items)
        account.trials = len(rows) + sum(account.trials_dropped.values())
        rows = self._apply_filters(
            rows, mapping.keep_trials, mapping.drop_trials, account.trials_dropped
        )
        rows = self._skip_blanks(rows)
        for column, values in mapping.values.items():
            self._require_columns(rows, [column])
            rows = rows.assign(**{column: _translate_values(rows[column], values, self._path)})
        # A value may mean that there was no answer.
        rows = self._skip_blanks(rows)
        rows = state_scale(settle_typed_answers(rows, mapping, account, self._path), mapping)
        self._require_columns(rows, _REQUIRED_COLUMNS)
        if not {"chosen", "correct", *ANSWERS} & set(rows.columns):
            self._require_columns(rows, ["chosen"])
        self._refuse_empty(rows)
        if "rt_ms" in rows:
            rows = rows.assign(rt_ms=read_decimal_commas(rows["rt_ms"]))
        if mapping.rt_unit != "ms" and "rt_ms" in rows:
            rows = rows.assign(rt_ms=_convert_to_ms(rows["rt_ms"], UNITS[mapping.rt_unit]))
        if "participant" in rows:
            _refuse_blank(rows["participant"], self._path)
            # Worker ids are confidential and must stay with the platform.
            rows = rows.assign(participant=_number_participants(rows["participant"]))
        self._count_cells(rows)
        long_columns = [name for name in (*LONG, ROW_COLUMN) if name in rows.columns]
        return LongForm(rows[long_columns].reset_index(drop=True), account)

    def _count_cells(self, rows: pd.DataFrame) -> None:
        account = self._account
        for column in LONG:
            if column in self._table.columns and not self._mapping.wide and column in rows.columns:
                account.columns_used.setdefault(column, column)
        account.used = len(rows)
        if self._mapping.wide:
            shared = self._shared * rows[ROW_COLUMN].nunique()
            account.cells_used = len(rows) * self._per_trial + shared
        else:
            account.cells_used = len(rows) * len(account.columns_used)

    def _apply_filters(
        self, rows: pd.DataFrame, keep: Rows, drop: Rows, counted: dict[str, int]
    ) -> pd.DataFrame:
        for keeps, conditions in ((True, keep), (False, drop)):
            for column, allowed in conditions.items():
                self._require_columns(rows, [column])
                values = [allowed] if isinstance(allowed, str) else allowed
                matches = rows[column].isin(values)
                self._refuse_unused_value(rows[column], values, keeps, bool(matches.any()))
                if column in self._table.columns and not self._mapping.wide:
                    self._account.columns_used.setdefault(column, "a rule of the mapping")
                remaining = rows[matches == keeps]
                rule = f"{column} is {'not ' if keeps else ''}{_quote_alternatives(values)}"
                counted[rule] = counted.get(rule, 0) + len(rows) - len(remaining)
                rows = remaining
        return rows

    def _refuse_unused_value(
        self, column: "pd.Series[str]", values: Sequence[str], keep: bool, any_: bool
    ) -> None:
        """Refuse a rule with a value that no row has: it may be a spelling mistake."""
        existing = set(column.dropna().unique())
        idle = [value for value in values if value not in existing]
        # If no row is kept at all, a different error reports it.
        if idle and len(column) and (any_ or not keep):
            raise AnalysisError(
                f'no row has "{idle[0]}" in the column "{column.name}", which the mapping '
                f"{'keeps' if keep else 'drops'}",
                where=str(self._path),
                expected=f"one of: {_quote_alternatives(sorted(existing)[:_VALUES_SHOWN])}",
                remedy="Correct the value in the mapping, or leave it out",
            )

    def _skip_blanks(self, rows: pd.DataFrame) -> pd.DataFrame:
        for column in self._mapping.skip_blank:
            self._require_columns(rows, [column])
            remaining = rows[rows[column] != ""]
            if len(remaining) < len(rows):
                rule = f"{column} is empty"
                dropped = self._account.trials_dropped
                dropped[rule] = dropped.get(rule, 0) + len(rows) - len(remaining)
            rows = remaining
        return rows

    def _split_into_trials(self, rows: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
        if not self._mapping.wide:
            return self._rename_columns(rows, items)
        if any(ITEM in header for header in self._mapping.columns.values()):
            return self._stack_item_columns(rows, [item.item_id for item in items])
        return self._stack_numbered_columns(rows, items)

    def _rename_columns(self, table: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
        mapping = self._mapping
        self._require_columns(
            table,
            [
                *mapping.columns.values(),
                *mapping.item_from,
                *mapping.item_by_texts,
                *mapping.item_by.values(),
            ],
        )
        used = self._account.columns_used
        used |= {header: column for column, header in mapping.columns.items()}
        used |= dict.fromkeys(mapping.item_from, "item")
        renamed = table.assign(
            **{column: table[header] for column, header in mapping.columns.items()}
        )
        if mapping.item_from:
            renamed["item"] = renamed[mapping.item_from].agg("-".join, axis=1)
        if any(name in table for name in mapping.options):
            self._require_columns(table, mapping.options)
            used |= {name: used.get(name, "an option shown") for name in mapping.options}
        if mapping.item_by_texts or mapping.item_by:
            used |= {name: used.get(name, "item's texts") for name in mapping.item_by_texts}
            used |= {name: used.get(name, "item") for name in mapping.item_by.values()}
            renamed["item"] = identify_items(table, mapping.item_by_texts, mapping.item_by, items)
        elif "item" in renamed:
            renamed["item"] = as_ids(renamed["item"], items)
        # A column that has one of Parallax's names but another meaning.
        return renamed.drop(columns=[*{*mapping.unrelated} & {*LONG} - {*mapping.columns, "item"}])

    def _stack_numbered_columns(self, table: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
        """Return one row per trial from a table with one row per session."""
        mapping = self._mapping
        parts = {f"item_{n}": pattern for n, pattern in enumerate(mapping.item_from)}
        texts = {f"text_{n}": pattern for n, pattern in enumerate(mapping.item_by_texts)}
        patterns = {**mapping.columns, **parts, **texts}
        numbered = list(dict.fromkeys(p for p in patterns.values() if NUMBER in p))
        numbers = numbers_in_all_patterns(list(table.columns), numbered, self._path)
        if not numbers:
            expected_columns = [header_pattern.replace(NUMBER, "1") for header_pattern in numbered]
            self._require_columns(table, expected_columns or [f"a column written with {NUMBER}"])
        self._note_number_gaps(numbers)
        blocks = []
        for number in numbers:
            headers = {name: pattern.replace(NUMBER, number) for name, pattern in patterns.items()}
            block = self._take_block(table, headers)
            if parts:
                block["item"] = block[[*parts]].agg("-".join, axis=1)
            if texts:
                block["item"] = identify_items(block, [*texts], {}, items)
            blocks.append(block)
        self._per_trial = len(numbered)
        return self._join_blocks(blocks, patterns)

    def _note_number_gaps(self, numbers: Sequence[str]) -> None:
        values = sorted(map(int, numbers))
        missing = sorted(set(range(values[0], values[-1] + 1)) - set(values)) if values else []
        if missing:
            self._account.attention.append(
                f"the numbered columns begin at {values[0]} and end at {values[-1]}, without "
                f"{', '.join(map(str, missing[:_VALUES_SHOWN]))}"
            )

    def _stack_item_columns(self, table: pd.DataFrame, items: Sequence[str]) -> pd.DataFrame:
        """Return one row per trial from a table whose columns are named after the items."""
        mapping, blocks = self._mapping, []
        for item in items:
            headers = {
                role: pattern.replace(ITEM, item) for role, pattern in mapping.columns.items()
            }
            answer_headers = (
                headers[column] for column in ("chosen", "correct", *ANSWERS) if column in headers
            )
            if next(answer_headers, None) in table.columns:
                blocks.append(self._take_block(table, headers).assign(item=item))
        if not blocks:
            self._require_columns(
                table, [header for header in mapping.columns.values() if ITEM in header]
            )
        self._per_trial = sum(ITEM in header for header in mapping.columns.values())
        rows = self._join_blocks(blocks, mapping.columns)
        if "" in mapping.no_answer:
            return rows
        # The cell is empty if the participant was not shown the item.
        answer_column = next(column for column in ("chosen", "correct", *ANSWERS) if column in rows)
        is_answered: pd.Series[bool] = rows[answer_column] != ""
        return self._drop_rows(rows, is_answered, "the cell named after the item is empty")

    def _drop_rows(self, rows: pd.DataFrame, kept: "pd.Series[bool]", rule: str) -> pd.DataFrame:
        if n := int((~kept).sum()):
            self._account.trials_dropped[rule] = n
        return rows[kept]

    def _take_block(self, table: pd.DataFrame, headers: Mapping[str, str]) -> pd.DataFrame:
        mapping = self._mapping
        self._require_columns(table, list(headers.values()))
        self._account.columns_used |= {header: column for column, header in headers.items()}
        used = {*mapping.keep_trials, *mapping.drop_trials} - set(headers) & set(table.columns)
        block = table[list(headers.values())].set_axis(list(headers), axis=1)
        return block.join(table[[name for name in table.columns if name in {*used, ROW_COLUMN}]])

    def _join_blocks(
        self, blocks: Sequence[pd.DataFrame], patterns: Mapping[str, str]
    ) -> pd.DataFrame:
        self._shared = len(
            {
                pattern
                for pattern in patterns.values()
                if NUMBER not in pattern and ITEM not in pattern
            }
        )
        # Keep each session's trials together, in the order of judging.
        rows = pd.concat(blocks).sort_values(ROW_COLUMN, kind="stable").reset_index(drop=True)
        if "item" not in rows:
            return rows
        blank = rows["item"].fillna("") == ""
        answer_column = next(
            (column for column in ("chosen", "correct", *ANSWERS) if column in rows), None
        )
        if answer_column and (n_without_item := int((blank & (rows[answer_column] != "")).sum())):
            raise AnalysisError(
                f"{n_without_item} trial(s) have a choice, but no item",
                where=str(self._path),
                expected="an item in each numbered column that has a choice",
                remedy="Check the columns that the mapping names for items",
            )
        return self._drop_rows(rows, ~blank, "item is empty")

    def _refuse_empty(self, rows: pd.DataFrame) -> None:
        if rows.empty:
            raise AnalysisError(
                f"none of the {len(self._table):,} row(s) is left as a judgment",
                where=str(self._path),
                remedy="Check what the mapping keeps, drops and skips",
            )

    def _require_columns(self, table: pd.DataFrame, names: Sequence[str]) -> None:
        missing = [name for name in names if name not in table.columns]
        if missing:
            tried_columns = ", ".join(
                f"{column} = {header}" for column, header in self._mapping.columns.items()
            )
            headers_in_table = [str(name) for name in table.columns if name != ROW_COLUMN]
            raise AnalysisError(
                f"the table lacks the column(s) {', '.join(missing)}; the mapping tried was: "
                f"{tried_columns or 'none'}",
                where=str(self._path),
                expected=f"columns named by the mapping, or {', '.join(LONG)}",
                remedy=f"The columns seen are {', '.join(headers_in_table) or 'none'}",
            )


def _quote_alternatives(values: Sequence[str]) -> str:
    return " or ".join(f'"{value}"' for value in values)


def _refuse_blank(participants: "pd.Series[str]", path: Path) -> None:
    blank = participants.fillna("").astype(str).str.strip() == ""
    if blank.any():
        raise AnalysisError(
            f"{int(blank.sum())} of {len(blank)} judgments have an empty participant",
            where=str(path),
            expected="a participant in every row, or no column of participants at all",
            remedy='Leave such rows out with skip_blank = ["participant"] in the mapping',
        )


def read_decimal_commas(numbers: "pd.Series[str]") -> "pd.Series[str]":
    """Return numbers with points in place of decimal commas.

    A comma before three digits throughout may divide thousands; such numbers are left as they are.
    """
    filled = numbers[numbers.fillna("") != ""].astype(str)
    is_whole = filled.str.fullmatch(r"-?\d+")
    has_comma = filled.str.fullmatch(r"-?\d+,\d+")
    if not has_comma.any() or not (is_whole | has_comma).all():
        return numbers
    if filled[has_comma].str.fullmatch(r"-?\d{1,3},\d{3}").all():
        return numbers
    return numbers.str.replace(",", ".", regex=False)


def _convert_to_ms(values: "pd.Series[str]", factor: float) -> "pd.Series[str]":
    # Convert in chunks: for ten million judgments, objects would need more memory than the table.
    chunks = [values.iloc[n : n + _AT_ONCE] for n in range(0, len(values), _AT_ONCE)]
    return pd.concat([_convert_chunk_to_ms(chunk, factor) for chunk in chunks])


def _convert_chunk_to_ms(values: "pd.Series[str]", factor: float) -> "pd.Series[str]":
    numbers = pd.to_numeric(values, errors="coerce")
    is_valid = numbers.notna() | (values.fillna("") == "")
    # Non-numeric values are reported when reaction times are read.
    texts = [
        "" if pd.isna(number) and ok else f"{number * factor:.6g}" if ok else str(value)
        for number, ok, value in zip(numbers, is_valid, values, strict=True)
    ]
    return pd.Series(texts, values.index, str)


def _number_participants(participants: "pd.Series[str]") -> "pd.Categorical[str]":
    """Replace names by p1, p2 and so on, in the order of first judgments."""
    numbers, names = pd.factorize(participants)
    return pd.Categorical.from_codes(numbers, pd.Index([f"p{n + 1}" for n in range(len(names))]))


def _translate_values(
    values: "pd.Series[str]", translations: Mapping[str, str], path: Path
) -> "pd.Series[str]":
    meanings = {value: _translate_value(value, translations) for value in values.dropna().unique()}
    strange = sorted(value for value, meaning in meanings.items() if meaning is None)
    if strange:
        raise AnalysisError(
            f'the value "{strange[0][:_TEXTS_SHOWN]}" of the column "{values.name}" is not in the '
            "mapping",
            where=str(path),
            expected=f"one of: {', '.join(translations)}",
            remedy=f"Add it below [values.{values.name}] in the mapping file",
        )
    return values.map(meanings)


def _translate_value(value: str, translations: Mapping[str, str]) -> str | None:
    """Return the meaning of a value: an exact entry, or else the first matching ``*`` pattern."""
    if value in translations:
        return translations[value]
    for pattern, meaning in translations.items():
        if "*" in pattern and re.fullmatch(
            ".*".join(map(re.escape, pattern.split("*"))), value, re.DOTALL
        ):
            return meaning
    return None
