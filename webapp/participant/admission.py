"""Routes for the steps between consent and the first trial: assent, screening, comprehension."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.studies.question import LONGEST_TEXT, Question
from experiment.studies.study import Study
from webapp.database.models import Participant, Run
from webapp.participant.leaving import render_late_refusal, report_ending
from webapp.participant.lookup import requested_participant
from webapp.participant.trial_page import render_markdown
from webapp.services import current_services
from webapp.sessions.admission import (
    Step,
    check_comprehension,
    check_screening,
    count_tries,
    next_step,
    record_assent,
)
from webapp.sessions.arrival_limits import update_counted_address
from webapp.sessions.consent import Decision, NoRoomError
from webapp.sessions.finish import form_texts
from webapp.sessions.leave import end_visit_on_request
from webapp.sessions.waitlist import Sender

admission_pages = Blueprint("admission", __name__)

_Problems = Mapping[str, str]
_FormHandler = Callable[
    [Session, Run, Participant, Study, Mapping[str, str], datetime, Sender], dict[str, str]
]


@admission_pages.post("/p/<token>/assent")
def decide_for_oneself(token: str) -> ResponseReturnValue:
    """Store the assent decision of a participant whose parent or guardian has consented."""

    def store_decision(
        session: Session,
        run: Run,
        participant: Participant,
        study: Study,
        given: Mapping[str, str],
        now: datetime,
        sender: Sender,
    ) -> dict[str, str]:
        accepts = given.get("decision") == Decision.ACCEPT
        decision = Decision.ACCEPT if accepts else Decision.DECLINE
        if "decision" in given:
            record_assent(session, run, participant, study, decision, now, sender)
        return {}

    return _handle_form(token, store_decision)


@admission_pages.post("/p/<token>/screening")
def answer_screening(token: str) -> ResponseReturnValue:
    """Check and store the answers to the screening questions."""
    return _handle_form(token, check_screening)


@admission_pages.post("/p/<token>/comprehension")
def answer_comprehension(token: str) -> ResponseReturnValue:
    """Check and store the answers to the comprehension questions."""
    return _handle_form(token, check_comprehension)


@admission_pages.post("/p/<token>/leave")
def leave(token: str) -> ResponseReturnValue:
    """End the visit of a participant who chooses to leave before the first trial."""
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        if end_visit_on_request(session, participant, services.now()):
            report_ending(session, run, services.study_of(session, run), participant)
        session.commit()
    return redirect(url_for("session.show", token=token), 303)


def admission_page(session: Session, participant: Participant, _run: Run, study: Study) -> str:
    """Return the page with the next step for a participant without a place (participant slot)."""
    return _render_step(session, participant, study, {}, {})


def _handle_form(token: str, handle_form: _FormHandler) -> ResponseReturnValue:
    services, form_answers = current_services(), form_texts(request.form)
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = services.study_of(session, run)
        now = services.now()
        # A participant counted against their network address on arrival is counted here too.
        digest = update_counted_address(session, participant, services.sender(), now)
        sender = Sender(digest, services.settings.unanswered_places)
        try:
            problems = handle_form(session, run, participant, study, form_answers, now, sender)
        except NoRoomError as error:
            session.rollback()
            return render_late_refusal(session, run, study, participant, error)
        report_ending(session, run, study, participant)
        session.commit()
        if problems:
            return _render_step(session, participant, study, form_answers, problems), 422
    return redirect(url_for("session.show", token=token), 303)


def _render_step(
    session: Session,
    participant: Participant,
    study: Study,
    given: Mapping[str, str],
    problems: _Problems,
) -> str:
    step = next_step(session, participant, study)
    if step is Step.ASSENT:
        return render_template(
            "assent.html", study=study, text=render_markdown(study.text("assent"))
        )
    questions: Sequence[Question] = study.screening
    instructions = None
    if step is Step.COMPREHENSION and study.comprehension is not None:
        questions, instructions = (
            study.comprehension.questions,
            render_markdown(study.text("instructions")),
        )
    return render_template(
        "admission.html",
        study=study,
        step=step,
        questions=questions,
        instructions=instructions,
        this_try=count_tries(session, participant) + 1,
        given=given,
        problems=problems,
        longest_text=LONGEST_TEXT,
    )
