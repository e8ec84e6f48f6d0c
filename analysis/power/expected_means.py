"""The means that are expected in the cells of a design: a table's, or defaults."""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.data.own_columns import PREFIX
from analysis.errors import AnalysisError
from analysis.power.cells import SimulatedAnswers
from experiment.errors import why_unread
from experiment.records import PAIR, Kind, Variant

_MEAN_COLUMN = "mean"
# Default means, as a share of the scale, by version.
_GOOD, _OTHER, _ALONE = 0.8, 0.2, 0.5


def add_expected_means(
    answers: SimulatedAnswers,
    ends: tuple[int, int],
    expected: Path | Mapping[str, float] | None,
) -> pd.DataFrame:
    """Add ``mean`` to answers: the expected mean, or a default.

    Args:
        answers: The answers.
        ends: The lowest and the highest point of the scale; of two points, expected means are
            shares from 0 to 1.
        expected: The share of each construction; or a table with ``mean`` and columns that
            identify answers: construction, condition, version, list, own columns, factors between
            participants; or None for the middle of the scale.

    Raises:
        AnalysisError: The file cannot be read, or does not have one mean for each answer.
    """
    rows = answers.rows
    if isinstance(expected, Mapping):
        return rows.assign(mean=1 + rows["construction"].map(expected).fillna(_GOOD))
    target = rows["kind"] == Kind.TARGET
    is_single = ~rows["item_id"].isin(
        answers.items.loc[_have_two_versions(answers.items), "item_id"]
    )
    share = np.where(is_single, _ALONE, np.where(rows["version"] == Variant.GOOD, _GOOD, _OTHER))
    lowest, highest = ends
    means = pd.Series(lowest + (highest - lowest) * share, rows.index)
    if expected is not None:
        means_of_targets = _read_expected_means(rows[target], expected)
        means[target] = 1 + means_of_targets if ends == (1, len(PAIR)) else means_of_targets
    return rows.assign(mean=means)


def _have_two_versions(items: pd.DataFrame) -> "pd.Series[bool]":
    return (items["bad"] != "") | (items["distractor"] != "")


def _read_expected_means(rows: pd.DataFrame, path: Path) -> "pd.Series[float]":
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = pd.DataFrame(list(csv.DictReader(file)))
        means = pd.to_numeric(table[_MEAN_COLUMN])
    except (OSError, UnicodeDecodeError, KeyError, ValueError) as error:
        raise AnalysisError(
            f"the expected means cannot be read ({why_unread(error)})",
            where=str(path),
            expected='a table in UTF-8 with a number in the column "mean" of every row',
        ) from error
    keys = [str(name) for name in table if name != _MEAN_COLUMN]
    columns = {name.removeprefix(PREFIX): rows[name].astype(str) for name in map(str, rows)}
    for key in keys:
        if key not in columns:
            raise AnalysisError(
                f'the study has no column "{key}"', where=str(path),
                expected="construction, condition, version, a column of your items or a factor",
            )  # fmt: skip
    mean_of = dict(zip(table[keys].itertuples(index=False, name=None), means, strict=True))
    if len(mean_of) < len(table):
        raise AnalysisError("two rows give the mean of the same answers", where=str(path))
    row_keys = list(zip(*(columns[key] for key in keys), strict=True)) or [()] * len(rows)
    if missing_key := next((row_key for row_key in row_keys if row_key not in mean_of), None):
        description = ", ".join(
            f"{key} = {value}" for key, value in zip(keys, missing_key, strict=True)
        )
        raise AnalysisError(
            f"no expected mean is given for {description}",
            where=str(path),
            expected="a row for each condition",
        )
    return pd.Series([mean_of[row_key] for row_key in row_keys], rows.index)
