"""psiTurk: trialdata.csv has no header; its last column contains the recorded data as JSON."""

import csv
import json
from io import StringIO

import pandas as pd

from analysis.readers.json_trials import trials_as_text
from analysis.readers.program import Program

_COLUMNS = ("uniqueid", "current_trial", "recorded_ms", "data")


def _is_trial_data(text: str) -> bool:
    """Return whether a text is psiTurk trial data: four columns, JSON in the last."""
    cells = next(csv.reader(StringIO(text, newline="")), [])
    return len(cells) == len(_COLUMNS) and cells[-1].startswith(("{", "["))


def _read_trials(text: str) -> tuple[pd.DataFrame, str]:
    """Return psiTurk's trials: its own columns, then the recorded fields of each trial.

    Data recorded as a list get the columns ``data_1``, ``data_2`` and so on.
    """
    rows = [
        dict(zip(_COLUMNS, row, strict=True))
        for row in csv.reader(StringIO(text, newline=""))
        if row
    ]
    table = trials_as_text([row | _recorded_fields(json.loads(row.pop("data"))) for row in rows])
    return table, PROGRAM.name


def _recorded_fields(data: object) -> dict[str, object]:
    if isinstance(data, dict):
        return data
    values = data if isinstance(data, list) else [data]
    return {f"data_{number}": value for number, value in enumerate(values, start=1)}


PROGRAM = Program(
    name="psiTurk",
    documentation="| psiTurk | `trialdata.csv`: `uniqueid`, `current_trial`, `recorded_ms` and "
    "all names that the experiment recorded (for lists `data_1`, `data_2`, ...) |",
    recognises=_is_trial_data,
    read_text=_read_trials,
)
