"""How often the questions after sentences were answered rightly."""

import numpy as np
import pandas as pd

from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Findings
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section


def _run(given: Given) -> Findings:
    together = pd.concat([given.data.judgments, given.data.others], ignore_index=True)
    asked = together[together["chose_good"].notna()]
    if asked.empty:
        return Findings()
    rows = asked.assign(construction=asked["construction"].astype(str))
    grouped = rows.groupby("construction", sort=False)
    right = np.asarray(rows["chose_good"], dtype=float)
    person, item = (codes(rows[name].astype(str))[0] for name in ("participant", "item_id"))
    group = grouped.ngroup().to_numpy().astype(np.intp)
    told = clustered_intervals(right, person, item, group)
    found = grouped.agg(
        n_answers=("chose_good", "size"), n_items=("item_id", "nunique")
    ).reset_index()
    found = found.assign(accuracy=told.accuracy, accuracy_low=told.low, accuracy_high=told.high)
    known = {one.name: one.title for one in given.run.study.constructions}
    labels = [known.get(name, name) for name in found["construction"]]
    table = given.context.table(
        "reading_questions",
        "Questions",
        "How often the questions after the sentences were answered rightly.",
        found.assign(label=labels),
        (
            Column("label", "", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        Section.READING,
    )
    return Findings((table,), {"reading_questions": found})


QUESTIONS = Finding("reading_questions", Section.READING, _run, of=("self_paced", "maze"))
