"""Pages for owners: findings of the doctor, settings, backups, the audit log."""

import json
from collections import Counter
from pathlib import Path

from flask import Blueprint, Response, current_app, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from experiment.tables.files import safe_csv
from webapp.core.subprocesses import run_parallax
from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.jobs.long_jobs import ENDED_STATES, Step
from webapp.recruiters.settings import list_settings
from webapp.researcher.access import current_user, require_access
from webapp.researcher.reports import get_job_queue, get_long_jobs
from webapp.services import current_services
from webapp.users.audit_log import find_first_broken_entry, list_audit_entries, record_act
from webapp.users.roles import Role

installation_pages = Blueprint("installation", __name__)
# Not a valid run reference, so that erasing a run's data never removes these jobs.
_BACKUP_SUBJECT = "backups of the installation"
_FOLDER, _KEPT = "room_backups", "7"


@installation_pages.get("/installation")
@require_access(Role.OWNER)
def show_doctor_findings() -> str:
    """Show every finding of ``parallax doctor``, faults first.

    Raises:
        RequestError: The checks could not be carried out.
    """
    check = run_parallax(Path(current_app.instance_path), "doctor", "--json")
    if not check.worked:
        raise RequestError(
            f"The installation could not be checked: {check.text}",
            status=500,
            code="unchecked",
        )
    findings = json.loads(check.text)
    worst_first = ("fault", "warning", "good")
    findings.sort(key=lambda finding: worst_first.index(finding["level"]))
    counts = Counter(finding["level"] for finding in findings)
    return render_template("researcher/installation.html", findings=findings, counts=counts)


@installation_pages.get("/settings")
@require_access(Role.OWNER)
def show_settings() -> str:
    """Show every setting, with secrets masked."""
    rows = list_settings(Path(current_app.instance_path))
    return render_template("researcher/settings.html", rows=rows)


@installation_pages.get("/backups")
@require_access(Role.OWNER)
def show_backups() -> str:
    """Show the backups that were made on this page, and the backup jobs."""
    jobs = get_long_jobs().list_jobs(_BACKUP_SUBJECT)
    return render_template(
        "researcher/backups.html",
        jobs=jobs,
        at_work=any(job.state not in ENDED_STATES for job in jobs),
        now=current_services().now(),
        files=sorted(
            (file.name, file.stat().st_size) for file in _get_backup_folder().glob("*.backup")
        ),
        folder=_FOLDER,
        kept=_KEPT,
    )


@installation_pages.post("/backups")
@require_access(Role.OWNER)
def start_backup() -> ResponseReturnValue:
    """Queue a backup into the installation's folder, unless one is waiting."""
    services, jobs, user_name = current_services(), get_long_jobs(), current_user().name
    if all(job.state in ENDED_STATES for job in jobs.list_jobs(_BACKUP_SUBJECT)):
        for job in jobs.list_jobs(_BACKUP_SUBJECT):
            jobs.remove(job.id)  # the backups themselves lie elsewhere
        _get_backup_folder().mkdir(mode=0o700, exist_ok=True)
        command = ("db", "backup", "--keep", _KEPT, "--", str(_get_backup_folder()))
        steps = [Step("writing the backup and reading it back", command)]
        job = jobs.add(_BACKUP_SUBJECT, "A backup", user_name, services.now(), steps)
        with services.sessions.begin() as session:
            record_act(session, user_name, "backup asked for", services.now())
        get_job_queue().put(job.id)
    return redirect(url_for("installation.show_backups"), 303)


def _get_backup_folder() -> Path:
    return Path(current_app.instance_path) / _FOLDER


audit_pages = Blueprint("audit", __name__)

_COLUMNS = ("number", "at", "who", "act", "run_ref", "before", "after", "previous_hash", "hash")


@audit_pages.get("/audit")
@require_access(Role.OWNER)
def show_audit_log() -> str:
    """Show every entry of the audit log, the latest first, and whether the chain is intact."""
    with reading(current_services().sessions) as session:
        entries, broken = list(list_audit_entries(session))[::-1], find_first_broken_entry(session)
    return render_template("researcher/audit.html", entries=entries, broken=broken)


@audit_pages.get("/audit.csv")
@require_access(Role.OWNER)
def download_audit_csv() -> Response:
    """Send the whole log as CSV."""
    with reading(current_services().sessions) as session:
        rows = (
            [getattr(entry, column) for column in _COLUMNS] for entry in list_audit_entries(session)
        )
        text = safe_csv(_COLUMNS, (map(_format_cell, row) for row in rows))
    headers = {"Content-Disposition": "attachment; filename=parallax-audit.csv"}
    return Response(text, mimetype="text/csv", headers=headers)


def _format_cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


@audit_pages.get("/audit.json")
@require_access(Role.OWNER)
def download_audit_json() -> Response:
    """Send the whole log as JSON, with the fields that each entry's hash covers."""
    with reading(current_services().sessions) as session:
        entries = [
            {column: getattr(entry, column) for column in _COLUMNS}
            for entry in list_audit_entries(session)
        ]
    headers = {"Content-Disposition": "attachment; filename=parallax-audit.json"}
    text = json.dumps(
        [{**entry, "at": entry["at"].isoformat()} for entry in entries],
        ensure_ascii=False,
        indent=1,
    )
    return Response(f"{text}\n", mimetype="application/json", headers=headers)
