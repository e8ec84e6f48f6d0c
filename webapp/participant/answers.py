"""Where the working page's program sends each answer, and once what the device is."""

from flask import Blueprint, request
from pydantic import ValidationError

from webapp.flow.device import note_device, read_device
from webapp.flow.record import GivenAnswer, read_answer, record
from webapp.flow.record_many import SentAnswer
from webapp.logs import name_in_log
from webapp.participant.lookup import requested_participant
from webapp.services import services

answers_address = Blueprint("answers", __name__)

_LARGEST_ANSWER_BYTES = 2048


@answers_address.post("/p/<token>/answers")
def save(token: str) -> dict[str, int]:
    """Store one answer and say so after the commit."""
    request.max_content_length = _LARGEST_ANSWER_BYTES
    # The whole body first: a slow sender must not keep others waiting for the database.
    body = request.get_data()
    position, remaining = _save_with_others(token, body) or _save_alone(token, body)
    return {"saved": position, "remaining": remaining}


def _save_with_others(token: str, body: bytes) -> tuple[int, int] | None:
    """Store a plain answer together with those that others send at this moment.

    Returns:
        The answer's position and how many trials have none; None where nothing was stored.
    """
    own = services()
    ref = own.tokens.read(token)
    try:
        answer = GivenAnswer.model_validate_json(body)
    except ValidationError:
        return None
    remaining = own.answers.ask(SentAnswer(ref, answer, own.now()))
    if remaining is None:
        return None
    name_in_log(participant=ref)
    return answer.position, remaining


def _save_alone(token: str, body: bytes) -> tuple[int, int]:
    own = services()
    with own.sessions() as session:
        participant, _ = requested_participant(session, token, writing=True)
        answer = read_answer(body)
        remaining = record(session, participant, answer, own.now())
        session.commit()
    return answer.position, remaining


@answers_address.post("/p/<token>/device")
def note(token: str) -> dict[str, bool]:
    """Store what the browser tells of its device, the first time."""
    request.max_content_length = _LARGEST_ANSWER_BYTES
    body = request.get_data()
    with services().sessions() as session:
        participant, _ = requested_participant(session, token, writing=True)
        note_device(session, participant, read_device(body))
        session.commit()
    return {"saved": True}
