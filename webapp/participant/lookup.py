"""Who asks: the run or the participant an address stands for."""

from flask import g
from sqlalchemy.orm import Session

from webapp.flow.find import find_participant, find_run
from webapp.language import speak
from webapp.logs import name_in_log
from webapp.models import Participant, Run
from webapp.services import services


def requested_run(session: Session, ref: str) -> Run:
    """Return the run of the address.

    Raises:
        RequestError: There is none.
    """
    run = find_run(session, ref)
    _let_answers_speak_of(run)
    return run


def requested_participant(
    session: Session, token: str, *, writing: bool = False
) -> tuple[Participant, Run]:
    """Return the participant whom the address's token stands for, and their run.

    Raises:
        RequestError: The token is forged or too old, or stands for nobody.
    """
    own = services()
    participant, run = find_participant(
        session, own.tokens.read(token), own.now(), own.settings.session_days, writing=writing
    )
    _let_answers_speak_of(run)
    name_in_log(participant=participant.ref)
    return participant, run


def _let_answers_speak_of(run: Run) -> None:
    # Kept for the whole request: an error page of the run speaks its language, and says too
    # whether it is simulated.
    g.simulated = run.simulated
    name_in_log(run=run.ref)
    speak(run.language)
