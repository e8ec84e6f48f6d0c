"""The page by which somebody takes up compensation: it only hands itself in."""

from flask import Blueprint, render_template, request

from webapp.db import reading
from webapp.participant.lookup import requested_run
from webapp.recruiters.registry import load_recruiter
from webapp.services import services

compensation_page = Blueprint("compensation", __name__)


@compensation_page.get("/run/<ref>/compensation")
def show(ref: str) -> str:
    """Show the button that hands it in; nothing is stored here."""
    own = services()
    with reading(own.sessions) as session:
        run = requested_run(session, ref)
        study = own.study_of(session, run)
    recruiter = load_recruiter(run.recruiter)
    accepted = recruiter.arrival(request.args, own.settings).acceptance
    handover = None
    if accepted is not None:
        # The platform's own word on who submitted is all that is needed here.
        handover = recruiter.handover(accepted.assignment_id, accepted.submit_to, "compensation")
    return render_template("compensation.html", study=study, handover=handover)
