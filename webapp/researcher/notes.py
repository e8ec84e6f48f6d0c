"""What researchers keep with a run: notes, tags, and that it is put aside."""

from collections.abc import Callable

from flask import Blueprint, redirect, request, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from webapp.database.models import Participant, Run
from webapp.database.retry import in_transaction
from webapp.database.scrub import empty_log_soon
from webapp.errors import RequestError
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.researcher.paging import whole_number
from webapp.runs.notes import remove, write
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act

note_pages = Blueprint("notes", __name__)
_DIGITS = 12
archive_pages = Blueprint("archive", __name__)


@note_pages.post("/runs/<ref>/notes")
@allowed(Right.REVIEW)
def add(ref: str) -> Response:
    """Write a note or tags about the run, or about one of its people."""
    text, tags = request.form.get("text", ""), request.form.get("tags", "")

    def change(session: Session, run: Run, person: Participant | None) -> None:
        who, now = current_user().name, current_services().now()
        write(session, run, person, text=text, tags=tags, who=who, now=now)

    return _changed(ref, change)


@note_pages.post("/runs/<ref>/notes/remove")
@allowed(Right.REVIEW)
def take_away(ref: str) -> Response:
    """Remove a note or a tag."""
    is_tag = "tag" in request.form
    typed = request.form.get("tag" if is_tag else "note", "")
    number = whole_number(typed, _DIGITS)

    def change(session: Session, run: Run, person: Participant | None) -> None:
        who, now = current_user().name, current_services().now()
        remove(session, run, person, number, is_tag=is_tag, who=who, now=now)

    answer = _changed(ref, change)
    empty_log_soon(current_services().engine)
    return answer


def _changed(ref: str, change: Callable[[Session, Run, Participant | None], None]) -> Response:
    who = request.form.get("participant", "")

    def work(session: Session) -> None:
        run, person = find_run(session, ref), None
        if who:
            of_run = Participant.run_id == run.id, Participant.ref == who
            locked = select(Participant).where(*of_run).with_for_update(of=Participant)
            person = session.scalar(locked)
            if person is None:
                raise RequestError(
                    f"The run {ref} has no participant {who}.",
                    status=404,
                    code="unknown_participant",
                )
        change(session, run, person)

    in_transaction(current_services().sessions, work)
    if who:
        address = url_for("participants.show", ref=ref, participant_ref=who, _anchor="notes")
    else:
        address = url_for("runs.show", ref=ref, _anchor="notes")
    return redirect(address, 303)


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
                "The run is open: people may still come. Close it first.",
                status=409,
                code="run_open",
            )
        if (run.archived_at is not None) != into:
            run.archived_at = now if into else None
            act = "run archived" if into else "run taken out of the archive"
            record_act(session, current_user().name, act, now, run_ref=ref)

    in_transaction(current_services().sessions, work)
    return redirect(url_for("runs.show", ref=ref), 303)
