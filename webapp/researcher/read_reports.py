"""Reading a report in the browser, and sharing it by a link."""

from flask import Blueprint, g, redirect, request, send_file, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from webapp.errors import RequestError
from webapp.http.security_headers import PAGE_OF_ITS_OWN
from webapp.long_jobs.records import Job
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.researcher.made_reports import (
    jobs_here,
    made_report,
    note_of_report,
    refuse_unreadable,
    report_job,
)
from webapp.researcher.reports import page_of_reports
from webapp.researcher.uploads import zipped
from webapp.services import current_services
from webapp.users.secret_links import link_of, shared, take_back

reading_pages = Blueprint("report_pages", __name__)


@reading_pages.get("/runs/<ref>/reports/read")
@allowed(Right.EXPORT)
def read(ref: str) -> Response:
    """Show a report as the page that it is."""
    return _report(report_job(ref, request.args.get("report", "")))


@reading_pages.get("/runs/<ref>/reports/download")
@allowed(Right.EXPORT)
def download(ref: str) -> ResponseReturnValue:
    """Send a report with its tables and figures as one zip file."""
    job = report_job(ref, request.args.get("report", ""))
    refuse_unreadable(job)
    name = f"parallax-report-{ref}.zip"
    return send_file(
        zipped(made_report(job)), "application/zip", as_attachment=True, download_name=name
    )


@reading_pages.post("/runs/<ref>/reports/share")
@allowed(Right.EXPORT)
def share(ref: str) -> ResponseReturnValue:
    """Make a link by which anybody can read a report, and show it once."""
    job = report_job(ref, request.form.get("report", ""))
    made_report(job)
    secret = link_of(jobs_here().folder(job.id))
    note_of_report(ref, "report shared", report=job.id)
    base = current_services().settings.link_base
    link = f"{base}{url_for('report_pages.read_shared', report=job.id, link=secret)}"
    return page_of_reports(ref, link=link)


@reading_pages.post("/runs/<ref>/reports/unshare")
@allowed(Right.EXPORT)
def unshare(ref: str) -> Response:
    """End the link of a report."""
    job = report_job(ref, request.form.get("report", ""))
    take_back(jobs_here().folder(job.id))
    note_of_report(ref, "report no longer shared", report=job.id)
    return redirect(url_for("reports.show_all", ref=ref), 303)


@reading_pages.get("/shared")
@allowed(None)
def read_shared() -> Response:
    """Show a report to whoever has its link."""
    jobs = jobs_here()
    try:
        job = jobs.job(request.args.get("report", ""))
    except KeyError:
        job = None
    if job is None or not shared(jobs.folder(job.id), request.args.get("link", "")):
        raise RequestError(
            "This link is not right, or it was ended. Ask whoever sent it for another one.",
            status=404,
            code="no_shared_report",
        )
    return _report(job)


def _report(job: Job) -> Response:
    folder = made_report(job)
    refuse_unreadable(job)
    html = (folder / "report.html").read_text(encoding="utf-8")
    g.own_policy = PAGE_OF_ITS_OWN
    return Response(html, mimetype="text/html")
