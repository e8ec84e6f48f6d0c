"""The audit log as a page, and as a file."""

import json

from flask import Blueprint, Response, render_template

from experiment.tables.files import safe_csv
from webapp.database.engine import reading
from webapp.researcher.access import allowed
from webapp.services import current_services
from webapp.users.audit_log import audit_entries, first_broken
from webapp.users.roles import Role

audit_pages = Blueprint("audit", __name__)

_COLUMNS = ("number", "at", "who", "act", "run_ref", "before", "after", "previous_hash", "hash")


@audit_pages.get("/audit")
@allowed(Role.OWNER)
def show() -> str:
    """Show every act, the latest first, and whether the chain is whole."""
    with reading(current_services().sessions) as session:
        entries, broken = list(audit_entries(session))[::-1], first_broken(session)
    return render_template("researcher/audit.html", entries=entries, broken=broken)


@audit_pages.get("/audit.csv")
@allowed(Role.OWNER)
def download() -> Response:
    """Send the whole log as CSV."""
    with reading(current_services().sessions) as session:
        rows = ([getattr(entry, column) for column in _COLUMNS] for entry in audit_entries(session))
        text = safe_csv(_COLUMNS, (map(_cell, row) for row in rows))
    headers = {"Content-Disposition": "attachment; filename=parallax-audit.csv"}
    return Response(text, mimetype="text/csv", headers=headers)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


@audit_pages.get("/audit.json")
@allowed(Role.OWNER)
def download_json() -> Response:
    """Send the whole log as JSON, with what each entry's hash is made of."""
    with reading(current_services().sessions) as session:
        entries = [
            {column: getattr(entry, column) for column in _COLUMNS}
            for entry in audit_entries(session)
        ]
    headers = {"Content-Disposition": "attachment; filename=parallax-audit.json"}
    text = json.dumps(
        [{**each, "at": each["at"].isoformat()} for each in entries], ensure_ascii=False, indent=1
    )
    return Response(f"{text}\n", mimetype="application/json", headers=headers)
