"""The list of runs, and acts on a run: close, open, exclude, unblind, export, archive, rehearse."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from experiment.errors import ParallaxError
from webapp.core.subprocesses import run_parallax
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError, RunError
from webapp.jobs.long_jobs import Step
from webapp.payments.debts import describe_debts, find_debts
from webapp.researcher.access import (
    current_user,
    get_refusal_status,
    redirect_after_act,
    require_access,
)
from webapp.researcher.reports import (
    get_job_queue,
    get_long_jobs,
    log_report_act,
    refuse_too_many_jobs,
)
from webapp.researcher.run_checks import check_first
from webapp.researcher.run_page import render_run_page
from webapp.researcher.study_folders import get_instance_folder, zip_folder
from webapp.researcher.template_globals import get_page_number, parse_whole_number
from webapp.runs.blinding import check_unblinded, unblind_with_second_person
from webapp.runs.exclude import ExclusionCounts, check_rules_can_decide, store_verdicts
from webapp.runs.launch import add_places_to_run
from webapp.runs.people_table import PAGE_SIZE
from webapp.runs.runs import (
    check_may_open,
    close_run,
    describe_rules,
    list_run_progress,
    list_titles,
    open_run,
)
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act
from webapp.users.projects import filter_visible_runs, list_projects
from webapp.users.roles import Right, Role

_DIGITS = 9
run_pages = Blueprint("runs", __name__)


@run_pages.get("/")
@require_access(Role.MEMBER)
def show_runs() -> str:
    """List the runs, the latest first."""
    page = get_page_number()
    with reading(current_services().sessions) as session:
        archive, offset = "archive" in request.args, (page - 1) * PAGE_SIZE
        is_listed = Run.archived_at.is_not(None) if archive else Run.archived_at.is_(None)
        visible = filter_visible_runs(current_user()) & is_listed
        runs = list_run_progress(session, visible, latest=PAGE_SIZE + 1, after=offset)[::-1]
        projects = list_projects(session, current_user())
        titles = list_titles(session, [row.run for row in runs])
        rules = describe_rules(session, [row.run for row in runs])
    return render_template(
        "researcher/runs.html",
        runs=runs[:PAGE_SIZE],
        more=len(runs) > PAGE_SIZE,
        page=page,
        archive=archive,
        titles=titles,
        rules=rules,
        projects=projects,
        names={project.id: project.name for project in projects},
    )


@run_pages.get("/runs/<ref>")
@require_access(Right.SEE)
def show_run(ref: str) -> str:
    """Show a run: its progress, lists, charts and money."""
    return render_run_page(ref)


@run_pages.post("/runs/<ref>/close")
@require_access(Right.CONDUCT)
def close_to_newcomers(ref: str) -> ResponseReturnValue:
    """Close a run to new participants."""
    if owed := _describe_debts(ref):
        return render_run_page(ref, owed, asked="runs.close_to_newcomers")

    def change(session: Session) -> None:
        run = find_run(session, ref)
        _log_act(session, run, "run closed", was="open" if run.closed_at is None else "closed")
        close_run(session, run, current_services().now())

    return _change_run(ref, change)


@run_pages.post("/runs/<ref>/open")
@require_access(Right.CONDUCT)
@check_first(check_may_open)
def reopen_run(ref: str) -> Response:
    """Reopen a run."""

    def change(session: Session) -> None:
        run = find_run(session, ref)
        _log_act(session, run, "run opened", was="open" if run.closed_at is None else "closed")
        open_run(session, run)

    return _change_run(ref, change)


@run_pages.post("/runs/<ref>/grow")
@require_access(Right.CONDUCT)
def add_places(ref: str) -> ResponseReturnValue:
    """Add places to each list."""
    n_per_list = parse_whole_number(request.form.get("places", ""), _DIGITS)

    def change(session: Session) -> None:
        run = find_run(session, ref)
        places = add_places_to_run(session, run, n_per_list)
        _log_act(session, run, "places added", added_per_list=str(n_per_list), places=str(places))

    return _change_run(ref, change)


def _check_rules(session: Session, run: Run) -> None:
    check_rules_can_decide(run, current_services().study_of(session, run))


@run_pages.post("/runs/<ref>/exclude")
@require_access(Right.REVIEW)
@check_first(_check_rules)
def apply_exclusion_rules(ref: str) -> ResponseReturnValue:
    """Apply the study's exclusion rules to participants who finished."""
    decide_exclusions(ref, by=current_user().name)
    return redirect_after_act("runs.show_run", ref=ref)


@run_pages.post("/runs/<ref>/unblind")
@require_access(Right.UNBLIND)
def unblind_run(ref: str) -> Response:
    """Unblind a run."""
    reason, services = request.form.get("reason", "").strip(), current_services()
    with reading(services.sessions) as session:
        study = services.study_of(session, run := find_run(session, ref))
    user_name, now = current_user().name, services.now()
    unblind_with_second_person(services.sessions, run, study, by=user_name, reason=reason, now=now)
    return redirect_after_act("runs.show_run", ref=ref)


@run_pages.post("/runs/<ref>/export")
@require_access(Right.EXPORT)
def download_export(ref: str) -> ResponseReturnValue:
    """Send the export of a run as one zip file."""
    return make_export_zip(ref, by=current_user().name)


