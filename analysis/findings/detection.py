"""How well people tell acceptable from unacceptable sentences: d' and the criterion."""

import numpy as np
import pandas as pd

from analysis.data.kinds import add_kinds
from analysis.findings.design import crossed_designs
from analysis.findings.finding import ALL_ITEMS, Context, FindingInputs, Findings, full_titles
from analysis.statistics.detection import detection
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Kind

NO_ANSWER = "none"


def add_expected_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers with ``expected``: "yes", "no" or "none"."""
    has_expected = answers["chose_good"].notna().to_numpy()
    said_yes = answers["said_yes"].to_numpy(dtype=bool)
    right = answers["chose_good"].fillna(value=False).to_numpy(dtype=bool)
    expected = np.where(has_expected, np.where(said_yes == right, "yes", "no"), NO_ANSWER)
    return answers.assign(expected=pd.Categorical(expected, ["yes", "no", NO_ANSWER]))


def detection_findings(inputs: FindingInputs, answers: pd.DataFrame) -> Findings:
    """Return d' and the criterion of all targets, each construction, fillers, and each condition.

    Args:
        inputs: The inputs of findings.
        answers: The judgments with ``expected``.
    """
    with_answer = answers[answers["expected"] != NO_ANSWER]
    sensitivity, fillers = _compute_sensitivity(with_answer), _filler_detection(inputs)
    by_cell = _detection_by_cell(inputs)
    tables = []
    if len(sensitivity) or len(fillers):
        caught = bool((with_answer["kind"].astype(str) == Kind.CATCH).any())
        tables.append(_detection_table(sensitivity, fillers, inputs.context, caught=caught))
    if len(by_cell):
        tables.append(_by_cell_table(by_cell, inputs.context))
    statistics = {"detection": sensitivity, "filler_detection": fillers}
    return Findings(
        tuple(tables),
        statistics | ({"detection_by_cell": by_cell} if len(by_cell) else {}),
    )


def _compute_sensitivity(answers: pd.DataFrame) -> pd.DataFrame:
    """Return d' of all targets, and of each construction."""
    if answers.empty:
        return pd.DataFrame(columns=["construction"])
    of_each = detection(answers, ["construction"])
    counted_answers = answers[answers["kind"].astype(str) != Kind.CATCH]
    together = detection(counted_answers.assign(construction=""), ["construction"])
    return pd.concat([together, of_each], ignore_index=True)


def _detection_by_cell(inputs: FindingInputs) -> pd.DataFrame:
    """Return d' and the criterion in the cells that have acceptable and unacceptable sentences.

    The cells pool over the factors that decide which answer is expected.
    """
    parts = [pd.DataFrame(columns=["construction"])]
    for _, rows, cross in crossed_designs(inputs):
        answers = add_expected_answers(rows)
        answers = answers[answers["expected"] != NO_ANSWER]
        cell = answers["cell"].astype(str)
        kept = [
            factor
            for factor in cross.factors
            if (
                answers.groupby(cell.map(cross.pooled([factor])[0]))["expected"].nunique() > 1
            ).all()
        ]
        names = cross.pooled(kept)[0]
        answers = answers.assign(cell=cell.map(names))
        has_both = answers.groupby("cell")["expected"].transform("nunique") > 1
        if kept and has_both.any():
            parts.append(detection(answers[has_both], ["construction", "cell"]))
    return pd.concat(parts, ignore_index=True)


def _filler_detection(inputs: FindingInputs) -> pd.DataFrame:
    """Return d' of the fillers with an expected answer, all together; empty if there is none."""
    fillers = inputs.data.others
    if fillers.empty:
        return pd.DataFrame(columns=["construction"])
    answers = add_expected_answers(add_kinds(fillers, inputs.run.items))
    is_known = (answers["kind"] == Kind.FILLER) & (answers["expected"] != NO_ANSWER)
    return detection(answers[is_known].assign(construction=""), ["construction"])


_DETECTION = (
    Column("label", "", "text"),
    Column("hits", "acceptable", "number", "Yes to"),
    Column("false_alarms", "unacceptable", "number", "Yes to"),
    Column("accuracy", "Accuracy", "estimate"),
    Column("dprime", "d'", "estimate"),
    Column("criterion", "Criterion", "estimate"),
    Column("n_answers", "Answers", "count"),
)
_OF_DETECTION = (
    "d': 0 if people cannot tell the two apart. Criterion: above 0, a bias towards no; below 0, "
    "towards yes. Both pool all answers; if people's criteria differ much, the pooled d' is lower "
    "than each person's."
)


def _by_cell_table(by_cell: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(by_cell)
    return context.table(
        "detection_by_cell",
        "Discrimination and bias by condition",
        "Sensitivity (d') and criterion in each condition, over the factors that decide which "
        "answer is expected.",
        rows.assign(group=full_titles(rows), label=rows["cell"]),
        _DETECTION,
        (_OF_DETECTION,),
        Section.ANSWERS,
    )


def _detection_table(
    sensitivity: pd.DataFrame, fillers: pd.DataFrame, context: Context, *, caught: bool
) -> Table:
    rows = context.by_construction(sensitivity)
    if (rows["construction"] == "").sum() and len(rows) == 2:
        rows = rows[rows["construction"] != ""]
    if len(fillers):
        of_fillers = fillers.assign(label="Fillers with a known answer", group="")
        rows = pd.concat([rows, of_fillers], ignore_index=True)
    return context.table(
        "detection",
        "Discrimination of acceptable and unacceptable",
        "How often people said yes to acceptable and to unacceptable sentences, with accuracy, "
        "sensitivity (d') and criterion.",
        rows,
        _DETECTION,
        (
            _OF_DETECTION,
            f"{ALL_ITEMS}: targets only"
            f"{', without those that a list uses as catch trials' if caught else ''}.",
        ),
        Section.ANSWERS,
    )
