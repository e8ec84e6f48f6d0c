"""Where the working page's program sends each answer."""

from flask import Blueprint, request

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
    answer = read_answer(request.get_data())
    with own.sessions() as session:
        participant, _ = requested_participant(session, token, writing=True)
        remaining = record(session, participant, answer, own.now())
        session.commit()
    return {"saved": answer.position, "remaining": remaining}
