"""Categorical text columns: in tables of millions of rows, each distinct text is stored once.

Two categorical columns can be compared, or joined without decoding, only if they have the same
categories. These functions work on the codes instead.
"""

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
