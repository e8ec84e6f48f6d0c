"""A rehearsal: programs take part in a simulated run, as a long job."""

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.long_jobs.records import Step
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.researcher.made_reports import jobs_here, note_of_report
from webapp.researcher.paging import whole_number
from webapp.researcher.reports import queue_of_jobs, refuse_too_many
from webapp.services import current_services
from webapp.sessions.lookup import find_run

rehearsing_pages = Blueprint("rehearsing", __name__)
_MOST = 1_000
# Programs are quick; more at a time would keep people waiting.
_AT_A_TIME = "2"


@rehearsing_pages.post("/runs/<ref>/rehearsal")
@allowed(Right.CONDUCT)
def rehearse(ref: str) -> ResponseReturnValue:
    """Send programs through the pages of a simulated run."""
    services, typed = current_services(), request.form.get("people", "")
    people = whole_number(typed, 4)
    with reading(services.sessions) as session:
        run = find_run(session, ref)
    if not run.simulated or run.closed_at is not None:
        raise RequestError(
            "Programs take part only in a simulated run that is open.",
            status=409,
            code="not_simulated",
        )
    if not 1 <= people <= _MOST:
        raise RequestError(
            f"The number of programs must be from 1 to {_MOST:,}.",
            status=400,
            code="bad_number",
        )
    refuse_too_many(ref)
    sent = ("simulate", ref, "--participants", str(people), "--workers", _AT_A_TIME)
    steps = [Step("programs take part", sent)]
    who, now = current_user().name, services.now()
    title = f"{people:,} program{'' if people == 1 else 's'}"
    job = jobs_here().add(ref, title, who, now, steps)
    note_of_report(ref, "programs asked to take part", programs=str(people))
    queue_of_jobs().put(job.id)
    return redirect(url_for("reports.show_all", ref=ref), 303)
