"""Copies of judgments: found, and left to the mapping to decide about."""

import pandas as pd

from analysis.errors import AnalysisError
from analysis.readers.accounting import Accounting
from analysis.readers.long_form import ROW
from analysis.readers.mapping import Meaning
from analysis.readers.single_answers import ANSWERS, VERSION

_SAID = ("chosen", "correct", VERSION, *ANSWERS)


def without_copies(
    rows: pd.DataFrame, table: pd.DataFrame, mapping: Meaning, account: Accounting
) -> pd.DataFrame:
    """Return judgments without copies of others, as the mapping says; else refuse copies.

    A copy repeats a whole row of the source, or the same person, item, choice and time. Where
    nobody knows who judged, equal rows are different people's.

    Raises:
        AnalysisError: There are copies, and the mapping does not say what to do with them.
    """
    if "participant" not in rows:
        return rows
    copies = copied(rows, table)
    if not copies.any():
        return rows
    if not mapping.duplicates:
        raise AnalysisError(
            f"{int(copies.sum()):,} of {len(rows):,} judgments are copies of others: the same "
            "participant, item, choice and time, or a whole row again",
            where=account.where,
            expected="each judgment once",
            remedy='Write duplicates = "drop" in the mapping, or duplicates = "keep" if they are '
            "different judgments",
        )
    if mapping.duplicates == "keep":
        account.attention.append(f"{int(copies.sum()):,} judgments are copies of others, and kept")
        return rows
    account.trials_dropped["copy of another judgment"] = int(copies.sum())
    account.cells_used = int(account.cells_used * (1 - copies.mean()))
    account.used -= int(copies.sum())
    return rows[~copies].reset_index(drop=True)


def copied(rows: pd.DataFrame, table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which judgments are copies of earlier ones."""
    said = [name for name in _SAID if name in rows]
    found = pd.Series(False, rows.index)
    if "participant" not in rows:
        return found
    key = ["participant", "item", *said]
    if "rt_ms" in rows:
        found |= rows.duplicated([*key, "rt_ms"]) & (rows["rt_ms"] != "")
    again = table.duplicated().to_numpy()
    if again.any():
        found |= pd.Series(again[rows[ROW].to_numpy()], rows.index)
    sizes = rows.groupby(["participant", "item"])["item"].transform("size")
    if len(rows) > 1 and sizes.min() > 1 and sizes.min() == sizes.max():
        # Everybody judged every item equally often: a file written twice, or a design.
        doubled = rows.duplicated(key)
        if doubled.sum() * int(sizes.min()) == len(rows) * (int(sizes.min()) - 1):
            found |= doubled
    return found


def refuse_doubled(rows: pd.DataFrame, table: pd.DataFrame, where: str) -> None:
    """Raise where every judgment stands in the file more than once.

    Raises:
        AnalysisError: It does.
    """
    copies = copied(rows, table)
    if len(rows) > 1 and copies.sum() >= len(rows) / 2:
        raise AnalysisError(
            f"{int(copies.sum()):,} of {len(rows):,} judgments are copies of others",
            where=where,
            expected="each judgment once",
            remedy="Import the file first with `parallax import judgments`, whose mapping says "
            "what to do with copies",
        )