@run_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the run's own page."""
    page = render_run_page((request.view_args or {})["ref"], problem=str(error))
    return page, get_refusal_status(error)


def decide_exclusions(ref: str, *, by: str) -> ExclusionCounts:
    """Apply the study's exclusion rules to participants who finished."""

    def work(session: Session) -> ExclusionCounts:
        run, now = find_run(session, ref), current_services().now()
        result = store_verdicts(session, run, now)
        details = {"decided": str(result.decided)}
        record_act(session, by, "exclusion rules applied", now, run_ref=ref, after=details)
        return result

    return run_in_transaction(current_services().sessions, work)


def make_export_zip(ref: str, *, by: str) -> Response:
    """Return a run's export as one zip file, and log who received it."""
    services = current_services()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / f"run-{ref}"
        with reading(services.sessions) as session:
            check_unblinded(session, find_run(session, ref))
        # Another process writes the tables: a large run takes seconds, and this one has others to
        # answer.
        done = run_parallax(
            get_instance_folder(), "export", "--out", str(folder), "--", ref, limit_s=None
        )
        if not done.worked:
            raise RunError(done.text.strip().removeprefix("Error: ").rstrip("."))
        archive = zip_folder(folder)
    with services.sessions.begin() as session:
        record_act(session, by, "run exported", services.now(), run_ref=ref)
    return send_file(
        archive,
        mimetype="application/zip",
        as_attachment=True,
        download_name=f"parallax-run-{ref}.zip",
    )


def _describe_debts(ref: str) -> str:
    """Return the run's outstanding debts in words; empty if the form confirms knowing them."""
    if request.form.get("although_owed"):
        return ""
    with reading(current_services().sessions) as session:
        owed = describe_debts(find_debts(session, find_run(session, ref)))
    return f"{owed}. Nothing was changed. Pay them under Money first, or go on." if owed else ""


def _change_run(ref: str, change: Callable[[Session], None]) -> Response:
    run_in_transaction(current_services().sessions, change)
    return redirect_after_act("runs.show_run", ref=ref)


def _log_act(session: Session, run: Run, act: str, *, was: str = "", **after: str) -> None:
    before = {"run": was} if was else {}
    now = current_services().now()
    record_act(session, current_user().name, act, now, run_ref=run.ref, before=before, after=after)


rehearsing_pages = Blueprint("rehearsing", __name__)
_MOST_PROGRAMS = 1_000
# Programs answer fast; more at a time would slow down participants.
_N_WORKERS = "2"


def _check_rehearsal(_session: Session, run: Run) -> None:
    if not run.simulated or run.closed_at is not None:
        raise RequestError(
            "Programs take part only in a simulated run that is open.",
            status=409,
            code="not_simulated",
        )
    refuse_too_many_jobs(run.ref)


@rehearsing_pages.post("/runs/<ref>/rehearsal")
@require_access(Right.CONDUCT)
@check_first(_check_rehearsal)
def start_rehearsal(ref: str) -> ResponseReturnValue:
    """Let programs take part through the pages of a simulated run."""
    services = current_services()
    people = parse_whole_number(request.form.get("people", ""), 4)
    if not 1 <= people <= _MOST_PROGRAMS:
        raise RequestError(
            f"The number of programs must be from 1 to {_MOST_PROGRAMS:,}.",
            status=400,
            code="bad_number",
        )
    command = ("simulate", ref, "--participants", str(people), "--workers", _N_WORKERS)
    steps = [Step("programs take part", command)]
    user_name, now = current_user().name, services.now()
    title = f"{people:,} program{'' if people == 1 else 's'}"
    job = get_long_jobs().add(ref, title, user_name, now, steps)
    log_report_act(ref, "programs asked to take part", programs=str(people))
    get_job_queue().put(job.id)
    return redirect(url_for("reports.show_reports", ref=ref), 303)


archive_pages = Blueprint("archive", __name__)


@archive_pages.post("/runs/<ref>/archive")
@require_access(Right.CONDUCT)
def archive_run(ref: str) -> ResponseReturnValue:
    """Archive a closed run."""
    if owed := _describe_debts(ref):
        return render_run_page(ref, owed, asked="archive.archive_run")
    return _set_archived(ref, into=True)


@archive_pages.post("/runs/<ref>/archive/out")
@require_access(Right.CONDUCT)
def unarchive_run(ref: str) -> Response:
    """Take a run out of the archive."""
    return _set_archived(ref, into=False)


def _set_archived(ref: str, *, into: bool) -> Response:
    now = current_services().now()

    def work(session: Session) -> None:
        run: Run = find_run(session, ref)
        if into and run.closed_at is None:
            raise RequestError(
                "The run is open: people may still come. Close it first.",
                status=409,
                code="run_open",
            )
        if (run.archived_at is not None) != into:
            run.archived_at = now if into else None
            act = "run archived" if into else "run taken out of the archive"
            record_act(session, current_user().name, act, now, run_ref=ref)

    run_in_transaction(current_services().sessions, work)
    return redirect_after_act("runs.show_run", ref=ref)
