"""Forms for a study's questions and exclusion rules; study.toml stays the only source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from pydantic import ValidationError
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from experiment.authoring.examined import Examined
from experiment.authoring.question_checks import check_questionnaire
from experiment.errors import ParallaxError, StudyError, StudyNote, describe_validation_error
from experiment.studies.study import STUDY_FILE, Study
from experiment.untrusted import read_toml
from webapp.core.subprocesses import run_in_thread
from webapp.database.locks import exclusive
from webapp.errors import RequestError
from webapp.researcher.access import get_current_project_id, require_access
from webapp.researcher.entry_fields import (
    COMBINATIONS,
    NOTHING_STORED,
    PARTS,
    FieldErrors,
    FieldKind,
    FormField,
    Part,
    check_values,
    list_combined_rules,
    read_fields,
)
from webapp.researcher.study_folders import (
    StaleTextError,
    find_editable_study,
    get_instance_folder,
    get_project_name,
    hash_text,
    log_study_act,
    read_study_text,
    save_study_text,
)
from webapp.researcher.toml_edits import (
    add_entry,
    change_entry,
    move_entry_up,
    read_entries,
    remove_entry,
)
from webapp.services import current_services
from webapp.users.roles import Right

form_pages = Blueprint("forms", __name__)
_MOST_ENTRIES = 500
_STALE_MESSAGE = (
    "Somebody else saved study.toml after you opened it, so nothing was stored. What you typed is "
    "still in the fields: look at what they saved, and save again."
)


_PART_PATH = "/studies/<any(questions, rules):part_name>"


@form_pages.get(_PART_PATH)
@require_access(Right.CONDUCT)
def show_entries(part_name: str) -> ResponseReturnValue:
    """List a study's questions or rules, with the possible actions."""
    return _render_entries(PARTS[part_name], request.args.get("study", ""))


@form_pages.get(f"{_PART_PATH}/edit")
@require_access(Right.CONDUCT)
def show_entry(part_name: str) -> ResponseReturnValue:
    """Show the form of one entry, or of a new one."""
    part, study_name = PARTS[part_name], request.args.get("study", "")
    text = read_study_toml(study_name)
    number = read_number(part, text, request.args.get("number", ""))
    entry = {part.key: request.args.get("kind", part.default_kind)}
    if number is not None:
        entry = read_entries(text, part.table)[number]
    kind = part.find_kind(entry)
    fields = run_in_thread(lambda: part.list_fields(kind, entry, text))
    return _render_entry(part, study_name, text, number, kind, fields)


@form_pages.post(f"{_PART_PATH}/fields")
@require_access(Right.CONDUCT)
def show_fields(part_name: str) -> ResponseReturnValue:
    """Return the fields of another kind of entry, with the entered values; nothing is stored."""
    part, form = PARTS[part_name], request.form
    text = read_study_toml(form.get("study", ""))
    kind = form.get(part.key, part.default_kind)
    fields = _keep_typed(run_in_thread(lambda: part.list_fields(kind, {}, text)))
    return render_template("researcher/study_fields.html", fields=fields, types=FieldKind)


@form_pages.post(f"{_PART_PATH}/save")
@require_access(Right.CONDUCT)
def save_entry(part_name: str) -> ResponseReturnValue:
    """Add or change an entry in study.toml, if nobody changed the text meanwhile."""
    part, study_name = PARTS[part_name], request.form.get("study", "")
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study_name)
    text = read_study_toml(study_name)
    number = read_number(part, text, request.form.get("number", ""))
    kind = request.form.get(part.key, part.default_kind)
    problems, status = dict[str, str](), 400
    try:
        changed = _change_text(part, folder, text, number, kind)
        _store_text(study_name, changed)
    except FieldErrors as error:
        problems = error.problems
    except StudyError as error:
        problems = {"": str(error)}
    except StaleTextError:
        problems, status = {"": _STALE_MESSAGE}, 409
    if not problems:
        return _redirect_to_list(part, study_name)
    text = read_study_toml(study_name)
    fields = _keep_typed(run_in_thread(lambda: part.list_fields(kind, {}, text)))
    return _render_entry(part, study_name, text, number, kind, fields, problems), status


