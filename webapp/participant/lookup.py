"""The run or the participant of a request's address."""

from flask import g
from sqlalchemy.orm import Session
from structlog.contextvars import bind_contextvars

from experiment.participation import State
from experiment.studies.files import own_messages
from webapp.core.i18n import set_language
from webapp.database.models import Participant, Run
from webapp.http.security_headers import open_to
from webapp.services import current_services
from webapp.sessions.arrival_limits import counted_now
from webapp.sessions.lookup import find_participant, find_run


def requested_run(session: Session, ref: str) -> Run:
    """Return the run of the address.

    Raises:
        RequestError: There is none.
    """
    run = find_run(session, ref)
    _describe_response_for(session, run)
    return run


def requested_participant(
    session: Session, token: str, *, writing: bool = False
) -> tuple[Participant, Run]:
    """Return the participant of the address's token, and their run.

    Raises:
        RequestError: The token is forged or too old, or no participant has it.
    """
    services = current_services()
    participant, run = find_participant(
        session,
        services.tokens.read(token),
        services.now(),
        services.settings.session_days,
        writing=writing,
    )
    _describe_response_for(session, run)
    bind_contextvars(participant=participant.ref)
    return participant, run


def count_who_is_back(session: Session, participant: Participant) -> None:
    """Count who lost their place where they are now, if where they came from is forgotten.

    Whatever may give them a place again, a page or an answer, asks for this first: of whom nobody
    knows where they are, it is never the turn to get a place.
    """
    if participant.state == State.ABANDONED:
        services = current_services()
        counted_now(session, participant, services.sender(), services.now())


def _describe_response_for(session: Session, run: Run) -> None:
    # Kept for the whole request: an error page of the run speaks its language, and says too
    # whether it is simulated.
    g.simulated = run.simulated
    g.run_ref = run.ref
    bind_contextvars(run=run.ref)
    # What goes wrong before the study is read is said in its language, too.
    set_language(run.language)
    services = current_services()
    study = services.study_of(session, run)
    g.shared_device = study.privacy.shared_device
    set_language(run.language, own_messages(study))
    open_to(services.recruiter(run.recruiter).sites(study))
