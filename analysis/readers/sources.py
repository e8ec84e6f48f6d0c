"""Tables as experiment software writes them: text, Parquet, jsPsych, PCIbex, psiTurk."""

import csv
import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError

_PCIBEX_FIRST = "# Results on "
# psiTurk's trialdata.csv has no header; what the experiment recorded stands in the last column.
_PSITURK = ("uniqueid", "current_trial", "recorded_ms", "data")


def read_source(path: Path) -> pd.DataFrame:
    """Return a file's table, every value as text, empty text where there is none.

    The name's ending tells the format: ``.parquet``, ``.json`` (jsPsych: a list of trials, or a
    list of such lists), ``.tsv`` and ``.tab`` (tabs); anything else is CSV. A CSV file that PCIbex
    wrote is known by its first line; its column names stand in its comments. psiTurk's trial data
    is known by JSON in the last of four columns.

    Raises:
        AnalysisError: There is no such file, or it is not in the format its name tells.
    """
    try:
        if path.suffix == ".parquet":
            return pd.DataFrame(pq.read_table(path).to_pandas().astype(str))
        text = path.read_text("utf-8-sig")
        if path.suffix == ".json":
            return _jspsych(text)
        if text.startswith(_PCIBEX_FIRST):
            return _pcibex(text)
        if _is_psiturk(text):
            return _psiturk(text)
        separator = "\t" if path.suffix in (".tsv", ".tab") else ","
        return pd.read_csv(StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except (OSError, ValueError, pa.ArrowInvalid) as error:
        raise AnalysisError(
            f"the judgments cannot be read ({error})",
            where=str(path),
            expected="a table in CSV, TSV, Parquet, jsPsych's JSON, PCIbex's or psiTurk's results",
        ) from error


def _jspsych(text: str) -> pd.DataFrame:
    trials = json.loads(text)
    return _as_text(
        [trial for one in trials for trial in (one if isinstance(one, list) else [one])]
    )


def _as_text(trials: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(trials).map(lambda value: "" if _missing(value) else str(value))


def _is_psiturk(text: str) -> bool:
    first = next(csv.reader(StringIO(text)), [])
    return len(first) == len(_PSITURK) and first[-1].startswith("{")


def _psiturk(text: str) -> pd.DataFrame:
    """Return psiTurk's trials: its own columns, then what the experiment recorded of each."""
    rows = [dict(zip(_PSITURK, row, strict=True)) for row in csv.reader(StringIO(text)) if row]
    return _as_text([row | json.loads(row.pop("data")) for row in rows])


def _missing(value: object) -> bool:
    return value is None or value != value


def _pcibex(text: str) -> pd.DataFrame:
    """Return PCIbex's rows; each block of them follows comments that name its columns."""
    names: list[str] = []
    rows: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            number, _, name = line[1:].strip().partition(". ")
            if number.isdigit():
                # A list of columns begins again at 1, or goes on below where it differs.
                names = [*names[: int(number) - 1], name.rstrip(".")]
        elif line.strip():
            cells = next(iter(pd.read_csv(StringIO(line), header=None, dtype=str).to_numpy()))
            rows.append(dict(zip(names, cells, strict=False)))
    return pd.DataFrame(rows).fillna("")
