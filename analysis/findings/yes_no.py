"""Rates of "acceptable" answers, and participants' sensitivity to acceptability."""

import numpy as np
import pandas as pd

from analysis.findings.finding import ALL_ITEMS, Context, Finding, Findings, Given, full_titles
from analysis.statistics.detection import detection, yes_rates
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Kind

_CELL = ["construction", "condition", "expected"]
_LABEL = Column("label", "", "text")
_NONE = "none"
_LEFT_OUT = (
    "Answers are yes or no to one sentence: what rests on a choice between two versions (agreement "
    "with models item by item, learning, the mixed model of choices) is left out."
)


def with_expected(answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers with ``expected``: "yes", "no" or "none"."""
    told = answers["chose_good"].notna().to_numpy()
    said = answers["said_yes"].to_numpy(dtype=bool)
    right = answers["chose_good"].fillna(value=False).to_numpy(dtype=bool)
    expected = np.where(told, np.where(said == right, "yes", "no"), _NONE)
    return answers.assign(expected=pd.Categorical(expected, ["yes", "no", _NONE]))


def _run(given: Given) -> Findings:
    answers = with_expected(given.data.judgments)
    rates = _ordered(yes_rates(answers, _CELL), given)
    known = answers[answers["expected"] != _NONE]
    found = _detection(known)
    tables = [_rates_table(rates, given.context)]
    if len(found):
        caught = bool((known["kind"].astype(str) == Kind.CATCH).any())
        tables.append(_detection_table(found, given.context, caught=caught))
    return Findings(tuple(tables), {"yes_rates": rates, "detection": found}, (_LEFT_OUT,))


def _ordered(rates: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return the rows by condition in the items' order, yes before no."""
    order = {
        name: n for n, name in enumerate(dict.fromkeys(given.run.items["condition"].astype(str)))
    }
    rows = rates.assign(place=rates["condition"].map(order))
    rows["last"] = rows["expected"].map({"yes": 0, "no": 1, _NONE: 2}).astype(int)
    return rows.sort_values(["place", "last"], kind="stable").drop(columns=["place", "last"])


def _detection(known: pd.DataFrame) -> pd.DataFrame:
    """Return d' of all targets, and of each construction."""
    if known.empty:
        return pd.DataFrame(columns=["construction"])
    of_each = detection(known, ["construction"])
    counted = known[known["kind"].astype(str) != Kind.CATCH]
    together = detection(counted.assign(construction=""), ["construction"])
    return pd.concat([together, of_each], ignore_index=True)


def _rates_table(rates: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(rates)
    titles = full_titles(rows)
    rows = rows.assign(group=titles, label=rows["condition"].astype(str))
    several = rates["expected"].nunique() > 1 or rates["expected"].iloc[0] != _NONE
    return context.table(
        "yes_rates",
        "Called acceptable",
        "How often sentences were called acceptable, by condition"
        f"{' and by the answer that was expected' if several else ''}.",
        rows,
        (
            _LABEL,
            *((Column("expected", "Expected", "text"),) if several else ()),
            Column("yes", "Yes", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        section=Section.ANSWERS,
    )


def _detection_table(found: pd.DataFrame, context: Context, *, caught: bool) -> Table:
    rows = context.by_construction(found)
    if (rows["construction"] == "").sum() and len(rows) == 2:
        rows = rows[rows["construction"] != ""]
    return context.table(
        "detection",
        "Telling acceptable from unacceptable",
        "How often people said yes to what is acceptable and to what is not, and what follows: "
        "accuracy, sensitivity (d') and criterion.",
        rows,
        (
            _LABEL,
            Column("hits", "acceptable", "number", "Yes to"),
            Column("false_alarms", "unacceptable", "number", "Yes to"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("dprime", "d'", "estimate"),
            Column("criterion", "Criterion", "estimate"),
            Column("n_answers", "Answers", "count"),
        ),
        (
            "d': 0 where people cannot tell the two apart. Criterion: above 0 people lean towards "
            "no, below 0 towards yes. Both are of all answers together; with people of very "
            "different criteria d' is lower than that of each.",
            f"{ALL_ITEMS}: targets alone"
            f"{', without those that a list uses as catch trials' if caught else ''}.",
        ),
        Section.ANSWERS,
    )


YES_NO = Finding("yes_no", Section.ANSWERS, _run, of=("yes_no",))
