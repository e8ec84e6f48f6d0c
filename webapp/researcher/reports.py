"""The page of a run's reports: long jobs make them, users read and share them; the job queue."""

import hmac
import secrets
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast

from flask import Blueprint, current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import escape
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from webapp.core.subprocesses import run_in_thread
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError, RunError
from webapp.jobs.long_jobs import ENDED_STATES, EXPORT_FOLDER, JobState, Step
from webapp.researcher.access import current_user, require_access
from webapp.researcher.run_checks import check_first
from webapp.researcher.run_page import render_run_page
from webapp.runs.blinding import check_unblinded
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.roles import Right

if TYPE_CHECKING:
    from webapp.jobs.long_job_queue import LongJobQueue
from flask import g, send_file

from webapp.http.security_headers import SANDBOXED_PAGE_POLICY
from webapp.jobs.long_jobs import RESULT_FOLDER, Job, Jobs, is_up_to_date
from webapp.researcher.study_folders import zip_folder
from webapp.runs.blinding import is_blind
from webapp.users.audit_log import record_act

reports_pages = Blueprint("reports", __name__)
LARGEST_SCORES_BYTES = 64 * 1024 * 1024
_MOST_MODELS = 20
_MOST_WAITING = 3
_QUEUE_EXTENSION = "parallax_long_queue"
# A report's page, and those that it links to.
_PAGE_NAMES = ("report", "methods", "checklist")


@reports_pages.get("/runs/<ref>/reports")
@require_access(Right.EXPORT)
def show_reports(ref: str) -> str:
    """Show a run's reports, the jobs that make reports, and the models for a new one."""
    return _render_page(ref)


def describe_full_queue(subject: str) -> str:
    """Return why a run or a study gets no further job now; empty if it gets one."""
    waiting = [job for job in get_long_jobs().list_jobs(subject) if job.state not in ENDED_STATES]
    if len(waiting) < _MOST_WAITING:
        return ""
    return f"{len(waiting)} jobs are waiting or at work here. Wait for them, or cancel one."


def refuse_too_many_jobs(subject: str) -> None:
    """Refuse another job for a run or a study with several waiting jobs.

    Raises:
        RequestError: Several jobs wait.
    """
    if problem := describe_full_queue(subject):
        raise RequestError(problem, status=409, code="enough_jobs")


def _check_queue(_session: Session, run: Run) -> None:
    refuse_too_many_jobs(run.ref)


@reports_pages.post("/runs/<ref>/reports")
@require_access(Right.EXPORT, largest_body=LARGEST_SCORES_BYTES)
@check_first(_check_queue)
def start_report(ref: str) -> ResponseReturnValue:
    """Queue a run's export, scoring and comparison."""
    services, jobs = current_services(), get_long_jobs()
    with reading(services.sessions) as session:
        check_unblinded(session, find_run(session, ref))
    models = [name for name in request.form.getlist("model") if name in list_installed_models()]
    files = [file for file in request.files.getlist("scores") if file.filename]
    if len(models) + len(files) > _MOST_MODELS:
        problem = f"At most {_MOST_MODELS} models."
        raise RequestError(problem, status=400, code="too_many_models")
    steps = _plan_report_steps(ref, models, len(files))
    title = _make_job_title(models, len(files))
    job = jobs.add(ref, title, current_user().name, services.now(), steps)
    run_in_thread(lambda: _store_scores(jobs.folder(job.id), files))
    log_report_act(ref, "report asked for", report=job.id, models=str(len(models) + len(files)))
    get_job_queue().put(job.id)
    return redirect(url_for("reports.show_reports", ref=ref), 303)


@reports_pages.post("/runs/<ref>/reports/cancel")
@require_access(Right.EXPORT)
def cancel_report(ref: str) -> Response:
    """Cancel a report's job and remove its files."""
    jobs, job = get_long_jobs(), find_report_job(ref, request.form.get("report", ""))
    jobs.cancel(job.id)
    if job.state is JobState.WAITING or job.is_lost(current_services().now()):
        jobs.change(job.id, state=JobState.CANCELLED)
    return redirect(url_for("reports.show_reports", ref=ref), 303)


@reports_pages.post("/runs/<ref>/reports/delete")
@require_access(Right.EXPORT)
def delete_report(ref: str) -> Response:
    """Delete a finished or failed report, with its links."""
    job = find_report_job(ref, request.form.get("report", ""))
    get_long_jobs().remove(job.id)
    log_report_act(ref, "report deleted", report=job.id)
    return redirect(url_for("reports.show_reports", ref=ref), 303)


