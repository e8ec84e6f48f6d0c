"""Qualtrics: rows of question texts and ids below the header; previews are removed."""

import pandas as pd

from analysis.readers.program import Program

_PREVIEW_CHANNEL = "preview"


def _tidy_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Return the responses, without the rows of question texts and ids, and without previews."""
    ids = table["ResponseId"].str.contains("ImportId", regex=False)
    first_response = int(ids.to_numpy().argmax()) + 1 if ids.any() else 0
    responses = table.iloc[first_response:]
    # Previews by the study's author; the status is written in the author's language.
    if "DistributionChannel" in responses:
        responses = responses[responses["DistributionChannel"] != _PREVIEW_CHANNEL]
    if "Status" in responses:
        responses = responses[~responses["Status"].isin(["Survey Preview", "1"])]
    return responses.reset_index(drop=True)


PROGRAM = Program(
    name="Qualtrics",
    documentation="| Qualtrics | CSV with its three lines of names, texts and ids; columns "
    "named after items; previews are left out, whatever the survey's language |",
    columns=("ResponseId",),
    tidy=_tidy_responses,
)
