"""The Maze: self-paced reading in which each word is a choice."""

from dataclasses import replace

import pandas as pd

from analysis.data.readings import select_comparable_readings
from analysis.findings.finding import Finding, FindingInputs, Findings, full_titles
from analysis.responses.reading import SELF_PACED_ANALYSIS
from analysis.statistics.accuracy import clustered_shares
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_BY = ["construction", "region", "cell"]


def estimate_word_accuracy(words: pd.DataFrame) -> pd.DataFrame:
    """Return the share of words chosen correctly at first, with Wilson's clustered intervals.

    Args:
        words: One row per word: construction, region, cell, correct, participant, unit.
    """
    rows = words.astype({"construction": str, "cell": str})
    shares = clustered_shares(rows, "correct", _BY, "unit").sort_values(_BY, ignore_index=True)
    renamed = shares.rename(columns=lambda name: name.replace("share", "accuracy"))
    return renamed.rename(columns={"n": "n_words"}).drop(columns="n_true")


def _make_findings(inputs: FindingInputs) -> Findings:
    shares = estimate_word_accuracy(
        select_comparable_readings(inputs.run, inputs.data.judgments).frame
    )
    rows = inputs.context.by_construction(shares)
    titles = full_titles(rows)
    table = inputs.context.table(
        "maze_accuracy",
        "First choices of words",
        "How often the word that continues the sentence was chosen first, by region and condition.",
        rows.assign(group=titles, label=rows["region"].astype(str)),
        (
            Column("label", "Region", "text"),
            Column("cell", "Condition", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_words", "Words", "count"),
        ),
        ("Reading times include only words that were chosen first.",),
        Section.READING,
    )
    return Findings((table,), {"maze_accuracy": shares})


MAZE_ACCURACY = Finding("maze_accuracy", Section.READING, _make_findings)


_times, *_models = SELF_PACED_ANALYSIS.findings
MAZE_ANALYSIS = replace(
    SELF_PACED_ANALYSIS,
    name="maze",
    asked=replace(
        SELF_PACED_ANALYSIS.asked,
        task="chose, of two words at a time, the one that continues the sentence",
    ),
    findings=(_times, MAZE_ACCURACY, *_models),
)
