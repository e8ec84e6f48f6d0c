"""What a participant asks a researcher for: to correct an answer, or not to use their data."""

from collections.abc import Callable
from datetime import datetime

from flask import Blueprint, redirect, request, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from webapp.database.models import Participant, Run
from webapp.database.retry import in_transaction
from webapp.database.scrub import empty_log_soon
from webapp.erasures.record import Record
from webapp.errors import RequestError
from webapp.privacy.amendments import correct, correctable, release, restrict
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act

rights_of_people_pages = Blueprint("rights_of_people", __name__)
_SHORTEST_REASON = 10


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/restrict")
@allowed(Right.REVIEW)
def keep_unused(ref: str, participant_ref: str) -> Response:
    """Keep somebody's data without using them, as they asked."""
    return _used(ref, participant_ref, restrict, "data restricted")


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/release")
@allowed(Right.REVIEW)
def use_again(ref: str, participant_ref: str) -> Response:
    """Use somebody's data again, after they were told so."""
    return _used(ref, participant_ref, release, "data used again")


def _used(
    ref: str,
    participant_ref: str,
    switch: Callable[[Session, Participant, datetime, Record], bool],
    act: str,
) -> Response:
    reason, services = _reason(), current_services()

    def change(session: Session, run: Run, person: Participant) -> None:
        if switch(session, person, services.now(), services.record):
            _note(session, run, person, act, reason=reason)

    return _changed(ref, participant_ref, change)


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/correct")
@allowed(Right.REVIEW)
def correct_answer(ref: str, participant_ref: str) -> Response:
    """Put what somebody says is right in the place of one of their answers."""
    reason, services = _reason(), current_services()
    field, value = request.form.get("field", ""), request.form.get("value", "")

    def change(session: Session, run: Run, person: Participant) -> None:
        questions = correctable(session, services.study_of(session, run), person)
        if field not in {question.name for question in questions}:
            raise RequestError(
                f'The participant was asked no question "{field}".',
                status=400,
                code="no_question",
            )
        given = {field: value}
        problems = correct(session, person, questions, given, services.now(), services.record)
        if problems:
            raise RequestError(f"{field}: {problems[field]}", status=400, code="bad_answer")
        _note(session, run, person, "answer corrected", field=field, reason=reason)

    return _changed(ref, participant_ref, change)


def _reason() -> str:
    reason = request.form.get("reason", "").strip()
    if len(reason) < _SHORTEST_REASON:
        raise RequestError(
            "Please say in a few words how the participant asked for it. The reason is kept.",
            status=400,
            code="no_reason",
        )
    return reason


def _changed(
    ref: str, participant_ref: str, change: Callable[[Session, Run, Participant], None]
) -> Response:
    def work(session: Session) -> None:
        run = find_run(session, ref)
        of_run = Participant.run_id == run.id, Participant.ref == participant_ref
        person = session.scalar(select(Participant).where(*of_run).with_for_update(of=Participant))
        if person is None:
            raise RequestError(
                f"The run {ref} has no participant {participant_ref}.",
                status=404,
                code="unknown_participant",
            )
        change(session, run, person)

    services = current_services()
    in_transaction(services.sessions, work)
    empty_log_soon(services.engine)
    address = url_for("participants.show", ref=ref, participant_ref=participant_ref)
    return redirect(address, 303)


def _note(session: Session, run: Run, person: Participant, act: str, **after: str) -> None:
    told = {"participant": person.ref, **after}
    now = current_services().now()
    record_act(session, current_user().name, act, now, run_ref=run.ref, after=told)
