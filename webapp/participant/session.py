"""The participant's own URL: it always shows the page that they have reached."""

from collections.abc import Callable, Mapping

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.errors import RequestError
from webapp.participant.admission import admission_page
from webapp.participant.leaving import exit_of, finished_before, is_shut, report_ending
from webapp.participant.lookup import count_who_is_back, requested_participant
from webapp.participant.trial_page import as_html, working_page
from webapp.recruitment.assignments import current_assignment
from webapp.services import current_services
from webapp.sessions import lease
from webapp.sessions.finish import (
    asked_already,
    finish,
    finish_without_questions,
    form_texts,
)
from webapp.sessions.leave import ending_of, is_erased, note_late_work
from webapp.sessions.lookup import is_of_link
from webapp.sessions.session_payload import serve

session_pages = Blueprint("session", __name__)


@session_pages.get("/p/<token>/")
def show(token: str) -> ResponseReturnValue:
    """Show the page for the participant's state; restore their place after a long absence."""
    services = current_services()
    with reading(services.sessions) as session:
        participant, run = requested_participant(session, token)
        study = services.study_for(session, run, participant)
        if is_shut(participant, study):
            return finished_before(session, run, study, participant, come=False)
        asked = participant.state != State.ANSWERED or study.questionnaire
        if asked and not lease.is_over(session, participant, run, services.now()):
            return page_of(session, participant, run)
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        count_who_is_back(session, participant)
        lease.come_back(session, participant, services.now())
        study = services.study_for(session, run, participant)
        over = finish_without_questions(session, participant, study.questionnaire, services.now())
        if over or note_late_work(session, participant):
            report_ending(session, run, study, participant)
        session.commit()
        return page_of(session, participant, run)


@session_pages.get("/p/<token>/going-on")
def going_on(token: str) -> dict[str, bool]:
    """Report whether a session that a browser began can be continued; nothing is stored here."""
    with reading(current_services().sessions) as session:
        participant, _ = requested_participant(session, token)
        return {"going_on": lease.can_go_on(session, participant)}


@session_pages.post("/p/<token>/questionnaire")
def answer_questionnaire(token: str) -> ResponseReturnValue:
    """Store the questionnaire, or show it again with the errors marked."""
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = services.study_for(session, run, participant)
        given = form_texts(request.form)
        count_who_is_back(session, participant)
        problems = finish(session, participant, study.questionnaire, given, services.now())
        if participant.state == State.FINISHED:
            report_ending(session, run, study, participant)
        session.commit()
        late = participant.state == State.ABANDONED and not problems
        if late and not asked_already(session, participant, study.questionnaire):
            # An empty questionnaire is allowed here; do not show it again and again.
            return _too_late(session, participant, run, study)
    if problems:
        return _questionnaire(study, given, problems), 422
    return redirect(url_for("session.show", token=token), 303)


def page_of(session: Session, participant: Participant, run: Run) -> str:
    """Return the page for a participant's state."""
    page = _PAGES.get(State(participant.state), _closed)
    return page(session, participant, run, current_services().study_for(session, run, participant))


def _arrived(session: Session, participant: Participant, run: Run, study: Study) -> str:
    answer = admission_page if study.asks_before_start else _closed
    return answer(session, participant, run, study)


def _working(session: Session, participant: Participant, run: Run, study: Study) -> str:
    # On platforms that identify participants, each participant has a link of their own.
    for_all = participant.platform_id is None
    invitation = url_for("consent.show", ref=run.ref) if for_all else ""
    work = serve(session, run, participant, study)
    return working_page(study, work, invitation=invitation, lease_minutes=run.lease_minutes)


def _answered(_session: Session, _participant: Participant, _run: Run, study: Study) -> str:
    return _questionnaire(study, given={}, problems={})


def _questionnaire(study: Study, given: Mapping[str, str], problems: Mapping[str, str]) -> str:
    shown = {"given": given, "problems": problems, "longest_text": LONGEST_TEXT}
    return render_template("questionnaire.html", study=study, **shown)


def _finished(session: Session, participant: Participant, run: Run, study: Study) -> str:
    return render_template(
        "closing.html",
        study=study,
        text=as_html(study.text("debrief")),
        exit=exit_of(session, run, study, participant, Ending.COMPLETED),
        code=participant.code,
    )


def _declined(session: Session, participant: Participant, run: Run, study: Study) -> str:
    left = exit_of(session, run, study, participant, Ending.NO_CONSENT)
    # The platform knows of the refusal, and may have given the place to another person.
    free = is_of_link(participant.platform_id)
    again = url_for("consent.show", ref=run.ref) if free else ""
    return render_template("declined.html", study=study, exit=left, again=again)


def _late(session: Session, participant: Participant, run: Run, study: Study) -> str:
    if participant.ending == Ending.COMPLETED and not asked_already(
        session, participant, study.questionnaire
    ):
        return _questionnaire(study, given={}, problems={})
    return _too_late(session, participant, run, study)


def _too_late(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = Ending.TOO_LATE
    # Participants with a paid assignment cannot submit it without a place, and are paid in another
    # way. All others who have answered everything return as completed.
    if participant.ending == Ending.COMPLETED and current_assignment(session, participant) is None:
        ending = Ending.COMPLETED
    left = exit_of(session, run, study, participant, ending)
    return render_template("late.html", study=study, exit=left, code=participant.code)


def _left(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = Ending(participant.ending or Ending.WITHDRAWN)
    left = exit_of(session, run, study, participant, ending)
    return render_template(
        "left.html", study=study, ending=ending, exit=left, code=participant.code
    )


def _withdrawn(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = ending_of(participant) or Ending.WITHDRAWN
    return render_template(
        "withdrawn.html",
        study=study,
        exit=exit_of(session, run, study, participant, ending),
        code=participant.code,
        erased=is_erased(session, participant),
    )


def _closed(_session: Session, _participant: Participant, _run: Run, _study: Study) -> str:
    raise RequestError(gettext("This session is closed."), status=409, code="session_closed")


_PAGES: dict[State, Callable[[Session, Participant, Run, Study], str]] = {
    State.ARRIVED: _arrived,
    State.WORKING: _working,
    State.ANSWERED: _answered,
    State.FINISHED: _finished,
    State.DECLINED: _declined,
    State.ABANDONED: _late,
    State.LEFT: _left,
    State.WITHDRAWN: _withdrawn,
}
