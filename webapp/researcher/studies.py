"""The pages of studies: the list, new studies and copies, and the editor of study.toml."""

import csv
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.wrappers import Response

from experiment.authoring.new import study_name
from experiment.authoring.show import EXAMPLES_HEADING, NEXT_STEPS, find_consent_lines
from experiment.errors import StudyError
from experiment.responses.registry import RESPONSE_TYPES
from experiment.studies.load import built_in_studies
from experiment.studies.study import STUDY_FILE
from experiment.untrusted import read_toml
from webapp.core.subprocesses import run_in_thread, run_parallax
from webapp.database.engine import reading
from webapp.database.locks import exclusive
from webapp.errors import RequestError
from webapp.participant.trial_page import render_markdown
from webapp.payments.debts import describe_study_debts
from webapp.researcher.access import get_current_project_id, require_access
from webapp.researcher.study_folders import (
    LARGEST_ZIP_BYTES,
    StaleTextError,
    copy_study_folder,
    count_long_job,
    find_editable_study,
    find_study_source,
    get_instance_folder,
    get_project_name,
    get_uploads_folder,
    hash_text,
    list_launchable_studies,
    list_study_texts,
    log_study_act,
    measure_folder_bytes,
    read_study_text,
    refuse_large_upload,
    save_study_text,
    zip_folder,
)
from webapp.researcher.study_settings import (
    SETTING_FIELDS,
    change_settings,
    describe_hourly_pay,
    read_settings,
)
from webapp.services import current_services
from webapp.users.roles import Right

study_pages = Blueprint("studies", __name__)

_TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx", ".jsonl")
_MOST_COLUMNS = 20
_LONGEST_NAME = 64


@study_pages.get("/studies")
@require_access(Right.CONDUCT)
def show_studies() -> Response:
    """List the editable studies, and the ways to create one."""
    return _render_page()


@study_pages.post("/studies/new")
@require_access(Right.CONDUCT, largest_body=LARGEST_ZIP_BYTES)
def create_study() -> ResponseReturnValue:
    """Create a study from a table of items, completely or not at all, and show what was derived."""
    form, file = request.form, request.files.get("table")
    suffix = Path(file.filename or "").suffix.lower() if file else ""
    if file is None or suffix not in _TABLE_SUFFIXES:
        return _render_page(f"Choose a table that ends in {', '.join(_TABLE_SUFFIXES)}.", 400)
    content = file.read()
    with _create_study_folder(form.get("name", ""), len(content)) as folder, count_long_job():
        with tempfile.TemporaryDirectory() as temporary:
            table = Path(temporary) / f"items{suffix}"
            table.write_bytes(content)
            options = ["--from", str(table), "--language", form.get("language", "").strip() or "en"]
            for name in ("title", "response"):
                if value := form.get(name, "").strip():
                    options += [f"--{name}={value}"]
            for line in form.get("columns", "").splitlines()[:_MOST_COLUMNS]:
                options += [f"--column={line.strip()}"] if line.strip() else []
            done = run_parallax(get_instance_folder(), "study", "new", *options, "--", str(folder))
            # The table has a temporary name; the page shows the name of the researcher's file.
            text = done.text.replace(str(table), file.filename or "").replace(
                f"{folder.parent}/", ""
            )
        if not done.worked:
            raise _TableError(text)
    derived = text.partition(NEXT_STEPS)[0].rpartition("\n")[0]
    study = f"{folder.name} ({folder.parent.name})"
    log_study_act("study made from a table", study=study, table=file.filename or "")
    return render_template(
        "researcher/study_made.html", study=study, text=derived.strip(), project=get_project_name()
    )


@study_pages.post("/studies/copy")
@require_access(Right.CONDUCT)
def copy_study() -> ResponseReturnValue:
    """Copy a built-in or editable study under a new name."""
    source_name = request.form.get("study", "")
    source = find_study_source(get_instance_folder(), get_current_project_id(), source_name)
    n_bytes = run_in_thread(lambda: measure_folder_bytes(source))
    with _create_study_folder(request.form.get("name", ""), n_bytes) as folder:
        copy_study_folder(source, folder)
    new_name = f"{folder.name} ({folder.parent.name})"
    log_study_act("study copied", study=new_name, source=source_name)
    return redirect(
        url_for("editor.show_editor", study=new_name, project=get_project_name() or None), 303
    )


