"""The run's public address: the consent page and the decision."""

import re

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from webapp.db import reading
from webapp.errors import RequestError
from webapp.flow.arrive import Decision, arrive, run_is_full
from webapp.flow.assign import has_free_place
from webapp.participant.lookup import requested_run
from webapp.participant.markdown import as_html
from webapp.services import services
from webapp.tokens import new_reference

consent_pages = Blueprint("consent", __name__)

_VISIT = re.compile(r"[a-z0-9]{12}", re.ASCII)


@consent_pages.get("/run/<ref>")
def show(ref: str) -> str:
    """Show what the study asks of people; nothing is stored before they decide."""
    with reading(services().sessions) as session:
        run = requested_run(session, ref)
        if not has_free_place(session, run):
            raise run_is_full()
    study = services().study_of(run)
    return render_template(
        "consent.html", study=study, text=as_html(study.text("consent")), visit=new_reference()
    )


@consent_pages.post("/run/<ref>")
def decide(ref: str) -> Response:
    """Store the decision and send the participant to their own address."""
    own = services()
    with own.sessions() as session:
        run = requested_run(session, ref)
        study, decision = own.study_of(run), _decision()
        participant = arrive(session, run, study, decision, own.now(), _visit())
        session.commit()
    return redirect(url_for("session.show", token=own.tokens.issue(participant.ref)), 303)


def _decision() -> Decision:
    try:
        return Decision(request.form.get("decision", ""))
    except ValueError as error:
        raise RequestError(
            "Please go back and choose whether you want to take part.",
            status=400,
            code="no_decision",
        ) from error


def _visit() -> str | None:
    # A direct link says nothing about who follows it, but each consent page carries a random
    # mark, so that pressing its button twice on a slow network makes one participant, not two.
    mark = request.form.get("visit", "")
    return f"visit:{mark}" if _VISIT.fullmatch(mark) else None