@form_pages.post(f"{_PART_PATH}/remove")
@require_access(Right.CONDUCT)
def remove_from_study(part_name: str) -> ResponseReturnValue:
    """Remove an entry from study.toml."""
    return _rearrange(PARTS[part_name], remove_entry, lowest=0)


@form_pages.post(f"{_PART_PATH}/up")
@require_access(Right.CONDUCT)
def move_up(part_name: str) -> ResponseReturnValue:
    """Move an entry before the one above it."""
    return _rearrange(PARTS[part_name], move_entry_up, lowest=1)


def read_study_toml(study_name: str) -> str:
    """Return the text of a study's study.toml."""
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study_name)
    return read_study_text(folder, STUDY_FILE)


def read_number(part: Part, text: str, typed: str) -> int | None:
    """Return the number of an entry; None for a new one."""
    if not typed:
        return None
    if typed.isascii() and typed.isdigit() and int(typed[:6]) < len(read_entries(text, part.table)):
        return int(typed[:6])
    problem = f"The study has no such {part.noun} any more."
    raise RequestError(problem, status=404, code="unknown_entry")


def read_entry(
    part: Part, kind: str, form: MultiDict[str, str], present: Mapping[str, Any], text: str
) -> dict[str, Any]:
    """Return the entry from the form.

    Raises:
        FieldErrors: Something typed cannot be used.
    """
    model = part.find_model(kind)
    values = read_fields(part.list_fields(kind, present, text), present, form.getlist)
    entry = ({part.key: kind} if kind != part.default_kind or part.key in present else {}) | values
    if part.key in model.model_fields:
        entry = {name: entry[name] for name in model.model_fields if name in entry}
    # A rule's own model does not know the key that names the rule.
    check_values(model, entry if part.key in model.model_fields else values)
    return entry


def _change_text(part: Part, folder: Path, text: str, number: int | None, kind: str) -> str:
    """Return the text of study.toml with the entered entry.

    Raises:
        FieldErrors: Something typed cannot be used.
        StudyError: The text cannot be changed line by line.
    """
    form, entries = request.form, read_entries(text, part.table)
    if number is None and len(entries) >= _MOST_ENTRIES:
        problem = f"the study has {_MOST_ENTRIES} entries of this kind, and a form adds no more"
        raise StudyError(problem, where=STUDY_FILE, remedy=NOTHING_STORED)
    present = {} if number is None else entries[number]

    def change() -> str:
        entry = read_entry(part, kind, form, present, text)
        if number is None:
            changed = add_entry(text, part.table, entry)
        else:
            changed = change_entry(text, part.table, number, entry)
        _refuse_new_faults(folder, text, changed)
        return changed

    return run_in_thread(change)


def _refuse_new_faults(folder: Path, text: str, changed: str) -> None:
    """Check that a change makes no question unusable that could be used before.

    Raises:
        FieldErrors: It does, each fault beside its field.
    """
    present_problems = {str(error.problem) for error in _find_faults(folder, text)}
    problems = dict[str, str]()
    for error in _find_faults(folder, changed):
        if error.problem not in present_problems:
            problems[error.where.rpartition(".")[2]] = (
                f"{error.problem[:1].upper()}{error.problem[1:]}."
                f" Expected {error.expected or 'something else'}. {NOTHING_STORED}"
            )
    if problems:
        raise FieldErrors(problems)


def _find_faults(folder: Path, text: str) -> list[ParallaxError]:
    """Return the faults of a study's questions, as far as the text can be read as a study."""
    try:
        study = Study.model_validate({**read_toml(text), "folder": folder})
    except ValidationError as error:
        return [
            StudyError(describe_validation_error(detail))
            for detail in error.errors(include_url=False)
        ]
    faults = check_questionnaire(Examined(study, 1))
    return [error for error in faults if not isinstance(error, StudyNote)]


