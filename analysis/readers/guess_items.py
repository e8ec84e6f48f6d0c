"""Guess what identifies the item of each row, if no column holds its id."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pandas as pd

from analysis.readers.guess_columns import (
    LIKELY,
    ItemOptions,
    find_text_columns,
    share_of_cells,
)
from analysis.readers.item_identity import (
    NUMBER,
    Candidates,
    narrow_candidates,
    values_by_item,
)
from analysis.readers.mapping import ROLES, first_column_for_role, simplify_name
from analysis.readers.texts import candidates_by_texts, item_numbers
from experiment.records import Item

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
