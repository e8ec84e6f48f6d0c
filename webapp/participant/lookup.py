"""Find the run or the participant named in a request's URL."""

from collections.abc import Mapping

from flask import g
from sqlalchemy.orm import Session
from structlog.contextvars import bind_contextvars

from experiment.participation import State
from experiment.studies.page_files import own_messages
from webapp.core.i18n import set_language
from webapp.database.models import Participant, Run
from webapp.http.security_headers import allow_framing_by
from webapp.services import current_services
from webapp.sessions.arrival_limits import update_counted_address
from webapp.sessions.lookup import find_participant, find_run


def requested_run(session: Session, ref: str) -> Run:
    """Return the run named in the URL.

    Raises:
        RequestError: There is no such run.
    """
    run = find_run(session, ref)
    _set_response_context(session, run)
    return run


def requested_participant(
    session: Session, token: str, *, writing: bool = False
) -> tuple[Participant, Run]:
    """Return the participant of the URL's token, and their run.

    Raises:
        RequestError: The token is forged or expired, or belongs to no participant.
    """
    services = current_services()
    participant, run = find_participant(
        session,
        services.tokens.read(token),
        services.now(),
        services.settings.session_days,
        writing=writing,
    )
    _set_response_context(session, run)
    bind_contextvars(participant=participant.ref)
    return participant, run


def count_returning_participant(session: Session, participant: Participant) -> None:
    """Count an abandoned participant at their current address if the old one was deleted.

    Every page or request that may give the participant a place again calls this first: participants
    without a known address never get a turn on the waitlist.
    """
    if participant.state == State.ABANDONED:
        services = current_services()
        update_counted_address(session, participant, services.sender(), services.now())


def _set_response_context(session: Session, run: Run) -> None:
    # Kept for the whole request: an error page uses the run's language and shows whether the run is
    # simulated.
    g.simulated = run.simulated
    g.run_ref = run.ref
    bind_contextvars(run=run.ref)
    services = current_services()
    translations: Mapping[str, str] = {}
    try:
        study = services.study_of(session, run)
        translations = own_messages(study)
    finally:
        # Errors also appear in the run's language.
        set_language(run.language, translations)
    g.shared_device = study.privacy.shared_device
    allow_framing_by(services.recruiter(run.recruiter).sites(study))
