"""The participant's own URL: it always shows the page that they have reached."""

from collections.abc import Callable, Mapping

from flask import Blueprint, g, redirect, render_template, request, url_for
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
from webapp.participant.leaving import (
    is_hidden_on_shared_device,
    make_exit,
    render_finished_session,
    report_ending,
)
from webapp.participant.lookup import count_returning_participant, requested_participant
from webapp.participant.trial_page import (
    render_markdown,
    render_once,
    render_own_working_page,
)
from webapp.recruitment.assignments import find_current_assignment
from webapp.services import current_services
from webapp.sessions import lease
from webapp.sessions.admission import count_tries, has_assented
from webapp.sessions.finish import (
    finish_session,
    finish_without_questions,
    form_texts,
    has_answered_any,
)
from webapp.sessions.leave import count_trials, ending_of, is_erased, note_late_work
from webapp.sessions.lookup import is_of_link
from webapp.sessions.session_payload import load_work

session_pages = Blueprint("session", __name__)


@session_pages.get("/p/<token>/")
def show(token: str) -> ResponseReturnValue:
    """Show the page for the participant's state; restore their place after a long absence."""
    services = current_services()
    with reading(services.sessions) as session:
        participant, run = requested_participant(session, token)
        study = services.study_for(session, run, participant)
        if is_hidden_on_shared_device(participant, study):
            return render_finished_session(session, run, study, participant, by_run_link=False)
        shows_stored_page = participant.state != State.ANSWERED or study.questionnaire
        if shows_stored_page and not lease.is_over(session, participant, run, services.now()):
            return render_page(session, participant, run)
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        count_returning_participant(session, participant)
        lease.resume_session(session, participant, services.now())
        study = services.study_for(session, run, participant)
        has_finished = finish_without_questions(
            session, participant, study.questionnaire, services.now()
        )
        if has_finished or note_late_work(session, participant):
            report_ending(session, run, study, participant)
        session.commit()
        return render_page(session, participant, run)


@session_pages.get("/p/<token>/going-on")
def going_on(token: str) -> dict[str, bool]:
    """Report whether a session that a browser began can be continued; nothing is stored here.

    A session whose place went to somebody else cannot, but its page says so.
    """
    with reading(current_services().sessions) as session:
        participant, _ = requested_participant(session, token)
        can_continue = lease.can_continue(session, participant)
        is_late = participant.state == State.ABANDONED and not can_continue
        return {"going_on": can_continue, "late": is_late}


@session_pages.post("/p/<token>/questionnaire")
def answer_questionnaire(token: str) -> ResponseReturnValue:
    """Store the questionnaire, or show it again with the errors marked."""
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = services.study_for(session, run, participant)
        form_answers = form_texts(request.form)
        count_returning_participant(session, participant)
        problems = finish_session(
            session, participant, study.questionnaire, form_answers, services.now()
        )
        if participant.state == State.FINISHED:
            report_ending(session, run, study, participant)
        session.commit()
        is_late = participant.state == State.ABANDONED and not problems
        if is_late and not has_answered_any(session, participant, study.questionnaire):
            # An empty questionnaire is allowed here; do not show it again and again.
            return _render_too_late(session, participant, run, study)
    if problems:
        return _render_questionnaire(study, form_answers, problems), 422
    return redirect(url_for("session.show", token=token), 303)


def render_page(session: Session, participant: Participant, run: Run) -> str:
    """Return the page for a participant's state."""
    page = _PAGE_RENDERERS.get(State(participant.state), _refuse_closed_session)
    return page(session, participant, run, current_services().study_for(session, run, participant))


def _render_arrived(session: Session, participant: Participant, run: Run, study: Study) -> str:
    render = admission_page if study.asks_before_start else _refuse_closed_session
    return render(session, participant, run, study)


def _render_working(session: Session, participant: Participant, run: Run, study: Study) -> str:
    # On platforms that identify participants, each participant has a link of their own.
    has_public_link = participant.platform_id is None
    invitation = url_for("consent.show", ref=run.ref) if has_public_link else ""
    work = load_work(session, run, participant, study)
    return render_own_working_page(
        current_services().study_of(session, run),
        study,
        participant.list,
        work,
        invitation=invitation,
        personal_link=not has_public_link and is_of_link(participant.platform_id),
        lease_minutes=run.lease_minutes,
    )


