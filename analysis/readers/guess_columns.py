"""Find the columns of item ids and of the sides of a choice, by their contents."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.readers.item_identity import (
    NUMBER,
    Candidates,
    narrow_candidates,
    values_by_item,
)
from analysis.readers.mapping import ROLES, columns_for_role, first_column_for_role, simplify_name
from analysis.readers.several_options import find_option_columns, is_none
from analysis.readers.texts import (
    Options,
    candidates_by_texts,
    comparable_cells,
    comparable_text,
    find_distinct_pairs,
    item_numbers,
)
from experiment.records import Item

LIKELY = 0.9
ItemOptions = Mapping[str, Options]
CHOSEN_WORDS = ("chosen", "choice", "answer", "response", "select", "judgment")
_EXPECTED_WORDS = ("good", "correct", "expected", "target", "right")
_PAIRS = (("first", "second"), ("left", "right"), ("top", "bottom"), ("up", "down"))
_SIDES = {side: place for pair in _PAIRS for side, place in zip(pair, _PAIRS[0], strict=True)}
_KEYS = ("l", "r"), ("arrowleft", "arrowright"), ("arrowup", "arrowdown"), ("f", "j"), ("a", "b")
_TWO = 2
# Two columns with the same pair of words that agree only by chance are unrelated.
_AGREEING_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that define the choice, and the meaning of their values.

    ``sure`` is False if they always give the same version.
    """

    columns: dict[str, str]
    values: dict[str, dict[str, str]]
    sure: bool = True


def share_of_cells(values: "pd.Series[str]", allowed: object) -> float:
    """Return the share of non-empty cells whose value is among the given values."""
    filled = values[values != ""]
    return float(filled.isin(list(allowed)).mean()) if len(filled) else 0.0  # type: ignore[call-overload]


def find_item_column(table: pd.DataFrame, options: ItemOptions) -> str | None:
    """Return the column with item ids; None if no column qualifies, or the choice is ambiguous."""
    if not options:
        return first_column_for_role(table, "item")
    # Rows of instructions and pauses have other words in the item column.
    hits = {name: int(table[name].isin(list(options)).sum()) for name in table.columns}
    likely = sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])
    if not all(item_id.isdecimal() for item_id in options):
        return next(iter(likely), None)
    # Numeric item ids may also be ratings, participants, ages or positions.
    likely = [name for name in likely if hits[name] > LIKELY * hits[likely[0]]]
    named = [name for name in likely if simplify_name(name) in ROLES["item"].names]
    agreeing = _columns_agreeing_with_texts(table, named or likely, options)
    return agreeing[0] if len(agreeing) == 1 or (agreeing and named) else None


def _columns_agreeing_with_texts(
    table: pd.DataFrame, columns: Sequence[str], options: ItemOptions
) -> list[str]:
    """Return the columns whose ids agree with the item texts in every text column."""
    item_texts = {
        comparable_text(text)
        for item_texts_ in options.values()
        for text in item_texts_.written
        if text
    }
    texts = [
        name
        for name in table.columns
        if (filled := table[name][table[name] != ""]).size
        and comparable_cells(filled).isin(item_texts).mean() > LIKELY
    ]
    return [
        column
        for column in columns
        if all(_share_of_matching_texts(table, column, name, options) > LIKELY for name in texts)
    ]


def _share_of_matching_texts(
    table: pd.DataFrame, item: str, text: str, options: ItemOptions
) -> float:
    """Return the share of rows with an item and a text in which the text is the item's."""
    rows = table[table[item].isin(list(options)) & (table[text] != "")]
    versions = match_versions(rows[item], rows[text], options)
    return float(versions.notna().mean()) if len(versions) else 0.0


def match_versions(
    items: "pd.Series[str]", texts: "pd.Series[str]", options: ItemOptions
) -> "pd.Series[str]":
    """Return each text's version of its item; empty if the text is not the item's."""
    of_row, pairs = find_distinct_pairs(items, texts)
    versions = [options[item].version(text) for item, text in pairs]
    return pd.Series(np.array(versions, object)[of_row], items.index, object)


def versions_by_row(
    rows: pd.DataFrame, column: str, item: str, options: ItemOptions
) -> "pd.Series[str]":
    """Return the version that each cell of a column names, or holds the text of; None if none."""
    if not versions_in_column(rows, column, item, options):
        return pd.Series(None, rows.index, object)
    of_row, pairs = find_distinct_pairs(rows[item], rows[column])
    versions = [options[of].named_version(text) if of in options else None for of, text in pairs]
    return pd.Series(np.array(versions, object)[of_row], rows.index, object)


