"""jsPsych: one row per trial; its CSV writes "null" for missing answers."""

import pandas as pd

from analysis.readers.program import Program


def empty_null_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the trials with empty cells for missing answers, which the CSV writes as "null"."""
    return table.replace("null", "")


PROGRAM = Program(
    name="jsPsych",
    documentation="| jsPsych 6 to 8 | JSON (a list of trials, or a list of such lists) and CSV; "
    "trials without an answer are left out |",
    columns=("trial_type", "trial_index"),
    tidy=empty_null_cells,
)