@reports_pages.errorhandler(RunError)
def show_error(error: RunError) -> ResponseReturnValue:
    """Show on the run's page that the run is blind."""
    return render_run_page((request.view_args or {})["ref"], problem=str(error)), 409


def list_installed_models() -> list[str]:
    """Return the installed models: the folders below ``models`` of the instance."""
    return sorted(
        path.parent.name for path in (_get_instance_folder() / "models").glob("*/config.json")
    )


def _plan_report_steps(ref: str, models: Sequence[str], n_files: int) -> list[Step]:
    run = f"{{folder}}/{EXPORT_FOLDER}"
    steps = [Step("exporting the run", ("export", ref, "--out", run))]
    scores = [f"{{folder}}/uploaded_{number}.parquet" for number in range(n_files)]
    for number, name in enumerate(models):
        out = f"{{folder}}/scores_{number}.parquet"
        model = str(_get_instance_folder() / "models" / name)
        score_command = (
            "lm",
            "score",
            "--only-judged",
            run,
            "--out",
            out,
            "--",
            model,
            f"{run}/study",
        )
        steps.append(Step(f"scoring with {name}", score_command))
        scores.append(out)
    options = [option for path in scores for option in ("--scores", path)]
    report = ("compare", "--run", run, "--out", "{folder}/report", *options)
    return [*steps, Step("comparing", report)]


def _make_job_title(models: Sequence[str], n_files: int) -> str:
    if not models and not n_files:
        return "People"
    of_models = ", ".join(models) or "uploaded scores"
    return f"People and {of_models}"


def _store_scores(folder: Path, files: Sequence[FileStorage]) -> None:
    for number, file in enumerate(files):
        file.save(folder / f"uploaded_{number}.parquet")


def _render_page(ref: str, link: str = "") -> str:
    services, jobs = current_services(), get_long_jobs()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        check_unblinded(session, run)
    of_run = jobs.list_jobs(ref)
    return render_template(
        "researcher/reports.html",
        run=run,
        jobs=of_run,
        shared={job.id for job in of_run if has_report_link(jobs.folder(job.id))},
        now=services.now(),
        models=list_installed_models(),
        link=link,
        at_work=any(job.state not in ENDED_STATES for job in of_run),
    )


def get_job_queue() -> "LongJobQueue":
    """Return the queue of long jobs."""
    # Imported late: the queue's library imports PostgreSQL's driver. Under gevent, that import must
    # follow the worker's patching, or one waiting request would block all others.
    from webapp.jobs.long_job_queue import open_long_queue

    extensions = current_app.extensions
    if _QUEUE_EXTENSION not in extensions:
        extensions[_QUEUE_EXTENSION] = open_long_queue(current_services(), _get_instance_folder())
    return cast("LongJobQueue", extensions[_QUEUE_EXTENSION])


def _get_instance_folder() -> Path:
    return Path(current_app.instance_path)


def get_long_jobs() -> Jobs:
    """Return the installation's long jobs."""
    return Jobs(_get_instance_folder())


def find_report_job(ref: str, job_id: str) -> Job:
    """Return a report's job of a run.

    Raises:
        RequestError: The run has no such report.
    """
    job = get_long_jobs().find_for(ref, job_id)
    if job is None:
        raise RequestError("The run has no such report.", status=404, code="no_report")
    return job


def get_report_folder(job: Job) -> Path:
    """Return the folder of a report.

    Raises:
        RequestError: The report is not finished.
    """
    folder = get_long_jobs().folder(job.id) / RESULT_FOLDER
    if job.state is not JobState.DONE or not folder.is_dir():
        raise RequestError("The report is not finished.", status=409, code="not_made")
    return folder


def refuse_unreadable_report(job: Job) -> None:
    """Refuse a report that may not be read now.

    A report based on data that have since been withdrawn or corrected is removed. If an older
    backup was restored and the run's results are hidden again, the report is kept but not shown.

    Raises:
        RequestError: The report may not be read.
    """
    with reading(current_services().sessions) as session:
        if job.uses_people and is_blind(session, find_run(session, job.subject)):
            raise RequestError(
                "The run is blind, so no report of it is shown. Unblind it first, on its page.",
                status=409,
                code="blind",
            )
        if is_up_to_date(session, get_long_jobs(), job):
            return
    get_long_jobs().remove(job.id)
    raise RequestError(
        "A participant has withdrawn or corrected their data since this report was made, so it "
        "was deleted. Make it again.",
        status=410,
        code="report_outdated",
    )


