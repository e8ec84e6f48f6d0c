"""``parallax study freeze``: what a study plans, written down before anybody answers."""

from datetime import UTC, datetime

import click

from experiment.authoring.check import require_sound
from experiment.errors import StudyError
from experiment.plan.plan import PLAN_TEXT, amended, changes, frozen, planned, read_plan, to_json
from experiment.plan.text import to_text
from experiment.studies.load import find_study, load_study
from experiment.studies.study import PLAN_FILE
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
    values, day = planned(loaded, built), f"{datetime.now(UTC):%Y-%m-%d}"
    plan = read_plan(loaded)
    if plan is None:
        plan = frozen(values, day)
    elif differing := changes(plan.values, values):
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
