"""Predictors for mixed models of reading times: surprisal, length, frequency and spill-over."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from experiment.materials.formats.delimited import MISSING_NUMBERS
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.materials.formats.words import key_of

KEYS = ["text_id", "position"]
_UNITS = ("surprisal_bits", "surprisal_nats")


def parse_positions(table: RawTable, header: str, first: int = 1) -> "pd.Series[int]":
    """Return a column of whole numbers, shifted to count from 1 if the file starts at ``first``.

    Raises:
        AnalysisError: A value is not a whole number, or is below the first.
    """
    numbers_ = parse_numbers(table, header, least=first)
    if (numbers_ % 1 != 0).any():
        index = int(np.flatnonzero(numbers_ % 1 != 0)[0])
        raise AnalysisError(
            f"{numbers_[index]} is not a position",
            where=table.rows[index].place,
            expected="a whole number, such as 1, 2 or 3",
        )
    return numbers_.astype(int) - (first - 1)


def parse_numbers(
    table: RawTable, header: str, least: int, *, missing: bool = False
) -> "pd.Series[float]":
    """Return a column's numbers; missing values are an error unless allowed.

    Raises:
        AnalysisError: A value is not a number, or is below the least.
    """
    texts = pd.Series([row.values[header] for row in table.rows])
    values = pd.to_numeric(texts, errors="coerce")
    blank = texts.str.lower().isin(MISSING_NUMBERS) & missing
    wrong = ~blank & ~(np.isfinite(values) & (values >= least))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise AnalysisError(
            f'"{texts[index]}" is not a valid value of the column "{header}"',
            where=table.rows[index].place,
            expected=f"a number that is at least {least}",
            remedy="If positions begin with 0, add --first-position 0"
            if least == 1 and values[index] == 0
            else "",
        )
    return values


def read_surprisal(path: Path, *, missing: bool = False) -> tuple[pd.DataFrame, str]:
    """Read a table written by `parallax lm surprisal`, and return it with its unit's column.

    Args:
        path: The table.
        missing: Whether words may have no surprisal, as in those of `parallax reading cloze`.

    Raises:
        AnalysisError: The file is not such a table.
        MaterialsError: The file cannot be read.
    """
    table = read_raw(path)
    unit = next((name for name in _UNITS if name in table.columns), None)
    if unit is None or not {*KEYS, "text"} <= set(table.columns):
        raise AnalysisError(
            f"the table has the columns {', '.join(table.columns)}",
            where=str(path),
            expected="a table that `parallax lm surprisal` wrote",
        )
    texts = pd.DataFrame([row.values for row in table.rows])
    frame = pd.DataFrame({"text_id": texts["text_id"], "text": texts["text"]})
    frame["position"] = parse_positions(table, "position")
    frame[unit] = parse_numbers(table, unit, least=0, missing=missing)
    if frame.duplicated(KEYS).any():
        raise AnalysisError(
            "two rows have the same text and position",
            where=str(path),
            expected="each position of each text once",
            remedy="Write the table again, or remove the second row",
        )
    return frame, unit


def read_frequencies(path: Path) -> "pd.Series[float]":
    """Return log-frequencies by word, in lower case and without punctuation.

    Raises:
        AnalysisError: The table has no column of words or frequencies.
        MaterialsError: The file cannot be read.
    """
    table = read_raw(path)
    by_key = {key_of(name): name for name in reversed(table.columns)}
    scale = next((key for key in ("log_frequency", "zipf", "count") if key in by_key), None)
    if "word" not in by_key or scale is None:
        raise AnalysisError(
            f"the table has the columns {', '.join(table.columns)}",
            where=str(path),
            expected="word, and one of log_frequency, zipf (taken as they are) and count",
        )
    values = parse_numbers(table, by_key[scale], least=-1000 if scale == "log_frequency" else 0)
    words = [normalise_word(row.values[by_key["word"]]) for row in table.rows]
    frequencies = pd.Series(values.to_numpy(), index=words)
    if scale == "count":
        return (frequencies.groupby(level=0).sum() + 1).map(math.log)
    return frequencies[~frequencies.index.duplicated()]


def normalise_word(text: str) -> str:
    """Return a word in lower case without punctuation, for comparison and look-up."""
    return re.sub(r"[\W_]+", "", text.casefold())


def add_predictors(
    surprisal: pd.DataFrame,
    columns: Sequence[str],
    spillover: int,
    frequencies: "pd.Series[float] | None" = None,
) -> pd.DataFrame:
    """Return the predictors of each position, and those of the positions before it.

    Args:
        surprisal: text_id, position, text and the columns of surprisal.
        columns: The names of the surprisal columns.
        spillover: The number of preceding positions to include.
        frequencies: Frequencies from ``read_frequencies``.

    Returns:
        The same rows with length (characters without punctuation), log_frequency if requested,
        is_first, is_last, and ``prev1_...`` and so on; missing at the beginning of a text.
    """
    frame = surprisal.sort_values(KEYS, ignore_index=True)
    words = frame["text"].map(normalise_word)
    frame["length"] = words.str.len()
    predictor_columns = [*columns, "length"]
    if frequencies is not None:
        # For a region of several words, use the mean over its words.
        frame["log_frequency"] = [_mean_frequency(text, frequencies) for text in frame["text"]]
        predictor_columns.append("log_frequency")
    grouped = frame.groupby("text_id", sort=False)
    frame["is_first"] = ~frame.duplicated("text_id")
    frame["is_last"] = ~frame.duplicated("text_id", keep="last")
    for back in range(1, spillover + 1):
        shifted = grouped[predictor_columns].shift(back)
        frame = frame.join(shifted.add_prefix(f"prev{back}_"))
    return frame


def _mean_frequency(text: str, frequencies: "pd.Series[float]") -> float:
    word_frequencies = frequencies.reindex([normalise_word(word) for word in text.split()])
    return float(word_frequencies.mean(skipna=False))
