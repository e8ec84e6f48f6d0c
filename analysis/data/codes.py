"""The codes of typed answers in an export: two coders' categories, and what follows from them."""

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.data.load import ExportedRun
from experiment.tables.observation_tables import CODES

_TRIAL = ["participant", "position"]


def read_codes(run: ExportedRun) -> pd.DataFrame:
    """Return the table of codes of an export; without rows if no version was frozen."""
    names = CODES.column_names
    if not any((run.folder / f"{CODES.name}{suffix}").is_file() for suffix in (".parquet", ".csv")):
        return pd.DataFrame(columns=list(names))
    table = read_exported_table(CODES, run.folder, names)
    texts = [column.name for column in CODES.columns if column.type == "string"]
    return table.assign(**{name: table[name].fillna("").astype(str) for name in texts})


def add_codes(judgments: pd.DataFrame, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments that have a code, with the column code and their index."""
    by_trial = codes.set_index(_TRIAL)["code"]
    trials = pd.MultiIndex.from_arrays(
        [judgments["participant"].astype(str), judgments["position"].astype(int)]
    )
    coded = judgments.assign(code=by_trial.reindex(trials).to_numpy())
    return coded[coded["code"].fillna("") != ""]
