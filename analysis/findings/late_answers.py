"""The share of answers after the deadline, by construction and condition."""

import numpy as np
import pandas as pd

from analysis.data.declared import deadline_of
from analysis.data.join import judgments
from analysis.findings.finding import Finding, Findings, Given, full_titles
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_BY = ["construction", "condition"]


def shares_late(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answers after the deadline, with Wilson's clustered intervals.

    Args:
        answers: One row per answer with a measured time: construction, condition, participant,
            item_id, is_late.
    """
    rows = answers.astype(dict.fromkeys((*_BY, "participant", "item_id"), str))
    grouped = rows.groupby(_BY, sort=True)
    found = grouped.agg(n_answers=("is_late", "size"), n_late=("is_late", "sum")).reset_index()
    person, item = (codes(rows[name])[0] for name in ("participant", "item_id"))
    group = grouped.ngroup().to_numpy().astype(np.intp)
    told = clustered_intervals(rows["is_late"].to_numpy(dtype=float), person, item, group)
    return found.assign(late=told.accuracy, late_low=told.low, late_high=told.high)


def _run(given: Given) -> Findings:
    response = deadline_of(given.run)
    if response is None:
        return Findings()
    every = judgments(given.run, late_too=True)
    known = every[every["is_late"].notna()].astype({"is_late": bool})
    if known.empty:
        return Findings(
            left_out=("No time was measured, so nobody knows which answers were late.",)
        )
    found, n = shares_late(known), int(known["is_late"].sum())
    drop = response.late_answers == "drop"
    rows = given.context.by_construction(found)
    table = given.context.table(
        "late_answers",
        "Answers after the deadline",
        f"How many answers came later than {response.deadline_ms} ms"
        + (" (of a sentence that is read, any step)." if response.step_table else "."),
        rows.assign(
            group=full_titles(rows), label=rows["condition"].where(rows["condition"] != "", "all")
        ),
        (
            Column("label", "Condition", "text"),
            Column("late", "Late", "estimate"),
            Column("n_late", "Late answers", "count"),
            Column("n_answers", "Answers", "count"),
        ),
        (
            f"They are {'left out of' if drop else 'kept in'} every other table (late_answers = "
            f'"{response.late_answers}").',
        ),
        Section.ANSWERS,
    )
    said = (
        (
            f"{n:,} of {len(known):,} answers came after the deadline of {response.deadline_ms} ms "
            "and are left out (table late_answers).",
        )
        if drop and n
        else ()
    )
    return Findings((table,), {"late_answers": found}, said)


LATE_ANSWERS = Finding("late_answers", Section.ANSWERS, _run, of=())
