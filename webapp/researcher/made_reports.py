"""The reports of a run as long jobs made them, and whether they may still be read."""

from pathlib import Path

from flask import current_app

from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.long_jobs.outdated import stands
from webapp.long_jobs.records import MADE, Job, Jobs, JobState
from webapp.researcher.access import current_user
from webapp.runs.unblind import is_blind
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act


def jobs_here() -> Jobs:
    """Return the installation's long jobs."""
    return Jobs(Path(current_app.instance_path))


def report_job(ref: str, job_id: str) -> Job:
    """Return a report of a run.

    Raises:
        RequestError: The run has no such report.
    """
    try:
        job = jobs_here().job(job_id)
    except KeyError:
        job = None
    if job is None or job.subject != ref:
        raise RequestError("The run has no such report.", status=404, code="no_report")
    return job


def made_report(job: Job) -> Path:
    """Return the folder of a report.

    Raises:
        RequestError: It is not made.
    """
    folder = jobs_here().folder(job.id) / MADE
    if job.state is not JobState.DONE or not folder.is_dir():
        raise RequestError("The report is not made.", status=409, code="not_made")
    return folder


def refuse_unreadable(job: Job) -> None:
    """Let pass only a report that may be read now.

    One that stands on data which somebody has taken back or corrected since is removed. One of a
    run that is blind again, because a backup from before was restored, stays and is not shown.

    Raises:
        RequestError: It may not be read.
    """
    with reading(current_services().sessions) as session:
        if job.uses_people and is_blind(session, find_run(session, job.subject)):
            raise RequestError(
                "The run is blind, so no report of it is shown. Unblind it first, on its page.",
                status=409,
                code="blind",
            )
        if stands(session, jobs_here(), job):
            return
    jobs_here().remove(job.id)
    raise RequestError(
        "Somebody has taken back or corrected their data since this report was made, so it "
        "was deleted. Make it again.",
        status=410,
        code="report_outdated",
    )


def note_of_report(ref: str, act: str, **after: str) -> None:
    """Note in the audit log what was done with a report."""
    services = current_services()
    with services.sessions.begin() as session:
        record_act(session, current_user().name, act, services.now(), run_ref=ref, after=after)
