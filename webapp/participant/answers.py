"""Where the working page's program sends each answer, and once what the device is."""

from flask import Blueprint, request

from webapp.flow.device import note_device, read_device
from webapp.flow.record import read_answer, record
from webapp.participant.lookup import requested_participant
from webapp.services import services

answers_address = Blueprint("answers", __name__)

_LARGEST_ANSWER_BYTES = 2048


@answers_address.post("/p/<token>/answers")
def save(token: str) -> dict[str, int]:
    """Store one answer and say so after the commit."""
    own = services()
    request.max_content_length = _LARGEST_ANSWER_BYTES
    # The whole body first: a slow sender must not keep others waiting for the database.
    body = request.get_data()
    with own.sessions() as session:
        participant, _ = requested_participant(session, token, writing=True)
        answer = read_answer(body)
        remaining = record(session, participant, answer, own.now())
        session.commit()
    return {"saved": answer.position, "remaining": remaining}


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
