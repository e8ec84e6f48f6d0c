"""The page on which a participant accepts compensation: its form submits itself."""

from flask import Blueprint, render_template, request

from experiment.participation import Ending
from webapp.database.engine import reading
from webapp.participant.lookup import requested_run
from webapp.recruiters.arrivals import Landing
from webapp.recruiters.endings import Departure
from webapp.services import current_services

compensation_page = Blueprint("compensation", __name__)


@compensation_page.get("/run/<ref>/compensation")
def show(ref: str) -> str:
    """Show the button that hands it in; nothing is stored here."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
    recruiter = services.recruiter(run.recruiter)
    landing = Landing(request.args, study, request.url, services.now())
    accepted = recruiter.arrival(landing).acceptance
    form = None
    if accepted is not None:
        # The platform's own word on who submitted is all that is needed here.
        departure = Departure(Ending.COMPLETED, study, acceptance=accepted, receipt="compensation")
        form = recruiter.exit(departure).form
    return render_template("compensation.html", study=study, form=form)
