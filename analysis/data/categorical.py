"""Categorical text columns: in tables of millions of rows, each distinct text is stored once.

Two categorical columns can be compared, or joined without decoding, only if they have the same
categories. These functions work on the codes instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Codes = NDArray[np.int32]


def find_codes(values: "pd.Series[str]", among: "pd.Index[str]") -> Codes:
    """Return each value's position in an index of distinct values; -1 if the index lacks it.

    Args:
        values: Shape ``(n,)``; missing values match a missing entry of the index.
        among: The index.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        looked_up = values.cat.categories.append(pd.Index([None]))
        return among.get_indexer(looked_up).astype(np.int32)[values.cat.codes.to_numpy()]
    return among.get_indexer(pd.Index(values, dtype=among.dtype)).astype(np.int32)


def have_equal_text(left: "pd.Series[str]", right: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return the rows in which two columns have the same text, as a Boolean array."""
    texts = pd.Index(list(left.unique()))
    return np.asarray(find_codes(left, texts) == find_codes(right, texts))


def take_values(values: "pd.Series[str]", positions: Codes) -> pd.Categorical:
    """Return a column's values at the given positions, as a categorical."""
    codes, categories = pd.factorize(values)
    return pd.Categorical.from_codes(codes[positions], categories=categories)


def decode_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a small frame with its categorical texts converted to strings."""
    return frame.assign(
        **{
            str(name): decode_column(frame[name])
            for name, dtype in frame.dtypes.items()
            if isinstance(dtype, pd.CategoricalDtype)
        }
    )


def decode_column(values: "pd.Series[str]") -> "pd.Series[str]":
    """Return a small column with its categorical texts converted to strings."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.astype(values.cat.categories.dtype)
    return values


WholeNumbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of rows, in order of first occurrence.

    Attributes:
        number: Shape ``(n,)``: the group number of each row, from 0 without gaps.
        keys: The grouping columns, one array per column with an entry per group; texts are texts.
        size: Shape ``(groups,)``: the number of rows in each group.
    """

    number: NDArray[np.intp]
    keys: dict[str, "pd.Series[str]"]
    size: WholeNumbers

    def sums(self, values: "pd.Series[bool]") -> WholeNumbers:
        """Return the number of true values in each group; missing values count as false."""
        true = values.to_numpy(dtype=float, na_value=0.0)
        return np.bincount(self.number, true, len(self.size)).astype(np.int64)

    def distinct(self, values: "pd.Series[str]") -> WholeNumbers:
        """Return the number of distinct values in each group, without missing ones."""
        codes, distinct_values = pd.factorize(values)
        is_present = codes >= 0
        pairs = pd.unique(self.number[is_present] * len(distinct_values) + codes[is_present])
        return np.bincount(pairs // max(len(distinct_values), 1), minlength=len(self.size))


def group_rows(frame: pd.DataFrame, by: Sequence[str]) -> Groups:
    """Return a frame's groups by some columns; missing values form a group of their own."""
    number = np.zeros(len(frame), np.intp)
    for name in by:
        codes, distinct_values = pd.factorize(frame[name], use_na_sentinel=False)
        number = number * len(distinct_values) + codes
    number = pd.factorize(number)[0]
    first_rows = np.unique(number, return_index=True)[1]
    return Groups(
        number,
        {name: decode_column(frame[name].take(first_rows).reset_index(drop=True)) for name in by},
        np.bincount(number, minlength=len(first_rows)),
    )
