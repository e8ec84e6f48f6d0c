"""Qualtrics: rows of question texts and ids below the header; previews are removed."""

import pandas as pd

from analysis.readers.program import Program

_PREVIEW = "preview"


def _responses(table: pd.DataFrame) -> pd.DataFrame:
    """Return the responses, without the rows of question texts and ids, and without previews."""
    ids = table["ResponseId"].str.contains("ImportId", regex=False)
    first = int(ids.to_numpy().argmax()) + 1 if ids.any() else 0
    found = table.iloc[first:]
    # Previews by the study's author; the status is written in the author's language.
    if "DistributionChannel" in found:
        found = found[found["DistributionChannel"] != _PREVIEW]
    if "Status" in found:
        found = found[~found["Status"].isin(["Survey Preview", "1"])]
    return found.reset_index(drop=True)


PROGRAM = Program(
    name="Qualtrics",
    documentation="| Qualtrics | CSV with its three lines of names, texts and ids; columns "
    "named after items; previews are left out, whatever the survey's language |",
    columns=("ResponseId",),
    tidy=_responses,
)
