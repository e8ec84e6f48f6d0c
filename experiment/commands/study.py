"""``parallax study``: create a study, check it, show it, freeze its plan, print its schema."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from experiment.authoring.check import check_folder, combine_errors, require_sound
from experiment.authoring.derive import DesignPlan
from experiment.authoring.key_checks import headers_in_words
from experiment.authoring.new import PRACTICE_FILE, NewStudy, new_study
from experiment.authoring.plan import (
    PLAN_TEXT,
    QUESTIONS,
    STOPPING,
    Plan,
    amend_plan,
    build_plan_values,
    build_present_values,
    find_changes,
    freeze_plan,
    read_plan,
    to_json,
)
from experiment.authoring.rule_counts import N_SIMULATED, count_excluded
from experiment.authoring.show import EXAMPLES_HEADING, NEXT_STEPS, count_trials, describe
from experiment.authoring.study_toml import schema_text
from experiment.authoring.words import StudyTask
from experiment.commands.headers import COLUMNS, SHEET
from experiment.errors import MaterialsError, StudyError
from experiment.materials.formats.words import NAMES
from experiment.materials.render import describe_pictures
from experiment.records import Item
from experiment.responses.registry import RESPONSE_TYPES
from experiment.studies.load import find_study, load_study
from experiment.studies.stopping import Stopping
from experiment.studies.study import PLAN_FILE, Rule, Study
from experiment.tables.atomic_write import atomic_write
from experiment.untrusted import read_toml

_SEED_HELP = "The seed that the lists are built with."
_SHOWN_ITEMS = 2


@click.command()
@click.argument("name", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="The items: a table of pairs, options or sentences (.csv, .tsv, .xlsx, .jsonl), BLiMP or "
    "MultiBLiMP, a SyntaxGym suite, a PCIbex table, or a .tab of Gulordava et al.",
)
@click.option(
    "--language", default="en", show_default=True, help="The language of the items (BCP 47)."
)
@click.option(
    "--title", default="", help="The title that participants see.  [default: what they are asked]"
)
@click.option(
    "--response",
    default="",
    help=(
        f"What trials ask for, one of: {', '.join(sorted(RESPONSE_TYPES.built_in))}.  [default: "
        "chosen by the items]"
    ),
)
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="HEADER",
    help="A column of a factor; the factors together make the condition. Repeatable.",
)
@click.option("--block", default="", metavar="HEADER", help="The column that names the block.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=HEADER",
    help=f"The header of one of our columns: {', '.join(NAMES)}. Repeatable.",
)
@click.option("--lists", type=click.IntRange(min=1), metavar="N",
              help="Share the items out to N lists.  [default: as they need]")  # fmt: skip
@COLUMNS
@SHEET
def new(
    name: Path,
    source: Path | None,
    language: str,
    title: str,
    response: str,
    factors: tuple[str, ...],
    block: str,
    columns: tuple[str, ...],
    lists: int | None,
    headers: list[str],
    sheet: str,
) -> None:
    """Write a complete study folder NAME, ready to launch.

    Only a good and a bad sentence are required; the command derives the rest and reports it.
    Without --from, it copies the built-in study "minimal".
    """
    new_folder = new_study(
        name,
        source,
        language=language,
        title=title,
        response=response,
        headers=_read_column_options(
            (*columns, *([f"condition={'+'.join(factors)}"] if factors else []))
        ),
        block=block,
        columns=headers,
        sheet=sheet,
        lists=lists or 0,
    )
    if new_folder is not None:
        print_new_study(new_folder)
    print_next_steps(name)


def print_next_steps(name: Path) -> None:
    """Print what can be done with a new study."""
    click.echo(f"\n{name}/ {NEXT_STEPS}")
    click.echo(f"  parallax study show {name}      # its design and an example of every trial")
    click.echo(f"  parallax study preview {name}   # look at it in the browser")
    click.echo(f"  parallax study check {name}     # after every change")
    click.echo(f"  parallax launch {name} --seed 1 # the link for participants")


def _read_column_options(columns: tuple[str, ...]) -> dict[str, str]:
    headers = {}
    for column in columns:
        our_column, sign, header = column.partition("=")
        if not (our_column and sign and header):
            raise MaterialsError(
                f'"{column}" names no column',
                where="--column",
                expected=(
                    "one of Parallax's columns and the file's header, e.g. --column good=Sentence1"
                ),
            )
        if our_column.strip() in headers:
            raise MaterialsError(
                f'"{our_column.strip()}" is named twice',
                where="--column or --factor",
                expected="each column once; several --factor options together make the condition",
            )
        headers[our_column.strip()] = header.strip()
    return headers


def print_new_study(new_folder: NewStudy) -> None:
    """Print what was derived from the items of a new study."""
    items = new_folder.materials.items
    click.echo(f"{len(items):,} items read from {new_folder.materials.format}.")
    for sentence in (*new_folder.materials.notes, *new_folder.task.notes, *new_folder.design.notes):
        click.echo(f"- {describe_pictures(sentence)}")
    for note in new_folder.oddities:
        click.echo(f"- Look at this: {describe_pictures(str(note))}")
    if practice := new_folder.materials.practice:
        click.echo(f"- {len(practice)} row(s) are practice trials, written to {PRACTICE_FILE}.")
    for item in items[:_SHOWN_ITEMS]:
        click.echo(_format_item(item, new_folder.task))
    click.echo(f"Shown as {new_folder.task.name}. {_describe_design(new_folder.design)}")


def _describe_design(design: DesignPlan) -> str:
    parts = []
    for square in design.squares:
        n_trials, conditions = design.in_each_list[square.template], square.conditions
        arrangement = (
            f"in {conditions} conditions, each list one of each item" if conditions > 1 else ""
        )
        parts.append(
            f"    {square.template}: {square.frames} items {arrangement or 'in all'}; "
            f"{n_trials} trials"
        )
    parts += [
        f"    {source.template}: {source.items} trials, the same in every list"
        for source in design.shared
    ]
    for fixed_lists in design.given:
        n_trials = design.in_each_list[fixed_lists.template]
        parts.append(
            f'    {fixed_lists.template}: as the column "{fixed_lists.column}" says; '
            f"{n_trials} trials"
        )
    complete = (
        f"{design.lists} list(s) of {design.trials_per_list} trials, "
        f"{design.participants_per_list} participants each:"
    )
    return "\n".join((complete, *parts))


def _format_item(item: Item, task: StudyTask) -> str:
    context = f"{item.context} ... " if item.context else ""
    against = task.parameters.get("against", (str(item.contrast),))
    names = against if isinstance(against, Sequence) else ()
    other_versions = "".join(f" / *{text}" for name in names if (text := item.version(name)))
    return describe_pictures(f"    {item.item_id}: {context}{item.good}{other_versions}")


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", type=int, default=1, show_default=True, help=_SEED_HELP)
@click.option("--show", "shown", is_flag=True, help="Also print what study show prints.")
def check(name_or_folder: str, seed: int, shown: bool) -> None:
    """List every mistake in STUDY before you launch it."""
    report = check_folder(name_or_folder, seed)
    for number, error in enumerate((*report.errors, *report.notes), start=1):
        kind = "error" if number <= len(report.errors) else "note"
        click.echo(f"{number}. {kind}: {error}\n")
    if report.errors:
        raise StudyError(
            f"{len(report.errors)} mistake(s) stop the launch",
            where=str(find_study(name_or_folder)),
            remedy="They are numbered above, each with its place and what to do",
        )
    if report.notes:
        click.echo(
            f"{name_or_folder}: the study can be launched; look at the {len(report.notes)} note(s) "
            "first."
        )
    else:
        click.echo(f"{name_or_folder}: no mistakes found; the study can be launched.")
    if report.study and report.built:
        click.echo(f"Counted: {count_trials(report.study, report.built)}.")
    if report.study and (headers := headers_in_words(report.study)):
        click.echo(headers)
    if unnamed := report.study.study.unnamed if report.study else ():
        click.echo(
            f"Before you invite people, fill in {', '.join(unnamed)} under [study]: "
            "participants read who is responsible for the study. Simulated runs and previews "
            "do not need them."
        )
    if shown and report.study is not None and report.built is not None:
        click.echo(EXAMPLES_HEADING)
        for line in describe(report.study, report.built):
            click.echo(line)


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", type=int, default=1, show_default=True, help=_SEED_HELP)
def show(name_or_folder: str, seed: int) -> None:
    """Print STUDY's design, counts, cost, and an example of every trial."""
    report = check_folder(name_or_folder, seed)
    if report.study is None or report.built is None:
        raise combine_errors(report.errors, find_study(name_or_folder))
    for line in describe(report.study, report.built):
        click.echo(line)


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(path_type=Path),
    help="A file of [[exclusion]] tables to try instead of the study's.",
)
@click.option(
    "--people",
    type=click.IntRange(1, 1000),
    default=N_SIMULATED,
    show_default=True,
    help="How many simulated participants of each way of answering.",
)
@click.option("--seed", type=int, default=1, show_default=True, help=_SEED_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def try_rules(
    name_or_folder: str, rules_file: Path | None, people: int, seed: int, *, as_json: bool
) -> None:
    """Count how many simulated participants STUDY's exclusion rules would exclude.

    The participants are attentive, guess, always give the first answer, or are careless.
    """
    study = load_study(name_or_folder)
    if rules_file is not None:
        study = study.model_copy(update={"exclusion": _read_rules(rules_file)})
    counts = count_excluded(study, seed, people)
    click.echo(json.dumps(counts.to_values()) if as_json else counts.to_table())


def _read_rules(file: Path) -> list[Rule]:
    try:
        tables = read_toml(file.read_text(encoding="utf-8")).get("exclusion", [])
        return [Rule.model_validate(table) for table in tables]
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StudyError(
            f"the rules cannot be read ({error})",
            where=str(file),
            expected='tables such as [[exclusion]], each with a rule = "..."',
        ) from error


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write; without it, the schema is printed.",
)
def schema(out: Path | None) -> None:
    """Write the JSON Schema of study.toml, for editors."""
    if out is None:
        click.echo(schema_text(), nl=False)
        return
    with atomic_write(out) as temporary:
        temporary.write_text(schema_text(), encoding="utf-8", newline="\n")
    click.echo(f"The schema of study.toml is written to {out}")


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", type=int, required=True, help="The seed of the launch to come.")
@click.option("--amend", default="", metavar="WHY", help="Change a frozen plan, and say why.")
def freeze(name_or_folder: str, seed: int, amend: str) -> None:
    """Freeze what STUDY plans, before anybody answers.

    Writes plan.json and plan.md into the study's folder: materials, lists, seed, rules, planned
    comparisons and sample size, with a hash to register. `parallax launch` refuses later changes.
    """
    study = load_study(name_or_folder)
    sound = require_sound(study, seed)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    plan = read_plan(study)
    values = build_plan_values(sound)
    if plan is None:
        plan = freeze_plan(values, day)
    elif differing := find_changes(plan.values, build_present_values(plan, sound)):
        if not amend:
            raise StudyError(
                f"the plan was frozen on {plan.frozen_on}, and differs: {', '.join(differing)}",
                where=str(find_study(name_or_folder) / PLAN_FILE),
                remedy='Say why with --amend "WHY"; the earlier plan stays in the file',
            )
        plan = amend_plan(plan, values, day, amend)
    folder = find_study(name_or_folder)
    for name, text in ((PLAN_FILE, to_json(plan)), (PLAN_TEXT, to_text(plan, study))):
        with atomic_write(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    click.echo(f"{folder / PLAN_FILE}: frozen on {plan.frozen_on}, SHA-256 {plan.sha256}")
    click.echo(f"{folder / PLAN_TEXT}: the same as a text, for a preregistration")


def to_text(plan: Plan, study: Study) -> str:
    """Return the plan as Markdown."""
    return "\n".join(_format_plan(plan, study)) + "\n"


def _format_plan(plan: Plan, study: Study) -> Iterator[str]:
    values = plan.values
    yield from (f"# Plan of {study.study.title}", "")
    yield f"Frozen on {plan.frozen_on}. SHA-256 of the plan: `{plan.sha256}`."
    yield from ("", "## Design", "")
    yield f"- Study {values['study']}, version {values['study_version']}; {values['response']}."
    yield f"- {values['n_lists']} lists, built with the seed {values['seed']}."
    yield f"- Materials: SHA-256 `{values['materials_hash']}`."
    yield f"- Lists: SHA-256 `{values['lists_hash']}`."
    yield from ("", "## Sample size", "")
    yield f"- {values['n_participants']} participants: the run has exactly this many places."
    if STOPPING in values:
        yield f"- It may stop before: {Stopping.model_validate(values[STOPPING]).words}."
    yield from ("", "## Who is left out", "")
    rules = values["exclusion"]
    yield from (f"- {_describe_rule(rule)}" for rule in rules)
    if not rules:
        yield "- Nobody: the study has no exclusion rule."
    yield from (f"- Screening: {entry['label']}" for entry in values["screening"])
    yield from ("", "## Comparisons", "")
    yield from (_describe_comparison(question) for question in values.get(QUESTIONS, ()))
    yield from ("", "## Settings of the analysis", "")
    yield from (f"- {name}: {value}" for name, value in values["comparisons"].items())
    if plan.amendments:
        yield from ("", "## Amendments", "")
        for entry in plan.amendments:
            changed = ", ".join(entry["changes"]) or "nothing"
            yield f"- {entry['on']}: {entry['reason']} Changed: {changed}."


def _describe_comparison(question: Mapping[str, Any]) -> str:
    """Return a comparison as a line: its role, what is compared of which measure, and the rest."""
    title_keys = {"name", "compare", "of", "role"}
    details = [
        f"{name}: {value}" for name, value in question.items() if name not in title_keys and value
    ]
    note = f" ({'; '.join(details)})" if details else ""
    comparison_text = f"{question['compare']}, of {question['of']}{note}"
    return f"- {question['role']}: {question['name']}: {comparison_text}"


def _describe_rule(rule: Mapping[str, object]) -> str:
    parameters = ", ".join(f"{name} = {value}" for name, value in rule.items() if name != "rule")
    return f"{rule['rule']} ({parameters})" if parameters else str(rule["rule"])
