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


def codes_in(values: "pd.Series[str]", among: "pd.Index[str]") -> Codes:
    """Return each value's position in an index of distinct values; -1 if the index lacks it.

    Args:
        values: Shape ``(n,)``; missing values match a missing entry of the index.
        among: The index.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        looked_up = values.cat.categories.append(pd.Index([None]))
        return among.get_indexer(looked_up).astype(np.int32)[values.cat.codes.to_numpy()]
    return among.get_indexer(pd.Index(values, dtype=among.dtype)).astype(np.int32)


def equal_text(one: "pd.Series[str]", other: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return the rows in which two columns have the same text, as a Boolean array."""
    texts = pd.Index(list(one.unique()))
    return np.asarray(codes_in(one, texts) == codes_in(other, texts))


def take(values: "pd.Series[str]", positions: Codes) -> pd.Categorical:
    """Return a column's values at the given positions, as a categorical."""
    codes, categories = pd.factorize(values)
    return pd.Categorical.from_codes(codes[positions], categories=categories)


def decode(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a small frame with its categorical texts converted to strings."""
    return frame.assign(
        **{
            str(name): as_texts(frame[name])
            for name, dtype in frame.dtypes.items()
            if isinstance(dtype, pd.CategoricalDtype)
        }
    )


def as_texts(values: "pd.Series[str]") -> "pd.Series[str]":
    """Return a small column with its categorical texts converted to strings."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.astype(values.cat.categories.dtype)
    return values


Whole = NDArray[np.int64]


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
    size: Whole

    def sums(self, values: "pd.Series[bool]") -> Whole:
        """Return the number of true values in each group; missing values count as false."""
        true = values.to_numpy(dtype=float, na_value=0.0)
        return np.bincount(self.number, true, len(self.size)).astype(np.int64)

    def distinct(self, values: "pd.Series[str]") -> Whole:
        """Return the number of distinct values in each group, without missing ones."""
        codes, found = pd.factorize(values)
        known = codes >= 0
        pairs = pd.unique(self.number[known] * len(found) + codes[known])
        return np.bincount(pairs // max(len(found), 1), minlength=len(self.size))


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Groups:
    """Return a frame's groups by some columns; missing values form a group of their own."""
    number = np.zeros(len(frame), np.intp)
    for name in by:
        codes, found = pd.factorize(frame[name], use_na_sentinel=False)
        number = number * len(found) + codes
    number = pd.factorize(number)[0]
    first = np.unique(number, return_index=True)[1]
    return Groups(
        number,
        {name: as_texts(frame[name].take(first).reset_index(drop=True)) for name in by},
        np.bincount(number, minlength=len(first)),
    )