@study_pages.post("/studies/delete")
@require_access(Right.CONDUCT)
def delete_study() -> ResponseReturnValue:
    """Delete an editable study's folder; its runs keep the copy with which they were launched."""
    study = request.form.get("study", "")
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study)
    if not request.form.get("sure"):
        raise RequestError(
            "Tick the box to say that you are sure. Nothing was deleted.",
            status=400,
            code="not_sure",
        )
    if not request.form.get("although_owed"):
        with reading(current_services().sessions) as session:
            owed = describe_study_debts(session, folder)
        if owed:
            return _render_page(
                f"{owed}. Nothing was deleted. Pay them first, or go on.", 409, study
            )
    with exclusive(
        current_services().engine, get_instance_folder(), f"study_{folder.parent.name}", wait=True
    ):
        run_in_thread(lambda: shutil.rmtree(folder.parent))
    log_study_act("study deleted", study=study)
    return redirect(url_for("studies.show_studies", project=get_project_name() or None), 303)


@study_pages.get("/studies/download")
@require_access(Right.CONDUCT)
def download_study() -> ResponseReturnValue:
    """Send an editable study as a zip file that can be uploaded again."""
    folder = find_editable_study(
        get_instance_folder(), get_current_project_id(), request.args.get("study", "")
    )
    name = f"{folder.name}.zip"
    archive = zip_folder(folder)
    return send_file(archive, "application/zip", as_attachment=True, download_name=name)


@study_pages.errorhandler(StudyError)
def show_error(error: StudyError) -> ResponseReturnValue:
    """Show the error's message on the page of studies."""
    return _render_page(str(error), 400)


class _TableError(Exception):
    """The command that makes a study found errors in a table."""


@study_pages.errorhandler(_TableError)
def show_table_errors(error: _TableError) -> ResponseReturnValue:
    """Show all errors in a table; nothing of it is stored."""
    return _render_page(str(error).strip(), 409)


def _render_page(problem: str = "", status: int = 200, owing: str = "") -> Response:
    """Return the page; a study whose runs owe money has a button to delete it all the same."""
    page = render_template(
        "researcher/studies.html",
        problem=problem,
        owing=owing,
        own=[name for name in list_launchable_studies() if name not in built_in_studies()],
        built_in=sorted(built_in_studies()),
        responses=sorted(name for name in RESPONSE_TYPES if ":" not in name),
        typed=request.form,
        project=get_project_name(),
    )
    return Response(page, status, mimetype="text/html")


@contextmanager
def _create_study_folder(name: str, n_bytes: int) -> Iterator[Path]:
    """Yield a folder for a new study, which is removed on failure."""
    name = name.strip()
    study_name(Path("/") / name.replace("/", " "))
    if len(name) > _LONGEST_NAME:
        raise RequestError(
            f"The name has {len(name)} letters; {_LONGEST_NAME} are allowed. Nothing was stored.",
            status=400,
            code="long_name",
        )
    refuse_large_upload(n_bytes)
    parent = get_uploads_folder() / secrets.token_hex(4)
    parent.mkdir(parents=True)
    try:
        yield parent / name
    except BaseException:
        run_in_thread(lambda: shutil.rmtree(parent, ignore_errors=True))
        raise


editor_pages = Blueprint("editor", __name__)

_ROWS, _COLUMNS = 20, 50
_MOST_CHARACTERS = 100_000


@editor_pages.get("/studies/edit")
@require_access(Right.CONDUCT)
def show_editor() -> str:
    """Show one text of a study in a field, with a list of its other texts."""
    study, name = request.args.get("study", ""), request.args.get("text", "study.toml")
    text = read_study_text(
        find_editable_study(get_instance_folder(), get_current_project_id(), study), name
    )
    return _render_editor(study, name, text, hash_text(text))


@editor_pages.post("/studies/edit")
@require_access(Right.CONDUCT)
def save_edited_text() -> ResponseReturnValue:
    """Store a text, unless another user stored one meanwhile: then both texts are shown."""
    form = request.form
    study, name, text = form.get("study", ""), form.get("text", ""), form.get("content", "")
    folder, engine = (
        find_editable_study(get_instance_folder(), get_current_project_id(), study),
        current_services().engine,
    )
    try:
        with exclusive(engine, get_instance_folder(), f"study_{folder.parent.name}", wait=True):
            save_study_text(folder, name, text, form.get("seen", ""))
    except StaleTextError as stale:
        page = _render_editor(study, name, text, hash_text(stale.stored), stored=stale.stored)
        return page, 409
    log_study_act(
        "study edited", study=study, text=name, sha256=hash_text(read_study_text(folder, name))
    )
    page = url_for(
        "editor.show_editor", study=study, text=name, saved=1, project=get_project_name() or None
    )
    return redirect(page, 303)