def versions_in_column(
    rows: pd.DataFrame, column: str, item: str, options: ItemOptions
) -> set[str]:
    """Return the versions in a column, by name or by text; empty if it has other values."""
    # Skip items with identical versions; their judgments are refused by name later.
    distinguishable_items = [name for name, item_id in options.items() if not item_id.alike]
    filled_rows = rows[(rows[column] != "") & rows[item].isin(distinguishable_items)]
    of_row, pairs = find_distinct_pairs(filled_rows[item], filled_rows[column])
    counts = Counter[str | None]()
    for (item_id, text), n in zip(pairs, np.bincount(of_row).tolist(), strict=True):
        version = options[item_id].named_version(text)
        if version or not is_none(text):
            counts[version] += n
    recognised = {version: n for version, n in counts.items() if version is not None}
    likely = bool(counts) and sum(recognised.values()) / counts.total() > LIKELY
    return set(recognised) if likely else set()


def find_text_columns(table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    """Return two columns with both options of an item, or one column with one option's text."""
    texts = {
        comparable_text(whole)
        for item in items
        for text in Options(item).texts
        for whole in (text, item.after_context(text))
    }
    compared: dict[str, pd.Series[str]] = {}
    for column in table.columns:
        cells = comparable_cells(table[column])
        is_text = cells[table[column] != ""].isin(texts)
        # A column that repeats another one says nothing more.
        if is_text.mean() > LIKELY and not any(map(cells.equals, compared.values())):
            compared[column] = cells
    columns_with_texts = list(compared)
    pairs = [list(pair) for pair in combinations(columns_with_texts, _TWO)]
    shown = find_option_columns(table, columns_with_texts)
    all_options = [shown] if len(shown) > _TWO else []
    for columns in [*all_options, *(pairs or [[header] for header in columns_with_texts])]:
        is_filled = table[columns] != ""
        filled = table[columns][
            is_filled.any(axis=1) if columns is shown else is_filled.all(axis=1)
        ]
        matched = [bool(ids) for ids in candidates_by_texts(filled, items)]
        if matched and sum(matched) > LIKELY * len(matched):
            return columns
    return []


def guess_side_choice(
    rows: pd.DataFrame, column: str, versions: Callable[[str], set[str]]
) -> Choice | None:
    """Return the mapping of answers such as left or right; None without a column of versions.

    Args:
        rows: The rows of judgments.
        column: The candidate column of sides.
        versions: Returns the versions, of the row's item, in a column.
    """
    values = set(comparable_cells(rows[column]).unique()) - {""}
    for side in columns_for_role(rows, "good_side"):
        if side == column:
            # No column has two roles.
            continue
        sides = set(comparable_cells(rows[side]).unique()) - {""}
        if values & sides and len(values | sides) <= _TWO:
            return Choice({"chosen": column, "good_side": side}, {})
    side_names = sorted(set(rows[column]) - {""})
    text_column = next(
        (header for header in columns_for_role(rows, "option_first") if len(versions(header)) > 1),
        None,
    )
    if text_column is not None and values and values <= set(_SIDES):
        means = {value: _SIDES[comparable_text(value)] for value in side_names}
        return Choice({"chosen": column, "option_first": text_column}, {"chosen": means})
    if len(side_names) == _TWO:
        texts = [
            header for header in rows.columns if header != column and len(versions(header)) > 1
        ]
        for text_column, means in _match_side_names(texts, side_names):
            return Choice({"chosen": column, "option_first": text_column}, {"chosen": means})
    return None


def _match_side_names(
    columns: Sequence[str], values: Iterable[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pairs of text columns whose names start or end with the two values: A and sentenceA."""
    for pair in combinations(columns, _TWO):
        names = [simplify_name(header) for header in pair]
        means = {}
        for value in values:
            word = simplify_name(value)
            matches = [name.startswith(word) or name.endswith(word) for name in names]
            if word and sum(matches) == 1:
                means[value] = _PAIRS[0][matches.index(True)]
        if len(set(means.values())) == _TWO:
            yield pair[0], means


def find_side_columns(
    rows: pd.DataFrame, item: str, option_columns: Sequence[str]
) -> Choice | None:
    """Return two columns that contain the same two sides and mostly agree, whatever their names.

    One is the chosen side, the other the expected version's side, which follows from what was shown
    where; without columns of that, the roles are interchangeable: a choice is right if both are
    equal.

    Args:
        rows: The rows of judgments.
        item: The column with the items' ids.
        option_columns: The columns with the texts on each side.
    """
    values_by_column = {
        header: frozenset(comparable_cells(rows[header]).unique()) - {""} for header in rows.columns
    }
    for pair in map(frozenset, (*_PAIRS, *_KEYS)):
        columns = [
            left_column for left_column, values in values_by_column.items() if values == pair
        ]
        if len(columns) != _TWO:
            continue
        left_column, right_column = columns
        rows_with_both = rows[(rows[left_column] != "") & (rows[right_column] != "")]
        left, right = (comparable_cells(rows_with_both[name]) for name in columns)
        agree = left == right
        if len(rows_with_both) and agree.mean() >= _AGREEING_SHARE:
            expected = any(word in simplify_name(left_column) for word in _EXPECTED_WORDS)
            if option_columns:
                display = rows[[item, *option_columns]].agg("\n".join, axis=1)
                follows = [
                    _is_constant_per_value(rows[name], display)
                    for name in (left_column, right_column)
                ]
                expected = follows[0] if follows[0] != follows[1] else expected
            chosen, good = (right_column, left_column) if expected else (left_column, right_column)
            return Choice({"chosen": chosen, "good_side": good}, {})
    return None


def _is_constant_per_value(cells: "pd.Series[str]", of: "pd.Series[str]") -> bool:
    """Return whether a column has one value for each value of another, where it has any."""
    filled = cells != ""
    groups = comparable_cells(cells[filled]).groupby(of[filled])
    return bool((groups.nunique() <= 1).all())


_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies the items of a table.

    Attributes:
        texts: The columns with the item's texts.
        by: For some of the items' columns, the table's column with the same values.
        lacking: What the table lacks to tell items apart, in words.
    """

    texts: list[str] = field(default_factory=list)
    by: dict[str, str] = field(default_factory=dict)
    lacking: str = ""


def guess_identity(rows: pd.DataFrame, items: Sequence[Item]) -> Identity | None:
    """Return what identifies the items; None without their texts, or a number that several share.

    Items with the same texts, or the same number, are told apart by a column with the values of
    one of the items' own columns, such as the condition or the list.
    """
    texts, by = find_text_columns(rows, items), dict[str, str]()
    attributes = values_by_item(items)
    if texts:
        candidates: Candidates = candidates_by_texts(rows[texts], items)
    else:
        number = first_column_for_role(rows, "item")
        if number is None:
            return None
        everything = [frozenset(attributes)] * len(rows)
        candidates = narrow_candidates(everything, NUMBER, rows[number], attributes)
        if sum(map(bool, candidates)) <= LIKELY * len(rows):
            return None
        by = {NUMBER: number}
    ambiguous = [len(ids) > 1 for ids in candidates]
    if not any(ambiguous):
        return Identity(texts) if texts else None
    groups = [ids for ids in candidates if len(ids) > 1]
    apart = _find_distinguishing_columns(
        rows[ambiguous].drop(columns=[*texts, *by.values()]), groups, attributes
    )
    if apart is None:
        shared = "texts" if texts else "number"
        named = " and ".join(f'"{item_id}"' for item_id in sorted(groups[0])[:2])
        return Identity(
            lacking=f"a column that tells items with the same {shared} apart, such as {named}, by "
            "their condition, list or another of the items' columns"
        )
    return Identity(texts, by | apart)


def find_item_by_number(
    rows: pd.DataFrame, items: Sequence[Item], options: ItemOptions
) -> tuple[str | None, ItemOptions]:
    """Return the column with the items' numbers in their own table, and the options by number."""
    by_number = {number: options[name] for number, name in item_numbers(items).items()}
    named = first_column_for_role(rows, "item")
    if named and share_of_cells(rows[named], by_number) > LIKELY:
        return named, by_number
    return None, options


def _find_distinguishing_columns(
    rows: pd.DataFrame,
    groups: Candidates,
    attributes: Mapping[str, Mapping[str, frozenset[str]]],
) -> dict[str, str] | None:
    """Return the items' and the rows' columns that together identify one item per row, or None."""
    names = dict.fromkeys(name for item_id in groups[0] for name in attributes[item_id])
    fitting = {}
    for name in names:
        values = {
            value for ids in set(groups) for i in ids for value in attributes[i].get(name, ())
        }
        wordy = all(_WORD.search(value) for value in values if value)
        for column in map(str, rows.columns):
            if wordy or _are_similar(name, column):
                narrowed = narrow_candidates(groups, name, rows[column], attributes)
                if all(narrowed) and narrowed != groups:
                    fitting[name, column] = narrowed
    for size in (1, 2):
        solutions: dict[tuple[frozenset[str], ...], list[dict[str, str]]] = defaultdict(list)
        for pairs in combinations(fitting, size):
            left = tuple(
                frozenset.intersection(*ids)
                for ids in zip(*(fitting[pair] for pair in pairs), strict=True)
            )
            if len(dict(pairs)) == size and all(len(ids) == 1 for ids in left):
                solutions[left].append(dict(pairs))
        if len(solutions) == 1:
            return next(iter(solutions.values()))[0]
        if solutions:
            # Columns that contradict each other leave the decision to the researcher.
            return None
    return None


def _are_similar(name: str, column: str) -> bool:
    own, other = simplify_name(name), simplify_name(column)
    if name == NUMBER:
        return other in ROLES["item"].names
    return own in other or (len(other) > 2 and other in own)
