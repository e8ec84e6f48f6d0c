"""Qualtrics: rows of question texts and ids below the header; previews are removed."""

import pandas as pd

from analysis.readers.program import LABELS, Program

_PREVIEW_CHANNEL = "preview"


def _tidy_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Return the responses, without the rows of question texts and ids, and without previews."""
    n_headers = _count_header_rows(table)
    responses = table.iloc[n_headers:]
    # Previews by the study's author; the status is written in the author's language.
    if "DistributionChannel" in responses:
        responses = responses[responses["DistributionChannel"] != _PREVIEW_CHANNEL]
    if "Status" in responses:
        responses = responses[~responses["Status"].isin(["Survey Preview", "1"])]
    responses = responses.reset_index(drop=True)
    if n_headers:
        responses.attrs[LABELS] = dict(table.iloc[0].astype(str))
    return responses


def _count_header_rows(table: pd.DataFrame) -> int:
    """Return the number of rows with texts and ids; some exports have the texts alone."""
    ids = table.get("ResponseId", table.iloc[:, 0]).str.contains("ImportId", regex=False)
    if ids.any():
        return int(ids.to_numpy().argmax()) + 1
    # A date has digits, and its label has none.
    return int("EndDate" in table and not table["EndDate"].head(1).str.contains(r"\d").all())


PROGRAM = Program(
    name="Qualtrics",
    documentation="| Qualtrics | CSV with its two or three lines of names, texts and ids; columns "
    "named after items, or whose questions contain the items' texts; previews are left out, "
    "whatever the survey's language |",
    columns=("ResponseId",),
    other_columns=("StartDate", "EndDate", "DistributionChannel"),
    tidy=_tidy_responses,
)
