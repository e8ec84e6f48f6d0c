"""Columns of texts held as codes: of millions of rows, each distinct text is held once.

Such a column is categorical. Two of them cannot be compared, nor joined without being decoded,
unless they have the same categories; these functions go through the codes instead.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Codes = NDArray[np.int32]


def codes_in(values: "pd.Series[str]", among: "pd.Index[str]") -> Codes:
    """Return each value's code, its position in an index of distinct values; -1 where it has none.

    Args:
        values: Shape ``(n,)``; missing values stand where the index has a missing one.
        among: The index.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        looked_up = values.cat.categories.append(pd.Index([None]))
        return among.get_indexer(looked_up).astype(np.int32)[values.cat.codes.to_numpy()]
    return among.get_indexer(pd.Index(values, dtype=among.dtype)).astype(np.int32)


def equal_text(one: "pd.Series[str]", other: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return in which rows two columns hold the same text."""
    texts = pd.Index(list(one.unique()))
    return np.asarray(codes_in(one, texts) == codes_in(other, texts))


def take(values: "pd.Series[str]", positions: Codes) -> pd.Categorical:
    """Return a column's values at some positions, held as codes."""
    codes, categories = pd.factorize(values)
    return pd.Categorical.from_codes(codes[positions], categories=categories)


def decode(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of few rows with its texts as texts."""
    return frame.assign(
        **{
            str(name): as_texts(frame[name])
            for name, dtype in frame.dtypes.items()
            if isinstance(dtype, pd.CategoricalDtype)
        }
    )


def as_texts(values: "pd.Series[str]") -> "pd.Series[str]":
    """Return a column of few rows with its texts as texts."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.astype(values.cat.categories.dtype)
    return values
