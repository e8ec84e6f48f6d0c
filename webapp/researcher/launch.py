"""Launching a study from the browser: choose or upload it, read its checks, confirm."""

import re
from collections import Counter
from collections.abc import Mapping

from flask import Blueprint, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from experiment.authoring.show import EXAMPLES_HEADING, find_consent_lines
from experiment.studies.load import STUDIES_FOLDER, built_in_studies
from webapp.core.subprocesses import run_parallax
from webapp.errors import RequestError
from webapp.recruiters.registry import RECRUITERS
from webapp.researcher.access import current_user, require_access
from webapp.researcher.studies import render_consents
from webapp.researcher.study_folders import (
    LARGEST_ZIP_BYTES,
    add_project_name,
    count_long_job,
    get_instance_folder,
    get_project_name,
    get_uploads_folder,
    list_launchable_studies,
    log_study_act,
    refuse_large_upload,
    store_upload,
)
from webapp.services import current_services
from webapp.users.audit_log import record_act
from webapp.users.projects import ProjectError
from webapp.users.roles import Right

launch_pages = Blueprint("launch", __name__)

_SEED_PATTERN = re.compile(r"\d{1,19}", re.ASCII)
_LAUNCH_LINE = re.compile(r"^Run (\w+) of ", re.MULTILINE)


@launch_pages.get("/launch")
@require_access(Right.CONDUCT)
def choose_study() -> str:
    """Show the studies that can be launched."""
    return render_template(
        "researcher/launch.html",
        studies=list_launchable_studies(),
        recruiters=list(RECRUITERS),
        project=get_project_name(),
    )


@launch_pages.post("/launch/upload")
@require_access(Right.CONDUCT, largest_body=LARGEST_ZIP_BYTES)
def upload_study() -> ResponseReturnValue:
    """Store a study folder that came as a zip file, and go on to its checks."""
    file = request.files.get("file")
    study = store_upload(get_uploads_folder(), file.read() if file else b"", refuse_large_upload)
    log_study_act("study uploaded", study=study)
    project = get_project_name() or None
    address = url_for(
        "launch.check_study", study=study, seed="1", recruiter="direct", project=project
    )
    return redirect(address, 303)


@launch_pages.get("/launch/check")
@require_access(Right.CONDUCT)
def check_study() -> str:
    """Show the findings of the launch checks, and a preview of the study."""
    study, folder, seed, recruiter = _read_launch_form(request.args)
    with count_long_job():
        done = run_parallax(
            get_instance_folder(), "study", "check", "--show", "--seed", seed, "--", folder
        )
    findings, _, overview = done.text.partition(EXAMPLES_HEADING)
    return render_template(
        "researcher/launch_check.html",
        study=study,
        seed=seed,
        recruiter=recruiter,
        project=get_project_name(),
        found=findings,
        shown=overview if done.worked else "",
        elements=find_consent_lines(overview),
        # The folder of a study of ours is its name, that of any other a whole path.
        consents=render_consents(STUDIES_FOLDER / folder) if done.worked else [],
    )


@launch_pages.post("/launch")
@require_access(Right.CONDUCT)
def launch_study() -> ResponseReturnValue:
    """Launch the study, unless its checks find an error."""
    study, folder, seed, recruiter = _read_launch_form(request.form)
    options = ["--seed", seed, "--recruiter", recruiter]
    if request.form.get("simulated"):
        options.append("--simulated")
    if project := get_project_name():
        options += ["--project", project]
    with count_long_job():
        done = run_parallax(get_instance_folder(), "launch", *options, "--", folder)
    launched = _LAUNCH_LINE.search(done.text)
    if not done.worked or launched is None:
        page = render_template(
            "researcher/launch_refused.html",
            study=study,
            text=done.text,
            own=study not in built_in_studies(),
            project=project,
        )
        return page, 409
    services = current_services()
    with services.sessions.begin() as session:
        record_act(
            session,
            current_user().name,
            "run launched",
            services.now(),
            run_ref=launched[1],
            after=add_project_name(study=study, seed=seed, recruiter=recruiter),
        )
    return redirect(url_for("runs.show_run", ref=launched[1]), 303)


def _read_launch_form(form: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Return the study's name and folder, the seed and the recruiter from the form."""
    study, seed = form.get("study", ""), form.get("seed", "").strip()
    recruiter, studies = form.get("recruiter", ""), list_launchable_studies()
    problem = ""
    if study not in studies:
        problem = f"There is no study {study!r} here."
    elif not _SEED_PATTERN.fullmatch(seed):
        problem = "The seed must be a whole number, such as 1."
    elif recruiter not in set(RECRUITERS):
        problem = f"There is no recruiter {recruiter!r}."
    if problem:
        raise RequestError(problem, status=400, code="bad_launch")
    return study, studies[study], seed, recruiter


@launch_pages.errorhandler(ProjectError)
def show_limit_reached(error: ProjectError) -> ResponseReturnValue:
    """Show the message that the project's limit is reached."""
    page = render_template(
        "researcher/launch_refused.html", study=get_project_name(), text=str(error)
    )
    return page, 409


def show_study_name(called: str) -> str:
    """Return a study's name as people read it, without the label of its folder.

    Where two studies have the same name, the label distinguishes them.
    """
    name = called.partition(" (")[0]
    name_counts = g.get("study_names")
    if name_counts is None:
        name_counts = g.study_names = Counter(
            study_name.partition(" (")[0] for study_name in list_launchable_studies()
        )
    return name if name_counts[name] <= 1 else called