@editor_pages.post("/studies/settings")
@require_access(Right.CONDUCT)
def save_settings() -> ResponseReturnValue:
    """Change the typed settings in the text of study.toml, if nobody changed it meanwhile."""
    study, engine = request.form.get("study", ""), current_services().engine
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study)
    try:
        with exclusive(engine, get_instance_folder(), f"study_{folder.parent.name}", wait=True):
            text = read_study_text(folder, STUDY_FILE)
            form = request.form.to_dict()
            changed = run_in_thread(lambda: change_settings(text, form))
            save_study_text(folder, STUDY_FILE, changed, request.form.get("seen", ""))
    except (StaleTextError, StudyError) as error:
        stored = read_study_text(folder, STUDY_FILE)
        problem = _STALE_SETTINGS if isinstance(error, StaleTextError) else str(error)
        status = 409 if isinstance(error, StaleTextError) else 400
        return _render_editor(study, STUDY_FILE, stored, hash_text(stored), problem=problem), status
    log_study_act("study edited", study=study, text=STUDY_FILE, sha256=hash_text(changed))
    page = url_for("editor.show_editor", study=study, saved=1, project=get_project_name() or None)
    return redirect(page, 303)


@editor_pages.post("/studies/look")
@require_access(Right.CONDUCT)
def preview_text() -> ResponseReturnValue:
    """Return a preview of an edited text; nothing is stored."""
    name, text = request.form.get("text", ""), request.form.get("content", "")
    return str(_render_preview_apart(name, text.replace("\r\n", "\n")))


@editor_pages.post("/studies/findings")
@require_access(Right.CONDUCT)
def show_check_findings() -> ResponseReturnValue:
    """Return the findings of the checks on the stored study, run in a separate process."""
    study = request.form.get("study", "")
    folder = find_editable_study(get_instance_folder(), get_current_project_id(), study)
    with count_long_job():
        done = run_parallax(
            get_instance_folder(),
            "study",
            "check",
            "--show",
            "--",
            list_launchable_studies()[study],
        )
    problems, _, overview = done.text.replace(f"{folder.parent}/", "").partition(EXAMPLES_HEADING)
    return render_template(
        "researcher/study_findings.html",
        study=study,
        found=problems.strip(),
        shown=overview.strip() if done.worked else "",
        elements=find_consent_lines(overview),
        consents=render_consents(folder),
        worked=done.worked,
        project=get_project_name(),
    )


def render_consents(folder: Path) -> list[tuple[str, Markup]]:
    """Return the consent texts of a study with their names, as participants read them."""
    return [
        (name, _render_preview_apart(name, read_study_text(folder, name)))
        for name in list_study_texts(folder)
        if Path(name).name == "consent.md"
    ]


_STALE_SETTINGS = (
    "Somebody else saved study.toml after you opened it, so nothing was stored. Below is what they "
    "saved; type your values again."
)


def _render_editor(
    called: str,
    name: str,
    text: str,
    seen: str,
    stored: str | None = None,
    problem: str = "",
) -> str:
    has_form = name == STUDY_FILE and stored is None
    return render_template(
        "researcher/study_edit.html",
        study=called,
        texts=list_study_texts(
            find_editable_study(get_instance_folder(), get_current_project_id(), called)
        ),
        name=name,
        content=text,
        seen=seen,
        stored=stored,
        problem=problem,
        fields=SETTING_FIELDS,
        settings=run_in_thread(lambda: read_settings(text)) if has_form else None,
        hourly=run_in_thread(lambda: describe_hourly_pay(text)) if has_form else "",
        looks=_render_preview_apart(name, text),
        saved="saved" in request.args,
        project=get_project_name(),
    )


def _render_preview_apart(name: str, text: str) -> Markup:
    return run_in_thread(lambda: _render_preview(name, text))


def _render_preview(name: str, text: str) -> Markup:
    """Return a text as participants see it, as a table, or the position of an error in TOML."""
    suffix = Path(name).suffix
    if len(text) > _MOST_CHARACTERS:
        return _make_paragraph("The text is too long to be shown while it is typed.")
    if suffix == ".md":
        return Markup('<article class="paper">{}</article>').format(render_markdown(text))
    if suffix == ".toml":
        try:
            read_toml(text)
        except (ValueError, RecursionError) as error:
            problem = f"This cannot be read as TOML: {error}."
            return Markup('<p class="problem">{}</p>').format(problem)
        return _make_paragraph("This can be read as TOML. The checks tell what it means.")
    if suffix not in (".tsv", ".csv"):
        return Markup("<pre>{}</pre>").format(text[:2000])
    reader = csv.reader(text.splitlines()[: _ROWS + 1], delimiter="\t" if suffix == ".tsv" else ",")
    rows = [row[:_COLUMNS] for row in reader] or [[]]
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in rows[0])
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row)
        )
        for row in rows[1:]
    )
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
    wide = Markup('<div class="wide" tabindex="0" role="region" aria-label="{}">{}</div>')
    return wide.format("Rows", table)


def _make_paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(text)
