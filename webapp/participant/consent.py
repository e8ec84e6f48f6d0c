"""The run's public address: the consent page and the decision."""

import re

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.db import reading
from webapp.errors import RequestError
from webapp.flow.acceptance import accept, has_come
from webapp.flow.arrive import Decision, arrive, refuse_newcomers
from webapp.flow.serve import preview
from webapp.language import gettext
from webapp.logs import name_in_log
from webapp.models import Run
from webapp.participant.lookup import requested_run
from webapp.participant.markdown import as_html
from webapp.participant.stored import what_is_stored
from webapp.participant.working import working_page
from webapp.recruiters.base import Arrival
from webapp.recruiters.registry import load_recruiter
from webapp.services import services
from webapp.tokens import new_reference

consent_pages = Blueprint("consent", __name__)

_MARK = re.compile(r"[a-z0-9]{12}", re.ASCII)


@consent_pages.get("/run/<ref>")
def show(ref: str) -> str:
    """Show what the study asks of people; nothing is stored before they decide."""
    own = services()
    with reading(own.sessions) as session:
        run = requested_run(session, ref)
        arrival = _arrival(run)
        if not arrival.preview and not has_come(session, run, arrival.platform_id):
            refuse_newcomers(session, run, own.now())
        study = own.study_of(session, run)
    return _consent(study, arrival)


@consent_pages.post("/run/<ref>")
def decide(ref: str) -> ResponseReturnValue:
    """Store the decision and send the participant to their own address; a preview stores nothing.

    The form goes to the address it was opened at, so what the recruiter's link says comes along.
    """
    own = services()
    with own.sessions() as session:
        run = requested_run(session, ref)
        study, arrival, decision = own.study_of(session, run), _arrival(run), _decision()
        if arrival.preview:
            return _look(session, run, study, arrival, decision)
        participant = arrive(
            session,
            run,
            study,
            decision,
            own.now(),
            platform_id=arrival.platform_id,
            visit_mark=_visit_mark(),
        )
        if arrival.acceptance is not None and participant.consented_at is not None:
            accept(session, run, participant, arrival.acceptance, own.now())
        session.commit()
    name_in_log(participant=participant.ref)
    return redirect(url_for("session.show", token=own.tokens.issue(participant.ref)), 303)


def _consent(study: Study, arrival: Arrival) -> str:
    return render_template(
        "consent.html",
        study=study,
        text=as_html(study.text("consent")),
        stored=what_is_stored(study, known_to_platform=arrival.platform_id is not None),
        visit=new_reference(),
        preview=arrival.preview,
    )


def _look(session: Session, run: Run, study: Study, arrival: Arrival, decision: Decision) -> str:
    if decision is Decision.DECLINE:
        return _consent(study, arrival)
    return working_page(study, preview(session, run, study))


def _arrival(run: Run) -> Arrival:
    return load_recruiter(run.recruiter).arrival(request.args, services().settings)


def _decision() -> Decision:
    try:
        return Decision(request.form.get("decision", ""))
    except ValueError as error:
        raise RequestError(
            gettext("Please go back and choose whether you want to take part."),
            status=400,
            code="no_decision",
        ) from error


def _visit_mark() -> str | None:
    # Each consent page carries a random mark, so that pressing its button twice on a slow network
    # makes one participant, not two.
    mark = request.form.get("visit", "")
    return mark if _MARK.fullmatch(mark) else None
