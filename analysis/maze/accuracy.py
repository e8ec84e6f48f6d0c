"""The share of Maze words chosen rightly at once, by region and condition."""

import numpy as np
import pandas as pd

from analysis.data.readings import readings_of
from analysis.findings.finding import Finding, Findings, Given, full_titles
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_BY = ["construction", "region", "cell"]


def word_accuracy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the share of words chosen rightly at once, with Wilson's clustered intervals.

    Args:
        frame: One row per word: construction, region, cell, correct, participant, unit.
    """
    rows = frame.astype({"construction": str, "cell": str})
    grouped = rows.groupby(_BY, sort=True)
    found = grouped.agg(n_words=("correct", "size")).reset_index()
    person, unit = (codes(rows[name])[0] for name in ("participant", "unit"))
    group = grouped.ngroup().to_numpy().astype(np.intp)
    told = clustered_intervals(rows["correct"].to_numpy(dtype=float), person, unit, group)
    return found.assign(accuracy=told.accuracy, accuracy_low=told.low, accuracy_high=told.high)


def _run(given: Given) -> Findings:
    found = word_accuracy(readings_of(given.run, given.data.judgments).frame)
    rows = given.context.by_construction(found)
    titles = full_titles(rows)
    table = given.context.table(
        "maze_accuracy",
        "Words chosen at once",
        "How often the word that goes on the sentence was chosen first, by region and condition.",
        rows.assign(group=titles, label=rows["region"].astype(str)),
        (
            Column("label", "Region", "text"),
            Column("cell", "Condition", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_words", "Words", "count"),
        ),
        ("Times are of words that were chosen at once.",),
        Section.READING,
    )
    return Findings((table,), {"maze_accuracy": found})


MAZE_ACCURACY = Finding("maze_accuracy", Section.READING, _run, of=("maze",))
