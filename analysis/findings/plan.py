"""Compare the plan with what was done, line by line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.statistics.paired import MARGIN
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.authoring.plan import Plan, describe_change, hash_lists, read_plan, shorten_value
from experiment.errors import StudyError, TableError
from experiment.tables.schemas import LISTS

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
            "planned": shorten_value(planned_value),
            "done": shorten_value(done_value),
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
            f"({_describe_changes(change['changes'])})."
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
        _margin_deviation(planned_margin, inputs),
    )
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


def _describe_changes(changes: Mapping[str, Sequence[object]]) -> str:
    """Return the changed values of an amendment, before and after."""
    described = [describe_change(name, *pair) for name, pair in changes.items()]
    return "; ".join(described) or "nothing"


def _margin_deviation(planned: float | None, inputs: FindingInputs) -> str:
    """Return how the margin deviates; a plan without one implies the margin of every study."""
    if inputs.margin == (MARGIN if planned is None else planned):
        return "-"
    return "not planned" if planned is None else "changed"


def _lists_hash_of_run(inputs: FindingInputs) -> str:
    try:
        frame = read_exported_table(LISTS, inputs.run.folder, LISTS.column_names)
    except TableError:
        return ""
    rows = frame[["list", "item_id", "kind"]].itertuples(index=False, name=None)
    return hash_lists((int(number), str(item), str(kind)) for number, item, kind in rows)


PLAN = Finding("plan", Section.PARTICIPANTS, _run)
