"""Compare the plan with what was done, line by line."""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.authoring.plan import Plan, hash_lists, read_plan
from experiment.errors import StudyError, TableError
from experiment.tables.schemas import LISTS

_LONGEST_VALUE = 40
_SEVERAL_PARTS = (
    "The frozen plan is not compared with the run: several parts of a study are analysed "
    "together, and each part has its own plan. To compare a plan with its run, compare one part "
    "alone, with its --run."
)


def _run(inputs: FindingInputs) -> Findings:
    try:
        plan = read_plan(inputs.run.study)
    except StudyError as error:
        return Findings(left_out=(f"The plan cannot be compared: {error}",))
    if plan is None:
        return Findings()
    if inputs.run.of_parts:
        return Findings(left_out=(_SEVERAL_PARTS,))
    rows = [
        {
            "label": name,
            "planned": _shorten(planned_value),
            "done": _shorten(done_value),
            "deviation": deviation,
        }
        for name, planned_value, done_value, deviation in _plan_lines(plan, inputs)
    ]
    n = sum(row["deviation"] != "-" for row in rows)
    table = inputs.context.table(
        "plan",
        "Planned and done",
        f"The plan frozen on {plan.frozen_on}, SHA-256 {plan.sha256[:12]}, against the run: "
        f"{n or 'no'} deviation{'' if n == 1 else 's'}.",
        pd.DataFrame(rows),
        (
            Column("label", "", "text"),
            Column("planned", "Planned", "text"),
            Column("done", "Done", "text"),
            Column("deviation", "Deviation", "text"),
        ),
        notes=tuple(
            f"Amended on {change['on']}: {change['reason']} "
            f"({', '.join(change['changes']) or 'nothing'})."
            for change in plan.amendments
        ),
        section=Section.PARTICIPANTS,
    )
    return Findings(tables=(table,))


def _plan_lines(plan: Plan, inputs: FindingInputs) -> Iterator[tuple[str, object, object, str]]:
    values, run, study = plan.values, inputs.run, inputs.run.study
    flow = inputs.context.origin.flow
    done: dict[str, Any] = {
        "seed": run.facts.seed,
        "materials_hash": run.facts.materials_hash,
        "lists_hash": _lists_hash_of_run(inputs),
        "response": study.response,
        "trial": study.trial.model_dump(mode="json"),
        "exclusion": [rule.model_dump(mode="json") for rule in study.exclusion],
        "attention": study.attention.model_dump(mode="json") if study.attention else None,
        "screening": [entry.model_dump(mode="json") for entry in study.screening],
        "comprehension": study.comprehension.model_dump(mode="json")
        if study.comprehension
        else None,
        "questionnaire": [entry.model_dump(mode="json") for entry in study.questionnaire],
    }
    for name, done_value in done.items():
        yield (
            name,
            values.get(name),
            done_value,
            "-" if values.get(name) == done_value else "changed",
        )
    planned, finished = values["n_participants"], flow.finished
    difference = "" if finished is None else f"{finished - planned:+d}"
    yield (
        "n_participants",
        planned,
        finished,
        "-" if finished == planned else f"{difference} finished",
    )
    planned_margin = values["comparisons"].get("margin")
    yield (
        "comparisons.margin",
        planned_margin,
        inputs.margin,
        "-" if planned_margin == inputs.margin else "not planned" if planned_margin is None
        else "changed",
    )  # fmt: skip
    comparisons = study.analysis.model_dump(mode="json")
    for name, planned_value in values["comparisons"].items():
        if name != "margin":
            is_same = comparisons[name] == planned_value
            yield (
                f"comparisons.{name}",
                planned_value,
                comparisons[name],
                "-" if is_same else "changed",
            )
    formula = inputs.options.formula
    yield "mixed model's formula", None, formula, "not planned" if formula else "-"


def _lists_hash_of_run(inputs: FindingInputs) -> str:
    try:
        frame = read_exported_table(LISTS, inputs.run.folder, LISTS.column_names)
    except TableError:
        return ""
    rows = frame[["list", "item_id", "kind"]].itertuples(index=False, name=None)
    return hash_lists((int(number), str(item), str(kind)) for number, item, kind in rows)


def _shorten(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}\u2026"


PLAN = Finding("plan", Section.PARTICIPANTS, _run)
