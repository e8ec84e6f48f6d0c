"""Exclusion rules combined and separated, and how many simulated participants they exclude."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from experiment.errors import StudyError
from experiment.studies.study import STUDY_FILE
from webapp.core.subprocesses import run_in_thread, run_parallax
from webapp.errors import RequestError
from webapp.researcher.access import require_access
from webapp.researcher.entry_fields import (
    COMBINATIONS,
    NOTHING_STORED,
    PARTS,
    FieldErrors,
    Part,
    list_combined_rules,
)
from webapp.researcher.study_folders import (
    count_long_job,
    get_instance_folder,
    list_launchable_studies,
)
from webapp.researcher.study_forms import change_entries, read_entry, read_number, read_study_toml
from webapp.researcher.toml_edits import read_entries, replace_entries, write_value
from webapp.users.roles import Right

rule_pages = Blueprint("rules", __name__)


@rule_pages.post("/studies/rules/counts")
@require_access(Right.CONDUCT)
def count_excluded() -> ResponseReturnValue:
    """Return how many simulated participants the rules would exclude, with and without edits."""
    part, form, study_name = PARTS["rules"], request.form, request.form.get("study", "")
    text = read_study_toml(study_name)
    rules = [dict(entry) for entry in read_entries(text, part.table)]
    at = None
    if ticked := _read_ticked(part, text):
        with suppress(StudyError):
            combined = _combine([rules[number] for number in ticked], form.get("combination", ""))
            at = ticked[0]
            rules[at] = combined
            rules = [rule for number, rule in enumerate(rules) if number not in ticked[1:]]
    elif kind := form.get(part.key, ""):
        number = read_number(part, text, form.get("number", ""))
        present = {} if number is None else rules[number]
        try:
            entry = run_in_thread(lambda: read_entry(part, kind, form, present, text))
        except FieldErrors as error:
            return render_template("researcher/rule_counts.html", waits=list(error.problems))
        at = len(rules) if number is None else number
        rules[at : at + 1] = [entry]
    counts, problem = _simulate(study_name, rules)
    return render_template("researcher/rule_counts.html", counts=counts, at=at, problem=problem)


@rule_pages.post("/studies/rules/combine")
@require_access(Right.CONDUCT)
def combine_rules() -> ResponseReturnValue:
    """Combine the ticked rules into one."""
    part, form = PARTS["rules"], request.form
    text = read_study_toml(form.get("study", ""))
    numbers, combination = _read_ticked(part, text), form.get("combination", "")

    def edit() -> str:
        rules = read_entries(text, part.table)
        combined = _combine([rules[number] for number in numbers], combination)
        return replace_entries(text, part.table, numbers, [combined])

    return change_entries(part, text, edit)


@rule_pages.post("/studies/rules/separate")
@require_access(Right.CONDUCT)
def separate_rules() -> ResponseReturnValue:
    """Replace a combined rule by the rules that it combines."""
    part = PARTS["rules"]
    text = read_study_toml(request.form.get("study", ""))
    number = read_number(part, text, request.form.get("number", ""))
    rules = (
        list_combined_rules(read_entries(text, part.table)[number]) if number is not None else []
    )
    if number is None or not rules:
        raise RequestError("The rule combines no others.", status=400, code="unknown_entry")
    return change_entries(part, text, lambda: replace_entries(text, part.table, [number], rules))


def _read_ticked(part: Part, text: str) -> list[int]:
    """Return the numbers of the ticked entries in order."""
    numbers = {read_number(part, text, typed) for typed in request.form.getlist("ticked") if typed}
    return sorted(number for number in numbers if number is not None)


def _combine(rules: Sequence[Mapping[str, Any]], combination: str) -> dict[str, Any]:
    """Return the rule that combines others.

    Raises:
        StudyError: There are too few or too many rules for it.
    """
    fits = combination in COMBINATIONS and (len(rules) == 1) == (combination == "not")
    if not (fits and rules):
        raise StudyError(
            f"{len(rules)} rules are ticked",
            where=STUDY_FILE,
            expected='one rule for "the ticked rule keeps", at least two for the others',
            remedy=NOTHING_STORED,
        )
    return {"rule": combination, "rules": [dict(rule) for rule in rules]}


def _simulate(study_name: str, rules: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the counts from a separate process, or the reason why there are none."""
    written = "\n".join(
        "\n".join(("[[exclusion]]", *(f"{key} = {write_value(rule[key])}" for key in rule)))
        for rule in rules
    )
    with count_long_job(), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.toml"
        file.write_text(written, encoding="utf-8", newline="\n")
        command = ["study", "try-rules", "--json", "--rules", str(file), "--"]
        done = run_parallax(get_instance_folder(), *command, list_launchable_studies()[study_name])
    counts: dict[str, Any] = json.loads(done.text) if done.worked else {}
    return counts, "" if done.worked else done.text.replace(f"{folder}/", "").strip()