def log_report_act(ref: str, act: str, **after: str) -> None:
    """Record an act on a report in the audit log."""
    services = current_services()
    with services.sessions.begin() as session:
        record_act(session, current_user().name, act, services.now(), run_ref=ref, after=after)


reading_pages = Blueprint("report_pages", __name__)


@reading_pages.get("/runs/<ref>/reports/read")
@require_access(Right.EXPORT)
def read_report(ref: str) -> Response:
    """Show a report on a separate page."""
    return _send_report(find_report_job(ref, request.args.get("report", "")))


@reading_pages.get("/runs/<ref>/reports/download")
@require_access(Right.EXPORT)
def download_report(ref: str) -> ResponseReturnValue:
    """Send a report with its tables and figures as one zip file."""
    job = find_report_job(ref, request.args.get("report", ""))
    refuse_unreadable_report(job)
    name = f"parallax-report-{ref}.zip"
    return send_file(
        zip_folder(get_report_folder(job)),
        "application/zip",
        as_attachment=True,
        download_name=name,
    )


@reading_pages.post("/runs/<ref>/reports/share")
@require_access(Right.EXPORT)
def share_report(ref: str) -> ResponseReturnValue:
    """Create a public link to a report, and show the link once."""
    job = find_report_job(ref, request.form.get("report", ""))
    get_report_folder(job)
    secret = make_report_link(get_long_jobs().folder(job.id))
    log_report_act(ref, "report shared", report=job.id)
    base = current_services().settings.link_base
    link = f"{base}{url_for('report_pages.read_shared_report', report=job.id, link=secret)}"
    return _render_page(ref, link=link)


@reading_pages.post("/runs/<ref>/reports/unshare")
@require_access(Right.EXPORT)
def unshare_report(ref: str) -> Response:
    """End the link of a report."""
    job = find_report_job(ref, request.form.get("report", ""))
    _delete_report_link(get_long_jobs().folder(job.id))
    log_report_act(ref, "report no longer shared", report=job.id)
    return redirect(url_for("reports.show_reports", ref=ref), 303)


@reading_pages.get("/shared")
@require_access(None)
def read_shared_report() -> Response:
    """Show a report to a visitor with its link."""
    jobs = get_long_jobs()
    try:
        job = jobs.find(request.args.get("report", ""))
    except KeyError:
        job = None
    if job is None or not has_report_link(jobs.folder(job.id), request.args.get("link", "")):
        raise RequestError(
            "This link is not valid, or it was ended. Ask the sender for another one.",
            status=404,
            code="no_shared_report",
        )
    return _send_report(job)


def _send_report(job: Job) -> Response:
    folder = get_report_folder(job)
    refuse_unreadable_report(job)
    page = request.args.get("page", "report")
    if page not in _PAGE_NAMES or not (folder / f"{page}.html").is_file():
        raise RequestError("The report has no such page.", status=404, code="no_report_page")
    html = (folder / f"{page}.html").read_text(encoding="utf-8")
    for name in _PAGE_NAMES:
        # In its folder the report links to neighbouring files; here all have one address.
        arguments = {**request.args.to_dict(), **(request.view_args or {}), "page": name}
        address = url_for(str(request.endpoint), **arguments)
        html = html.replace(f'href="{name}.html"', f'href="{escape(address)}"')
    g.own_policy = SANDBOXED_PAGE_POLICY
    return Response(html, mimetype="text/html")


# The file in a shared report's folder with the digest of its link's secret.
_LINK_FILE = "shared"


def make_report_link(folder: Path) -> str:
    """Create the secret of a report's link and return it; an earlier link ends."""
    secret = secrets.token_urlsafe(24)
    (folder / _LINK_FILE).write_text(_hash_link_secret(secret), encoding="ascii", newline="\n")
    return secret


def has_report_link(folder: Path, secret: str | None = None) -> bool:
    """Return whether a report has a link; with ``secret``, whether the link has that secret."""
    try:
        digest = (folder / _LINK_FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return secret is None or hmac.compare_digest(digest, _hash_link_secret(secret))


def _delete_report_link(folder: Path) -> None:
    (folder / _LINK_FILE).unlink(missing_ok=True)


def _hash_link_secret(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
