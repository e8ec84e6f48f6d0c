"""A participant's own address: it always shows where they are."""

from collections.abc import Callable, Mapping

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.studies.study import Study
from webapp.db import reading
from webapp.errors import RequestError
from webapp.flow import lease
from webapp.flow.acceptance import HANDED_IN, current_assignment
from webapp.flow.finish import LONGEST_TEXT, finish
from webapp.flow.serve import serve
from webapp.language import gettext
from webapp.models import Assignment, Participant, Run
from webapp.participant.lookup import requested_participant
from webapp.participant.markdown import as_html
from webapp.participant.working import working_page
from webapp.recruiters.base import Handover
from webapp.recruiters.registry import load_recruiter
from webapp.services import services

session_pages = Blueprint("session", __name__)


@session_pages.get("/p/<token>/")
def show(token: str) -> str:
    """Show the page of the participant's state; who was away for long gets their place back."""
    own = services()
    with reading(own.sessions) as session:
        participant, run = requested_participant(session, token)
        if not lease.is_over(session, participant, run, own.now()):
            return _page(session, participant, run)
    with own.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        lease.come_back(session, participant, own.now())
        session.commit()
        return _page(session, participant, run)


@session_pages.post("/p/<token>/questionnaire")
def answer_questionnaire(token: str) -> ResponseReturnValue:
    """Store the questionnaire, or show it again with what must be mended."""
    own = services()
    with own.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = own.study_of(session, run)
        problems = finish(session, participant, study.questionnaire, request.form, own.now())
        session.commit()
    if problems:
        return _questionnaire(study, request.form, problems), 422
    return redirect(url_for("session.show", token=token), 303)


def _page(session: Session, participant: Participant, run: Run) -> str:
    page = _PAGES.get(State(participant.state), _closed)
    return page(session, participant, run, services().study_of(session, run))


def _working(session: Session, participant: Participant, _run: Run, study: Study) -> str:
    return working_page(study, serve(session, participant, study))


def _answered(_session: Session, _participant: Participant, _run: Run, study: Study) -> str:
    return _questionnaire(study, given={}, problems={})


def _questionnaire(study: Study, given: Mapping[str, str], problems: Mapping[str, str]) -> str:
    return render_template(
        "questionnaire.html",
        study=study,
        given=given,
        problems=problems,
        longest_text=LONGEST_TEXT,
    )


def _finished(session: Session, participant: Participant, run: Run, study: Study) -> str:
    assignment = current_assignment(session, participant)
    return render_template(
        "closing.html",
        study=study,
        text=as_html(study.text("debrief")),
        closing=load_recruiter(run.recruiter).closing,
        handover=None if assignment is None else _handover(participant, run, assignment),
        code=participant.ref,
    )


def _handover(participant: Participant, run: Run, assignment: Assignment) -> Handover | None:
    if assignment.status in HANDED_IN:
        return None
    receipt = services().tokens.receipt(participant.ref)
    recruiter = load_recruiter(run.recruiter)
    return recruiter.handover(assignment.platform_id, assignment.submit_to, receipt)


def _declined(_session: Session, _participant: Participant, _run: Run, study: Study) -> str:
    return render_template("declined.html", study=study)


def _late(session: Session, participant: Participant, run: Run, study: Study) -> str:
    # Who came for paid work cannot hand it in without a place, and is paid another way.
    paid = current_assignment(session, participant) is not None
    return render_template(
        "late.html",
        study=study,
        closing=load_recruiter(run.recruiter).closing,
        code=participant.ref if paid else "",
    )


def _closed(_session: Session, _participant: Participant, _run: Run, _study: Study) -> str:
    raise RequestError(gettext("This session is closed."), status=409, code="session_closed")


_PAGES: dict[State, Callable[[Session, Participant, Run, Study], str]] = {
    State.WORKING: _working,
    State.ANSWERED: _answered,
    State.FINISHED: _finished,
    State.DECLINED: _declined,
    State.ABANDONED: _late,
}
