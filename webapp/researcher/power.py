"""The page of a study's power, which long jobs simulate."""

from pathlib import Path

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from webapp.errors import RequestError
from webapp.jobs.long_jobs import ENDED_STATES, RESULT_FOLDER, Job, JobState, Step
from webapp.researcher.access import current_user, get_current_project_id, require_access
from webapp.researcher.reports import (
    describe_full_queue,
    get_job_queue,
    get_long_jobs,
    get_report_folder,
    refuse_too_many_jobs,
)
from webapp.researcher.study_folders import (
    get_project_name,
    list_launchable_studies,
    log_study_act,
    zip_folder,
)
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import current_services
from webapp.users.roles import Right

power_pages = Blueprint("power", __name__)
_MOST_PEOPLE, _MOST_SIMULATIONS, _MOST_NUMBERS = 200, 1_000, 6
_SMALLEST, _LARGEST = 0.01, 0.5
_TABLES, _FIGURE = ("power.txt", "norm.txt", "stopping.txt"), "power.svg"


@power_pages.get("/studies/power")
@require_access(Right.CONDUCT)
def show_simulations() -> str:
    """Show a study's simulations, and the form for another."""
    return _render_page(_check_study_name(request.args.get("study", "")))


@power_pages.post("/studies/power")
@require_access(Right.CONDUCT)
def start_simulation() -> ResponseReturnValue:
    """Queue a simulation of a study."""
    form, study_name = request.form, _check_study_name(request.form.get("study", ""))
    per_list, simulations = _parse_list_sizes(form.get("per_list", "")), form.get("simulations", "")
    difference = form.get("difference", "").strip()
    n = parse_whole_number(simulations, 4)
    if not 2 <= n <= _MOST_SIMULATIONS:
        raise _make_input_error(
            f"The number of simulated studies must be from 2 to {_MOST_SIMULATIONS:,}."
        )
    refuse_too_many_jobs(_make_job_subject(study_name))
    command = ["power", "--out", "{folder}/report", "--per-list", ",".join(map(str, per_list))]
    command += ["--simulations", str(n)]
    if difference:
        command += ["--difference", str(_parse_difference(difference))]
    title = f"{n} simulated studies each with {', '.join(map(str, per_list))} people a list"
    steps = [Step("simulating the study", [*command, "--", list_launchable_studies()[study_name]])]
    user_name, now = current_user().name, current_services().now()
    job = get_long_jobs().add(_make_job_subject(study_name), title, user_name, now, steps)
    log_study_act("power asked for", study=study_name)
    get_job_queue().put(job.id)
    return _redirect_to_page(study_name)


@power_pages.post("/studies/power/cancel")
@require_access(Right.CONDUCT)
def cancel_simulation() -> ResponseReturnValue:
    """Cancel a simulation, or delete a finished one."""
    study_name = _check_study_name(request.form.get("study", ""))
    jobs, job = get_long_jobs(), _find_job(study_name, request.form.get("job", ""))
    if job.state in ENDED_STATES or job.is_lost(current_services().now()):
        jobs.remove(job.id)
    else:
        jobs.cancel(job.id)
        if job.state is JobState.WAITING:
            jobs.change(job.id, state=JobState.CANCELLED)
    return _redirect_to_page(study_name)


@power_pages.get("/studies/power/figure")
@require_access(Right.CONDUCT)
def send_figure() -> Response:
    """Send the figure of a simulation."""
    return send_file(_find_finished_simulation() / _FIGURE, "image/svg+xml")


@power_pages.get("/studies/power/download")
@require_access(Right.CONDUCT)
def download_simulation() -> Response:
    """Send the table and the figure of a simulation as a zip file."""
    archive = zip_folder(_find_finished_simulation())
    return send_file(archive, "application/zip", as_attachment=True, download_name="power.zip")


def _find_finished_simulation() -> Path:
    arguments = request.args
    return get_report_folder(
        _find_job(_check_study_name(arguments.get("study", "")), arguments.get("job", ""))
    )


def _check_study_name(called: str) -> str:
    if called not in list_launchable_studies():
        problem = f"There is no study {called!r} here."
        raise RequestError(problem, status=404, code="unknown_study")
    return called


def _make_job_subject(called: str) -> str:
    """Return the subject of a study's jobs, which is unique to its project."""
    return f"power {get_current_project_id() or 0} {called}"


def _find_job(called: str, job_id: str) -> Job:
    job = get_long_jobs().find_for(_make_job_subject(called), job_id)
    if job is None:
        problem = "The study has no such simulation."
        raise RequestError(problem, status=404, code="no_job")
    return job


def _parse_list_sizes(typed: str) -> list[int]:
    parts = [part.strip() for part in typed.split(",") if part.strip()]
    numbers = sorted({parse_whole_number(part, 4) for part in parts})
    is_good = 0 < len(numbers) <= _MOST_NUMBERS
    if not is_good or not 1 <= numbers[0] <= numbers[-1] <= _MOST_PEOPLE:
        raise _make_input_error(
            f"Write from one to {_MOST_NUMBERS} numbers of participants per list, each from 1 to "
            f"{_MOST_PEOPLE}, with commas between them, such as: 5, 10, 20"
        )
    return numbers


def _parse_difference(typed: str) -> float:
    try:
        share = float(typed)
    except ValueError:
        share = 0.0
    if not _SMALLEST <= share <= _LARGEST:
        raise _make_input_error(f"The difference must be a number from {_SMALLEST} to {_LARGEST}.")
    return share


def _make_input_error(text: str) -> RequestError:
    return RequestError(text, status=400, code="bad_number")


def _redirect_to_page(called: str) -> Response:
    return redirect(
        url_for("power.show_simulations", study=called, project=get_project_name() or None), 303
    )


def _render_page(called: str) -> str:
    store = get_long_jobs()
    jobs = store.list_jobs(_make_job_subject(called))
    folders = {
        job.id: store.folder(job.id) / RESULT_FOLDER for job in jobs if job.state is JobState.DONE
    }
    tables = {
        job_id: "\n".join(
            path.read_text(encoding="utf-8")
            for path in (folder / name for name in _TABLES)
            if path.is_file()
        )
        for job_id, folder in folders.items()
    }
    return render_template(
        "researcher/power.html",
        study=called,
        jobs=jobs,
        tables={job_id: text for job_id, text in tables.items() if text},
        drawn={job_id for job_id, folder in folders.items() if (folder / _FIGURE).is_file()},
        now=current_services().now(),
        at_work=any(job.state not in ENDED_STATES for job in jobs),
        project=get_project_name(),
        full_queue=describe_full_queue(_make_job_subject(called)),
    )