def _render_answered(session: Session, participant: Participant, run: Run, study: Study) -> str:
    # All participants of a run get the same page, or those of a list with questions of its own.
    edition = participant.list if study.design.factors else None
    return render_once(
        current_services().study_of(session, run),
        ("questionnaire", edition, bool(g.get("by_code"))),
        lambda: _render_questionnaire(study, given={}, problems={}),
    )


def _render_questionnaire(
    study: Study, given: Mapping[str, str], problems: Mapping[str, str]
) -> str:
    context = {"given": given, "problems": problems, "longest_text": LONGEST_TEXT}
    return render_template("questionnaire.html", study=study, **context)


def _render_finished(session: Session, participant: Participant, run: Run, study: Study) -> str:
    return render_template(
        "closing.html",
        study=study,
        text=render_markdown(study.text("debrief")),
        exit=make_exit(session, run, study, participant, Ending.COMPLETED),
        code=participant.code,
    )


def _render_declined(session: Session, participant: Participant, run: Run, study: Study) -> str:
    platform_exit = make_exit(session, run, study, participant, Ending.NO_CONSENT)
    # The platform knows of the refusal, and may have given the place to another person.
    may_change_mind = is_of_link(participant.platform_id)
    consent_url = url_for("consent.show", ref=run.ref) if may_change_mind else ""
    return render_template("declined.html", study=study, exit=platform_exit, again=consent_url)


def _render_late(session: Session, participant: Participant, run: Run, study: Study) -> str:
    if participant.ending == Ending.COMPLETED and not has_answered_any(
        session, participant, study.questionnaire
    ):
        return _render_answered(session, participant, run, study)
    return _render_too_late(session, participant, run, study)


def _render_too_late(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = Ending.TOO_LATE
    # Participants with a paid assignment cannot submit it without a place, and are paid in another
    # way. All others who have answered everything return as completed.
    if (
        participant.ending == Ending.COMPLETED
        and find_current_assignment(session, participant) is None
    ):
        ending = Ending.COMPLETED
    platform_exit = make_exit(session, run, study, participant, ending)
    return render_template("late.html", study=study, exit=platform_exit, code=participant.code)


def _render_left(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = Ending(participant.ending or Ending.WITHDRAWN)
    _, n_trials = count_trials(session, participant)
    return render_template(
        "left.html",
        study=study,
        ending=ending,
        exit=make_exit(session, run, study, participant, ending),
        code=participant.code,
        began=n_trials > 0,
        said_no=not has_assented(session, participant, study),
        has_stored=_has_stored_answers(session, participant, study, ending),
    )


def _has_stored_answers(
    session: Session, participant: Participant, study: Study, ending: Ending
) -> bool:
    """Return whether answers of a participant who left are stored, so that they can be erased."""
    if ending is not Ending.DECLINED:
        return ending is not Ending.SCREENED_OUT
    if study.screening and has_answered_any(session, participant, study.screening):
        return True
    return count_tries(session, participant) > 0


def _render_withdrawn(session: Session, participant: Participant, run: Run, study: Study) -> str:
    ending = ending_of(participant) or Ending.WITHDRAWN
    return render_template(
        "withdrawn.html",
        study=study,
        exit=make_exit(session, run, study, participant, ending),
        code=participant.code,
        erased=is_erased(session, participant),
    )


def _refuse_closed_session(
    _session: Session, _participant: Participant, _run: Run, _study: Study
) -> str:
    raise RequestError(gettext("This session is closed."), status=409, code="session_closed")


_PAGE_RENDERERS: dict[State, Callable[[Session, Participant, Run, Study], str]] = {
    State.ARRIVED: _render_arrived,
    State.WORKING: _render_working,
    State.ANSWERED: _render_answered,
    State.FINISHED: _render_finished,
    State.DECLINED: _render_declined,
    State.ABANDONED: _render_late,
    State.LEFT: _render_left,
    State.WITHDRAWN: _render_withdrawn,
}
