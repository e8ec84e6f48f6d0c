"""Routes that receive answers and device descriptions from the working page.

Answers take precedence: other requests start one at a time, and let pending answers go first. An
arrival occupies a process for as long as several answers, and nothing interrupts it. If a hundred
participants arrive at the same moment, an answer that comes then would wait for all of them.
"""

from collections.abc import Iterable
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, request
from pydantic import ValidationError
from structlog.contextvars import bind_contextvars

from experiment.participation import State
from webapp.database.engine import reading
from webapp.participant.leaving import report_ending
from webapp.participant.lookup import count_returning_participant, requested_participant
from webapp.services import current_services
from webapp.sessions.collected import list_uncollected_fields
from webapp.sessions.device import note_device, read_device
from webapp.sessions.finish import finish_without_questions
from webapp.sessions.leave import note_late_work
from webapp.sessions.record import PostedAnswer, read_answer, record_answer
from webapp.sessions.record_batch import SentAnswer

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

answer_routes = Blueprint("answers", __name__)

# Enough for a trial with the largest permitted number of words, each with its times.
LARGEST_ANSWER_BYTES = 12_288


@answer_routes.post("/p/<token>/answers")
def save(token: str) -> dict[str, int]:
    """Store one answer; reply only after the transaction is committed."""
    request.max_content_length = LARGEST_ANSWER_BYTES
    # Read the whole body before opening a transaction, so that a slow client blocks nobody else.
    body = request.get_data()
    position, remaining = _save_with_others(token, body) or _save_alone(token, body)
    if remaining == 0:
        _finish_without_questionnaire(token)
    return {"saved": position, "remaining": remaining}


def _save_with_others(token: str, body: bytes) -> tuple[int, int] | None:
    """Store an ordinary answer in the same transaction as other answers that arrive at this moment.

    Returns:
        The trial's position and the number of trials still unanswered; None if nothing was stored.
    """
    services = current_services()
    ref = services.tokens.read(token)
    try:
        answer = PostedAnswer.model_validate_json(body)
    except ValidationError:
        return None
    remaining = services.answers.submit(SentAnswer(ref, answer, services.now()))
    if remaining is None:
        return None
    bind_contextvars(participant=ref)
    return answer.position, remaining


def _save_alone(token: str, body: bytes) -> tuple[int, int]:
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        answer, study = read_answer(body), services.study_of(session, run)
        response, now = services.response_of(session, run), services.now()
        count_returning_participant(session, participant)
        left_out = list_uncollected_fields(services.collected_of(session, run), response)
        remaining = record_answer(
            session, participant, answer, now, response, study.attention, left_out=left_out
        )
        if participant.state == State.LEFT or note_late_work(session, participant):
            report_ending(session, run, study, participant)
        session.commit()
    return answer.position, remaining


def _finish_without_questionnaire(token: str) -> None:
    """End the session after its last answer if the study has no questionnaire.

    The next page would do the same, but participants who close the window now have also finished.
    """
    services = current_services()
    with reading(services.sessions) as session:
        participant, run = requested_participant(session, token)
        if services.study_for(session, run, participant).questionnaire:
            return
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = services.study_for(session, run, participant)
        if finish_without_questions(session, participant, study.questionnaire, services.now()):
            report_ending(session, run, study, participant)
        session.commit()


@answer_routes.post("/p/<token>/device")
def note(token: str) -> dict[str, bool]:
    """Store the browser's description of its device, the first time it is sent."""
    request.max_content_length = LARGEST_ANSWER_BYTES
    body = request.get_data()
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        response = services.response_of(session, run)
        left_out = list_uncollected_fields(services.collected_of(session, run), response)
        note_device(session, participant, read_device(body), services.now(), left_out=left_out)
        session.commit()
    return {"saved": True}


_ANSWERS_PATH = "/answers"
# Long enough for the event loop to read its connections; with 0, it would continue at once.
_YIELD_S = 1e-6


def prioritise_answers(app: Flask) -> None:
    """Delay requests other than answers until the process has read newly received requests.

    No lock is held while a request is processed: a request that waits for the database or a
    platform does not keep others from starting.
    """
    wrapped_app, start_lock = app.wsgi_app, Lock()

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith(_ANSWERS_PATH):
            with start_lock:
                sleep(_YIELD_S)
        return wrapped_app(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign,assignment]
