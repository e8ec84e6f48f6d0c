"""Columns of texts held as codes: of millions of rows, each distinct text is held once.

Such a column is categorical. Two of them cannot be compared, nor joined without being spelled out,
unless they have the same categories; these functions go through the codes instead.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Places = NDArray[np.int32]


def places(values: "pd.Series[str]", among: "pd.Index[str]") -> Places:
    """Return where each value stands in an index of distinct values; -1 where it does not.

    Args:
        values: Shape ``(n,)``; missing values stand where the index has a missing one.
        among: The index.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        looked_up = values.cat.categories.append(pd.Index([None]))
        return among.get_indexer(looked_up).astype(np.int32)[values.cat.codes.to_numpy()]
    return among.get_indexer(pd.Index(values, dtype=among.dtype)).astype(np.int32)


def alike(one: "pd.Series[str]", other: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return in which rows two columns hold the same text."""
    texts = pd.Index(list(one.unique()))
    return np.asarray(places(one, texts) == places(other, texts))


def named(values: "pd.Series[str]", place: Places) -> pd.Categorical:
    """Return a column's values at some places, held as codes."""
    code, categories = pd.factorize(values)
    return pd.Categorical.from_codes(code[place], categories=categories)


def spelled_out(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of few rows with its texts as texts."""
    coded = frame.columns[[isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes]]
    return frame.astype({name: frame[name].cat.categories.dtype for name in coded})
