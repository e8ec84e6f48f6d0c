"""The editor of a study: its texts, their preview, and the findings of the checks."""

import csv
from pathlib import Path

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from experiment.authoring.show import SHOWN_BELOW
from experiment.untrusted import read_toml
from webapp.core.subprocesses import parallax
from webapp.database.locks import exclusive
from webapp.participant.trial_page import as_html
from webapp.researcher.access import allowed, present_project
from webapp.researcher.study_folders import (
    StaleTextError,
    counted_job,
    digest_of_text,
    instance_folder,
    launchable_studies,
    log_act,
    own_study,
    project_name,
    read_text,
    save_text,
    texts_of,
)
from webapp.services import current_services
from webapp.users.roles import Right

editor_pages = Blueprint("editor", __name__)

_ROWS = 20
_SHOWN = 100_000


@editor_pages.get("/studies/edit")
@allowed(Right.CONDUCT)
def show() -> str:
    """Show one text of a study in a field, with a list of its other texts."""
    called, name = request.args.get("study", ""), request.args.get("text", "study.toml")
    text = read_text(own_study(instance_folder(), present_project(), called), name)
    return _page(called, name, text, digest_of_text(text))


@editor_pages.post("/studies/edit")
@allowed(Right.CONDUCT)
def save() -> ResponseReturnValue:
    """Store a text, unless another user stored one meanwhile: then both texts are shown."""
    form = request.form
    called, name, text = form.get("study", ""), form.get("text", ""), form.get("content", "")
    folder, engine = (
        own_study(instance_folder(), present_project(), called),
        current_services().engine,
    )
    try:
        with exclusive(engine, instance_folder(), f"study_{folder.parent.name}", wait=True):
            save_text(folder, name, text, form.get("seen", ""))
    except StaleTextError as stale:
        page = _page(called, name, text, digest_of_text(stale.stored), stored=stale.stored)
        return page, 409
    log_act("study edited", study=called, text=name, sha256=digest_of_text(read_text(folder, name)))
    page = url_for("editor.show", study=called, text=name, saved=1, project=project_name() or None)
    return redirect(page, 303)


@editor_pages.post("/studies/look")
@allowed(Right.CONDUCT)
def look() -> ResponseReturnValue:
    """Return a preview of an edited text; nothing is stored."""
    name, text = request.form.get("text", ""), request.form.get("content", "")
    return str(_looks(name, text.replace("\r\n", "\n")))


@editor_pages.post("/studies/findings")
@allowed(Right.CONDUCT)
def findings() -> ResponseReturnValue:
    """Return the findings of the checks on the stored study, run in a separate process."""
    called = request.form.get("study", "")
    folder = own_study(instance_folder(), present_project(), called)
    with counted_job():
        done = parallax(
            instance_folder(), "study", "check", "--show", "--", launchable_studies()[called]
        )
    problems, _, overview = done.text.replace(f"{folder.parent}/", "").partition(SHOWN_BELOW)
    return render_template(
        "researcher/study_findings.html",
        study=called,
        found=problems.strip(),
        shown=overview.strip() if done.worked else "",
        worked=done.worked,
        project=project_name(),
    )


def _page(called: str, name: str, text: str, seen: str, stored: str | None = None) -> str:
    return render_template(
        "researcher/study_edit.html",
        study=called,
        texts=texts_of(own_study(instance_folder(), present_project(), called)),
        name=name,
        content=text,
        seen=seen,
        stored=stored,
        looks=_looks(name, text),
        saved="saved" in request.args,
        project=project_name(),
    )


def _looks(name: str, text: str) -> Markup:
    """Return a text as participants see it, as a table, or the position of an error in TOML."""
    suffix = Path(name).suffix
    if len(text) > _SHOWN:
        return _paragraph("The text is too long to be shown while it is typed.")
    if suffix == ".md":
        return Markup('<article class="paper">{}</article>').format(as_html(text))
    if suffix == ".toml":
        try:
            read_toml(text)
        except (ValueError, RecursionError) as error:
            problem = f"This cannot be read as TOML: {error}."
            return Markup('<p class="problem">{}</p>').format(problem)
        return _paragraph("This can be read as TOML. The checks tell what it means.")
    if suffix not in (".tsv", ".csv"):
        return Markup("<pre>{}</pre>").format(text[:2000])
    read = csv.reader(text.splitlines()[: _ROWS + 1], delimiter="\t" if suffix == ".tsv" else ",")
    rows = list(read) or [[]]
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


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(text)
