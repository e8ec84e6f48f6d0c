"""``parallax study freeze``: write down a study's plan before data collection."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from experiment.authoring.check import require_sound
from experiment.authoring.plan import (
    PLAN_TEXT,
    QUESTIONS,
    Plan,
    amended,
    changes,
    frozen,
    planned,
    planned_now,
    read_plan,
    to_json,
)
from experiment.errors import StudyError
from experiment.studies.load import find_study, load_study
from experiment.studies.study import PLAN_FILE, Study
from experiment.tables.atomic_write import atomic_write


@click.command()
@click.argument("study")
@click.option("--seed", type=int, required=True, help="The seed of the launch to come.")
@click.option("--amend", default="", metavar="WHY", help="Change a frozen plan, and say why.")
def freeze(study: str, seed: int, amend: str) -> None:
    """Freeze what STUDY plans, before anybody answers.

    Writes plan.json and plan.md into the study's folder: materials, lists, seed, rules, planned
    comparisons and sample size, with a hash to register. A launch refuses what was changed since.
    """
    loaded = load_study(study)
    built = require_sound(loaded, seed)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    plan = read_plan(loaded)
    values = planned(loaded, built)
    if plan is None:
        plan = frozen(values, day)
    elif differing := changes(plan.values, planned_now(plan, loaded, built)):
        if not amend:
            raise StudyError(
                f"the plan was frozen on {plan.frozen_on}, and differs: {', '.join(differing)}",
                where=str(find_study(study) / PLAN_FILE),
                remedy='Say why with --amend "WHY"; the earlier plan stays in the file',
            )
        plan = amended(plan, values, day, amend)
    folder = find_study(study)
    for name, text in ((PLAN_FILE, to_json(plan)), (PLAN_TEXT, to_text(plan, loaded))):
        with atomic_write(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    click.echo(f"{folder / PLAN_FILE}: frozen on {plan.frozen_on}, SHA-256 {plan.sha256}")
    click.echo(f"{folder / PLAN_TEXT}: the same as a text, for a preregistration")


def to_text(plan: Plan, study: Study) -> str:
    """Return the plan as Markdown."""
    return "\n".join(_lines(plan, study)) + "\n"


def _lines(plan: Plan, study: Study) -> Iterator[str]:
    values = plan.values
    yield from (f"# Plan of {study.study.title}", "")
    yield f"Frozen on {plan.frozen_on}. SHA-256 of the plan: `{plan.sha256}`."
    yield from ("", "## Design", "")
    yield f"- Study {values['study']}, version {values['study_version']}; {values['response']}."
    yield f"- {values['n_lists']} lists, built with the seed {values['seed']}."
    yield f"- Materials: SHA-256 `{values['materials_hash']}`."
    yield f"- Lists: SHA-256 `{values['lists_hash']}`."
    yield from ("", "## Sample size", "")
    yield f"- {values['n_participants']} participants: the run has so many places and no more."
    yield from ("", "## Who is left out", "")
    rules = values["exclusion"]
    yield from (f"- {_settings(rule)}" for rule in rules)
    if not rules:
        yield "- Nobody: the study has no exclusion rule."
    yield from (f"- Screening: {entry['label']}" for entry in values["screening"])
    yield from ("", "## Comparisons", "")
    yield from (_question(question) for question in values.get(QUESTIONS, ()))
    yield from ("", "## Settings of the analysis", "")
    yield from (f"- {name}: {value}" for name, value in values["comparisons"].items())
    if plan.amendments:
        yield from ("", "## Amendments", "")
        for entry in plan.amendments:
            changed = ", ".join(entry["changes"]) or "nothing"
            yield f"- {entry['on']}: {entry['reason']} Changed: {changed}."


def _question(question: Mapping[str, Any]) -> str:
    """Return a comparison as a line: its role, what is compared of which measure, and the rest."""
    shown = {"name", "compare", "of", "role"}
    rest = [f"{name}: {value}" for name, value in question.items() if name not in shown and value]
    more = f" ({'; '.join(rest)})" if rest else ""
    compared = f"{question['compare']}, of {question['of']}{more}"
    return f"- {question['role']}: {question['name']}: {compared}"


def _settings(rule: Mapping[str, object]) -> str:
    others = ", ".join(f"{name} = {value}" for name, value in rule.items() if name != "rule")
    return f"{rule['rule']} ({others})" if others else str(rule["rule"])
