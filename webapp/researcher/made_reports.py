"""The reports of a run as long jobs made them, and whether they may still be read."""

from pathlib import Path

from flask import current_app
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.errors import RequestError
from webapp.long_jobs.records import Job, Jobs, JobState
from webapp.researcher.access import current_user
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act


def jobs_here() -> Jobs:
    """Return the installation's long jobs."""
    return Jobs(Path(current_app.instance_path))


def basis_of(session: Session, run: Run) -> int:
    """Return how many people of a run may be used now: a report stands on all of them."""
    return (
        session.scalar(
            select(func.count()).where(
                Participant.run_id == run.id,
                Participant.consented_at.is_not(None),
                Participant.restricted_at.is_(None),
                Participant.state != State.WITHDRAWN,
            )
        )
        or 0
    )


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
    folder = jobs_here().folder(job.id) / "report"
    if job.state is not JobState.DONE or not folder.is_dir():
        raise RequestError("The report is not made.", status=409, code="not_made")
    return folder


def refuse_outdated(job: Job) -> None:
    """Remove a report that stands on data which somebody has taken back since.

    Raises:
        RequestError: It does.
    """
    with reading(current_services().sessions) as session:
        if basis_of(session, find_run(session, job.subject)) >= job.basis:
            return
    jobs_here().remove(job.id)
    raise RequestError(
        "Somebody has taken back their data since this report was made, so it was deleted. Make it"
        " again.",
        status=410,
        code="report_outdated",
    )


def note_of_report(ref: str, act: str, **after: str) -> None:
    """Note in the audit log what was done with a report."""
    services = current_services()
    with services.sessions.begin() as session:
        record_act(session, current_user().name, act, services.now(), run_ref=ref, after=after)
