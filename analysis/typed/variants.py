"""Typed texts that count as another answer, such as misspellings: a table of the researcher's."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from experiment.coding.normalise import normalise

_TYPED, _ANSWER, _ITEM = "typed", "answer", "item_id"
# What the report calls the table, among the rules.
VARIANTS_TABLE = "variants"
# By item (empty: any item) and typed text, the answer as which it counts; texts are normalised.
Variants = Mapping[tuple[str, str], str]


def read_variants(path: Path) -> Variants:
    """Read a table of typed texts and the answers as which they count.

    Args:
        path: CSV, TSV or .xlsx with the columns typed and answer; with item_id, a row concerns that
            item, or every item if the cell is empty.

    Raises:
        AnalysisError: A column is missing, a cell is empty, or a text counts as two answers.
    """
    from analysis.readers.sources import read_source

    table = read_source(path).table
    missing = [name for name in (_TYPED, _ANSWER) if name not in table]
    if missing:
        raise AnalysisError(
            f"the table of variants has no column {' and '.join(missing)}",
            where=str(path),
            expected="the columns typed and answer, and item_id if a row concerns one item",
        )
    texts = table[[_TYPED, _ANSWER]]
    if (texts == "").to_numpy().any():
        raise AnalysisError(
            "a row of the table of variants has no text, or no answer",
            where=str(path),
            expected="in each row what was typed and as which answer it counts",
        )
    items = table[_ITEM] if _ITEM in table else pd.Series("", table.index)
    answers: dict[tuple[str, str], str] = {}
    for item_id, typed, answer in zip(items, table[_TYPED], table[_ANSWER], strict=True):
        key, counted = (str(item_id), normalise(str(typed))), normalise(str(answer))
        if answers.setdefault(key, counted) != counted:
            raise AnalysisError(
                f'"{typed}" counts as "{answers[key]}" and as "{counted}"',
                where=str(path),
                expected="one answer for each text"
                + (f" to the item {item_id}" if item_id else ""),
                remedy="Delete one of the rows",
            )
    return answers
