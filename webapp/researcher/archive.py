"""Runs that are put aside: they are kept whole, and are out of the list."""

from flask import Blueprint, redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from webapp.core.i18n import gettext
from webapp.database.models import Run
from webapp.database.retry import in_transaction
from webapp.errors import RequestError
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act

archive_pages = Blueprint("archive", __name__)


@archive_pages.post("/runs/<ref>/archive")
@allowed(Right.CONDUCT)
def put_in(ref: str) -> Response:
    """Put a closed run into the archive."""
    return _moved(ref, into=True)


@archive_pages.post("/runs/<ref>/archive/out")
@allowed(Right.CONDUCT)
def take_out(ref: str) -> Response:
    """List a run again."""
    return _moved(ref, into=False)


def _moved(ref: str, *, into: bool) -> Response:
    now = current_services().now()

    def work(session: Session) -> None:
        run: Run = find_run(session, ref)
        if into and run.closed_at is None:
            raise RequestError(
                gettext("The run is open: people may still come. Close it first."),
                status=409,
                code="run_open",
            )
        if (run.archived_at is not None) != into:
            run.archived_at = now if into else None
            act = "run archived" if into else "run taken out of the archive"
            record_act(session, current_user().name, act, now, run_ref=ref)

    in_transaction(current_services().sessions, work)
    return redirect(url_for("runs.show", ref=ref), 303)
