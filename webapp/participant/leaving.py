"""How a visit ends: the way back to the platform, and what the page of a finished session shows.

Several people may use one computer. On a shared computer, a finished session can only be opened
with its confirmation code: opening the run's link again, or a URL from the browser's history, does
not reveal the previous participant.
"""

from flask import current_app, g, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.studies.study import Study
from webapp.database.models import Participant, Run
from webapp.http.error_handlers import error_heading
from webapp.recruiters.arrivals import Arrival, ArrivalError
from webapp.recruiters.endings import Departure, Exit
from webapp.recruitment.poll import build_departure
from webapp.recruitment.reports import store_report
from webapp.services import current_services
from webapp.sessions.consent import NoRoomError
from webapp.sessions.lease import can_continue
from webapp.sessions.leave import ending_of
from webapp.sessions.link_visits import latest_parameters
from webapp.sessions.lookup import is_of_link


def make_exit(
    session: Session, run: Run, study: Study, participant: Participant, ending: Ending
) -> Exit:
    """Return a participant's way back to the platform."""
    services = current_services()
    receipt = services.tokens.receipt(participant.ref)
    departure = build_departure(session, study, participant, ending, receipt)
    return services.recruiter(run.recruiter).exit(departure)


def report_ending(session: Session, run: Run, study: Study, participant: Participant) -> None:
    """Queue a report to the platform on how a visit ended, in the transaction that ends it."""
    ending = ending_of(participant)
    if ending is None:
        return
    services = current_services()
    recruiter = services.recruiter(run.recruiter)
    store_report(session, recruiter, study, participant, ending, services.now())


def render_refusal(run: Run, study: Study, arrival: Arrival, error: NoRoomError) -> tuple[str, int]:
    """Return the page for a visitor who is not admitted, with their way back to the platform."""
    current_app.logger.info("a new participant was turned away: %s", error.code)
    departure = Departure(
        error.ending,
        study,
        platform_id=arrival.platform_id,
        acceptance=arrival.acceptance,
        parameters=arrival.parameters,
    )
    page = render_template(
        "turned_away.html",
        heading=error_heading(error.code),
        text=error.problem,
        exit=current_services().recruiter(run.recruiter).exit(departure),
    )
    return page, error.status


def render_invalid_link(run: Run, study: Study, error: ArrivalError) -> ResponseReturnValue:
    """Return the page for a link that no platform made, with the contact or the platform's exit."""
    shown = {"heading": error_heading(error.code), "text": error.problem}
    if error.kept:
        departure = Departure(Ending.SECURITY, study, parameters=error.kept)
        platform_exit = current_services().recruiter(run.recruiter).exit(departure)
        if platform_exit.form is not None:
            return render_template("turned_away.html", **shown, exit=platform_exit), error.status
    page = render_template("error.html", **shown, contact=study.study.contact)
    return page, error.status


def render_late_refusal(
    session: Session, run: Run, study: Study, participant: Participant, error: NoRoomError
) -> tuple[str, int]:
    """Return the refusal for a participant who agreed after the last place was taken."""
    parameters_of_link = latest_parameters(session, participant)
    return render_refusal(
        run, study, Arrival(participant.platform_id, parameters=parameters_of_link), error
    )


ENDED_STATES = (State.FINISHED, State.LEFT, State.WITHDRAWN)


def has_ended(session: Session, participant: Participant) -> bool:
    """Return whether a session is over: it ended, or its place went to another participant."""
    if participant.state == State.ABANDONED:
        return not can_continue(session, participant)
    return participant.state in ENDED_STATES


# A request header that only an open page of the run sends (navigation.js).
_OPEN_PAGE_HEADER = "X-Parallax-Within"


def is_hidden_on_shared_device(participant: Participant, study: Study) -> bool:
    """Return whether the session has ended on a shared computer, so that its URL shows nothing.

    A page still open at the end may load its content, and so may a request with the code.
    """
    if not study.privacy.shared_device or participant.state not in ENDED_STATES:
        return False
    return _OPEN_PAGE_HEADER not in request.headers and g.get("by_code") is None


def render_finished_session(
    session: Session, run: Run, study: Study, participant: Participant, *, by_run_link: bool
) -> tuple[str, int]:
    """Return the page for a finished session; the page reveals nothing about the session.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        participant: The participant whose session has ended.
        by_run_link: Whether they used the run's link: a participant identified there by a
            platform gets the way back to it.
    """
    is_identified = by_run_link and not is_of_link(participant.platform_id)
    way_back: Exit | None = None
    if is_identified:
        ending = ending_of(participant) or Ending.WITHDRAWN
        way_back = make_exit(session, run, study, participant, ending)
    person_id = participant.platform_id
    page = render_template(
        "finished_before.html",
        study=study,
        exit=way_back,
        others=person_id is None,
        personal_link=person_id is not None and is_of_link(person_id),
    )
    return page, 409 if by_run_link else 200
