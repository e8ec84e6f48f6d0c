"""The page of a study's power, which long jobs simulate."""

from pathlib import Path

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from webapp.errors import RequestError
from webapp.jobs.long_jobs import MADE, OVER, Job, JobState, Step
from webapp.researcher.access import allowed, current_user, present_project
from webapp.researcher.reports import jobs_here, made_report, queue_of_jobs, refuse_too_many
from webapp.researcher.study_folders import launchable_studies, log_act, project_name, zipped
from webapp.researcher.template_globals import whole_number
from webapp.services import current_services
from webapp.users.roles import Right

power_pages = Blueprint("power", __name__)
_MOST_PEOPLE, _MOST_SIMULATIONS, _MOST_NUMBERS = 200, 1_000, 6
_SMALLEST, _LARGEST = 0.01, 0.5


@power_pages.get("/studies/power")
@allowed(Right.CONDUCT)
def show() -> str:
    """Show a study's simulations, and the form for another."""
    return _page(_study(request.args.get("study", "")))


@power_pages.post("/studies/power")
@allowed(Right.CONDUCT)
def ask() -> ResponseReturnValue:
    """Queue a simulation of a study."""
    form, called = request.form, _study(request.form.get("study", ""))
    per_list, simulations = _numbers(form.get("per_list", "")), form.get("simulations", "")
    difference = form.get("difference", "").strip()
    n = whole_number(simulations, 4)
    if not 2 <= n <= _MOST_SIMULATIONS:
        raise _wrong(f"The number of simulated studies must be from 2 to {_MOST_SIMULATIONS:,}.")
    refuse_too_many(_subject(called))
    command = ["power", "--out", "{folder}/report", "--per-list", ",".join(map(str, per_list))]
    command += ["--simulations", str(n)]
    if difference:
        command += ["--difference", str(_share(difference))]
    title = f"{n} simulated studies each with {', '.join(map(str, per_list))} people a list"
    steps = [Step("simulating the study", [*command, "--", launchable_studies()[called]])]
    who, now = current_user().name, current_services().now()
    job = jobs_here().add(_subject(called), title, who, now, steps)
    log_act("power asked for", study=called)
    queue_of_jobs().put(job.id)
    return _back(called)


@power_pages.post("/studies/power/cancel")
@allowed(Right.CONDUCT)
def cancel() -> ResponseReturnValue:
    """Cancel a simulation, or delete a finished one."""
    called = _study(request.form.get("study", ""))
    jobs, job = jobs_here(), _job(called, request.form.get("job", ""))
    if job.state in OVER or job.is_lost(current_services().now()):
        jobs.remove(job.id)
    else:
        jobs.cancel(job.id)
        if job.state is JobState.WAITING:
            jobs.changed(job.id, state=JobState.CANCELLED)
    return _back(called)


@power_pages.get("/studies/power/figure")
@allowed(Right.CONDUCT)
def figure() -> Response:
    """Send the figure of a simulation."""
    return send_file(_finished_calculation() / "power.svg", "image/svg+xml")


@power_pages.get("/studies/power/download")
@allowed(Right.CONDUCT)
def download() -> Response:
    """Send the table and the figure of a simulation as a zip file."""
    archive = zipped(_finished_calculation())
    return send_file(archive, "application/zip", as_attachment=True, download_name="power.zip")


def _finished_calculation() -> Path:
    arguments = request.args
    return made_report(_job(_study(arguments.get("study", "")), arguments.get("job", "")))


def _study(called: str) -> str:
    if called not in launchable_studies():
        problem = f"There is no study {called!r} here."
        raise RequestError(problem, status=404, code="unknown_study")
    return called


def _subject(called: str) -> str:
    """Return the subject of a study's jobs, which is unique to its project."""
    return f"power {present_project() or 0} {called}"


def _job(called: str, job_id: str) -> Job:
    try:
        job = jobs_here().job(job_id)
    except KeyError:
        job = None
    if job is None or job.subject != _subject(called):
        problem = "The study has no such simulation."
        raise RequestError(problem, status=404, code="no_job")
    return job


def _numbers(typed: str) -> list[int]:
    parts = [part.strip() for part in typed.split(",") if part.strip()]
    numbers = sorted({whole_number(part, 4) for part in parts})
    is_good = 0 < len(numbers) <= _MOST_NUMBERS
    if not is_good or not 1 <= numbers[0] <= numbers[-1] <= _MOST_PEOPLE:
        raise _wrong(
            f"Write from one to {_MOST_NUMBERS} numbers of participants per list, each from 1 to "
            f"{_MOST_PEOPLE}, with commas between them, such as: 5, 10, 20"
        )
    return numbers


def _share(typed: str) -> float:
    try:
        share = float(typed)
    except ValueError:
        share = 0.0
    if not _SMALLEST <= share <= _LARGEST:
        raise _wrong(f"The difference must be a number from {_SMALLEST} to {_LARGEST}.")
    return share


def _wrong(text: str) -> RequestError:
    return RequestError(text, status=400, code="bad_number")


def _back(called: str) -> Response:
    return redirect(url_for("power.show", study=called, project=project_name() or None), 303)


def _page(called: str) -> str:
    store = jobs_here()
    jobs = store.about(_subject(called))
    tables = {
        job.id: (store.folder(job.id) / MADE / "power.txt").read_text(encoding="utf-8")
        for job in jobs
        if job.state is JobState.DONE and (store.folder(job.id) / MADE / "power.txt").is_file()
    }
    return render_template(
        "researcher/power.html",
        study=called,
        jobs=jobs,
        tables=tables,
        now=current_services().now(),
        at_work=any(job.state not in OVER for job in jobs),
        project=project_name(),
    )