def _rearrange(
    part: Part, edit: Callable[[str, str, int], str], *, lowest: int
) -> ResponseReturnValue:
    """Remove or move an entry, if nobody changed the text since it was listed."""
    text = read_study_toml(request.form.get("study", ""))
    number = read_number(part, text, request.form.get("number", ""))
    if number is None or number < lowest:
        raise RequestError("Nothing was moved.", status=400, code="unknown_entry")
    return change_entries(part, text, lambda: edit(text, part.table, number))


def change_entries(part: Part, text: str, edit: Callable[[], str]) -> ResponseReturnValue:
    """Store an edited text, if nobody changed it since it was listed, and show the list.

    Args:
        part: The part of study.toml.
        text: Its present text.
        edit: Returns the edited text; it uses neither the request nor the database.
    """
    study_name, problem, status = request.form.get("study", ""), "", 400
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study_name)

    def change() -> str:
        changed = edit()
        _refuse_new_faults(folder, text, changed)
        return changed

    try:
        _store_text(study_name, run_in_thread(change))
    except (FieldErrors, StudyError) as error:
        problem = str(error)
    except StaleTextError:
        problem, status = _STALE_MESSAGE, 409
    if problem:
        return _render_entries(part, study_name, problem), status
    return _redirect_to_list(part, study_name)


def _store_text(study_name: str, changed: str) -> None:
    """Store the text of study.toml, unless it changed after the form was opened."""
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study_name)
    engine = current_services().engine
    with exclusive(engine, get_instance_folder(), f"study_{folder.parent.name}", wait=True):
        save_study_text(folder, STUDY_FILE, changed, request.form.get("seen", ""))
    log_study_act("study edited", study=study_name, text=STUDY_FILE, sha256=hash_text(changed))


def _redirect_to_list(part: Part, study_name: str) -> Response:
    """Return a redirect to the list, which states that the text is saved."""
    project = get_project_name() or None
    page = url_for(
        "forms.show_entries", part_name=part.name, study=study_name, saved=1, project=project
    )
    return redirect(page, 303)


def _keep_typed(fields: Sequence[FormField]) -> list[FormField]:
    """Return the fields with the entered values."""
    form = request.form
    return [replace(field, value="\n".join(form.getlist(field.name))) for field in fields]


def _render_entries(part: Part, study_name: str, problem: str = "") -> str:
    text = read_study_toml(study_name)
    titles = {
        str(entry.get("name")): str(entry.get("title"))
        for entry in read_entries(text, "constructions")
    }
    kinds = run_in_thread(part.list_kinds)
    entries = [
        (
            *part.describe(entry, titles),
            part.find_kind(entry) in kinds,
            bool(list_combined_rules(entry)),
        )
        for entry in read_entries(text, part.table)
    ]
    return render_template(
        "researcher/study_entries.html",
        study=study_name,
        part=part,
        entries=entries,
        kinds=kinds,
        combinations=COMBINATIONS if part.name == "rules" else {},
        seen=hash_text(text),
        problem=problem,
        saved="saved" in request.args,
        project=get_project_name(),
    )


def _render_entry(
    part: Part,
    study_name: str,
    text: str,
    number: int | None,
    kind: str,
    fields: Sequence[FormField],
    problems: Mapping[str, str] | None = None,
) -> str:
    return render_template(
        "researcher/study_entry.html",
        study=study_name,
        part=part,
        number=number,
        kind=kind,
        kinds=part.list_kinds(),
        about=_describe_model(part, kind),
        fields=fields,
        types=FieldKind,
        problems=problems or {},
        seen=hash_text(text),
        project=get_project_name(),
    )


def _describe_model(part: Part, kind: str) -> str:
    """Return the first sentence of a rule's documentation; empty for questions."""
    about = (part.find_model(kind).__doc__ or "").strip().partition("\n")[0]
    return about if part.name == "rules" else ""
