"""Recording: one answer becomes one response, however often it is sent."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from experiment.records import Side
from webapp.errors import RequestError
from webapp.models import Event, Participant, Response, Trial

LATE_ANSWER = "late_answer"
_DAY_MS = 24 * 60 * 60 * 1000
# Browsers' clocks may be wrong by years, but a time outside this range is none at all, and the
# extremes of the calendar cannot be brought to UTC.
_ClientTime = Annotated[
    AwareDatetime,
    Field(ge=datetime(1970, 1, 2, tzinfo=UTC), le=datetime(2200, 1, 1, tzinfo=UTC)),
]


class GivenAnswer(BaseModel):
    """One answer, as the browser sends it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    uuid: UUID = Field(description="made by the browser, the same for every resend")
    position: int = Field(ge=1, le=100_000, description="the trial answered")
    side: Side = Field(description="where the chosen option stood")
    rt_ms: float | None = Field(
        default=None, ge=0, le=_DAY_MS, allow_inf_nan=False, description="painting to choice"
    )
    input_method: Literal["key", "pointer", "touch"] = Field(description="how it was chosen")
    client_time: _ClientTime | None = Field(default=None, description="the browser's clock")


def read_answer(body: bytes) -> GivenAnswer:
    """Return the answer a request's JSON body holds.

    Raises:
        RequestError: It holds none; the message names every wrong field.
    """
    try:
        return GivenAnswer.model_validate_json(body)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, detail['loc'])) or 'body'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        )
        raise RequestError(problems, status=400, code="malformed_answer") from error


def record(session: Session, participant: Participant, answer: GivenAnswer, now: datetime) -> int:
    """Store an answer unless the trial has one, and return how many trials have none.

    The first stored answer to a trial stands. The same answer sent again changes nothing; a
    different later one is kept as an event. When the last trial is answered, the participant
    moves on.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose answer it is.
        answer: The answer.
        now: The server's time.

    Raises:
        RequestError: The participant is not at work, or has no trial at that position.
    """
    if participant.state not in (State.WORKING, State.ANSWERED, State.FINISHED):
        raise RequestError("This session takes no answers.", status=409, code="wrong_state")
    trial = _trial(session, participant, answer.position)
    stored = session.scalar(select(Response).where(Response.trial_id == trial.id))
    if stored is None:
        session.add(_response(trial, answer, now))
    elif stored.client_uuid != str(answer.uuid):
        _keep_late(session, participant, answer, now)
    session.flush()
    remaining = _remaining(session, participant)
    if remaining == 0 and participant.state == State.WORKING:
        participant.state = move(State.WORKING, State.ANSWERED)
        session.flush()
    return remaining


def _trial(session: Session, participant: Participant, position: int) -> Trial:
    trial = session.scalar(
        select(Trial).where(Trial.participant_id == participant.id, Trial.position == position)
    )
    if trial is None:
        raise RequestError(
            f"This session has no trial {position}.", status=404, code="unknown_position"
        )
    return trial


def _response(trial: Trial, answer: GivenAnswer, now: datetime) -> Response:
    return Response(
        trial_id=trial.id,
        client_uuid=str(answer.uuid),
        chosen_side=answer.side,
        rt_ms=answer.rt_ms,
        input_method=answer.input_method,
        client_time=answer.client_time,
        recorded_at=now,
    )


def _keep_late(
    session: Session, participant: Participant, answer: GivenAnswer, now: datetime
) -> None:
    fields = answer.model_dump(mode="json", exclude_none=True)
    detail = {name: str(value) for name, value in fields.items()}
    kept = session.scalars(
        select(Event).where(Event.participant_id == participant.id, Event.kind == LATE_ANSWER)
    )
    if all(event.detail != detail for event in kept):
        session.add(Event(participant_id=participant.id, kind=LATE_ANSWER, detail=detail, at=now))


def _remaining(session: Session, participant: Participant) -> int:
    unanswered = (
        select(func.count(Trial.id))
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id, Response.id.is_(None))
    )
    return session.execute(unanswered).scalar_one()
