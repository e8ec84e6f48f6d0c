"""The comparison report of a run: the people, and models whose scores somebody brings along."""

import tempfile
from pathlib import Path

from flask import Blueprint, current_app, request, send_file
from flask.typing import ResponseReturnValue

from webapp.core.own_process import Done, parallax
from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.projects.limits import job_of
from webapp.projects.projects import ProjectError
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.researcher.boundary import present_project
from webapp.researcher.overview_page import run_page
from webapp.researcher.zipped import zipped
from webapp.runs.unblind import unblinding_of
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act

report_pages = Blueprint("report", __name__)
LARGEST_SCORES_BYTES = 64 * 1024 * 1024
_MOST_MODELS = 20


@report_pages.post("/runs/<ref>/report")
@allowed(Right.EXPORT, largest_body=LARGEST_SCORES_BYTES)
def make(ref: str) -> ResponseReturnValue:
    """Send the report, its tables and its figures as one zip file; a process of its own works."""
    services = current_services()
    with reading(services.sessions) as session:
        if unblinding_of(session, find_run(session, ref)) is None:
            raise RequestError(
                "The report shows the run's results: unblind the run first.",
                status=409,
                code="blind",
            )
    counted = job_of(services.sessions, present_project(), services.now())
    with tempfile.TemporaryDirectory() as temporary, counted:
        folder = Path(temporary)
        options = _scores(folder)
        instance, exported = Path(current_app.instance_path), folder / f"run-{ref}"
        _worked(parallax(instance, "export", ref, "--out", str(exported)))
        report = folder / f"report-{ref}"
        _worked(
            parallax(instance, "compare", "--run", str(exported), "--out", str(report), *options)
        )
        archive = zipped(report)
    with services.sessions.begin() as session:
        after = {"models": str(len(options) // 2)}
        who, now = current_user().name, services.now()
        record_act(session, who, "report made", now, run_ref=ref, after=after)
    return send_file(
        archive,
        mimetype="application/zip",
        as_attachment=True,
        download_name=f"parallax-report-{ref}.zip",
    )


@report_pages.errorhandler(ProjectError)
def refuse(error: ProjectError) -> ResponseReturnValue:
    """Show the paragraph on the run's page: the project may not use more."""
    return run_page((request.view_args or {})["ref"], problem=str(error)), 409


def _scores(folder: Path) -> list[str]:
    """Store the uploaded files under our own names, and return the options for them."""
    sent = [file for file in request.files.getlist("scores") if file.filename]
    if len(sent) > _MOST_MODELS:
        raise RequestError(f"At most {_MOST_MODELS} models.", status=400, code="too_many_models")
    options = list[str]()
    for number, file in enumerate(sent, start=1):
        path = folder / f"scores_{number}.parquet"
        file.save(path)
        options += ["--scores", str(path)]
    return options


def _worked(done: Done) -> None:
    if not done.worked:
        raise RequestError(
            f"The report could not be made: {done.text.strip()}", status=409, code="no_report"
        )
