"""Gorilla: one row per event, and a final line that marks the end of the file."""

import pandas as pd

from analysis.readers.program import Program


def _tidy_events(table: pd.DataFrame) -> pd.DataFrame:
    """Return the events, without the final end-of-file line."""
    return table[table.iloc[:, 0] != "END OF FILE"].reset_index(drop=True)


PROGRAM = Program(
    name="Gorilla",
    documentation="| Gorilla | the data of a task of Task Builder 1 or 2 as CSV, including the "
    "spreadsheet's columns |",
    columns=("Participant Private ID",),
    tidy=_tidy_events,
)
