"""Recording: one answer becomes one response, however often it is sent."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from experiment.records import Side
from webapp.errors import RequestError
from webapp.flow.lease import come_back
from webapp.language import gettext
from webapp.models import Event, Participant, Response, Trial

LATE_ANSWER = "late_answer"
_DAY_MS = 24 * 60 * 60 * 1000
# Browsers' clocks may be wrong by years, but a time outside this range is none at all, and the
# extremes of the calendar cannot be brought to UTC.
_ClientTime = Annotated[
    AwareDatetime,
    Field(ge=datetime(1970, 1, 2, tzinfo=UTC), le=datetime(2200, 1, 1, tzinfo=UTC)),
]


_Pixels = Annotated[int, Field(ge=0, le=100_000)]


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
    viewport_width_px: _Pixels | None = Field(default=None, description="the page's width")
    viewport_height_px: _Pixels | None = Field(default=None, description="the page's height")
    was_hidden: bool | None = Field(default=None, description="was the page hidden meanwhile")
    lost_focus: bool | None = Field(default=None, description="did the page lose focus meanwhile")
    client_time: _ClientTime | None = Field(default=None, description="the browser's clock")


def read_answer(body: bytes) -> GivenAnswer:
    """Return the answer a request's JSON body holds.

    Raises:
        RequestError: It holds none; the message names every wrong field.
    """
    try:
        return GivenAnswer.model_validate_json(body)
    except ValidationError as error:
        raise malformed(error, "malformed_answer") from error


def malformed(error: ValidationError, code: str) -> RequestError:
    """Return the refusal of a body that is not what it should be; it names every wrong field."""
    problems = "; ".join(
        f"{'.'.join(map(str, detail['loc'])) or 'body'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False)
    )
    message = gettext("What was sent cannot be read: %(problems)s", problems=problems)
    return RequestError(message, status=400, code=code)


def record(session: Session, participant: Participant, answer: GivenAnswer, now: datetime) -> int:
    """Store an answer unless the trial has one, and return how many trials have none.

    The first stored answer to a trial stands. The same answer sent again changes nothing; a
    different later one is kept as an event. When the last trial is answered, the participant
    moves on. Who lost their place by a long silence takes it up again if it is still free; if
    not, the answer is stored all the same.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose answer it is.
        answer: The answer.
        now: The server's time.

    Raises:
        RequestError: The participant is not at work, or has no trial at that position.
    """
    if participant.state in (State.ARRIVED, State.DECLINED):
        raise RequestError(
            gettext("This session takes no answers."), status=409, code="wrong_state"
        )
    trial_id, stored_uuid, remaining = _known(session, participant, answer.position)
    if participant.state == State.ABANDONED:
        come_back(session, participant, now)
    if stored_uuid is None:
        session.add(Response(**response_values(trial_id, answer, now)))
        remaining -= 1
    elif stored_uuid != str(answer.uuid):
        _keep_late(session, participant, answer, now)
    if remaining == 0 and participant.state == State.WORKING:
        participant.state = move(State.WORKING, State.ANSWERED)
    session.flush()
    return remaining


# Built once: an answer is the request that everybody's patience depends on.
_UNANSWERED = (
    select(func.count())
    .select_from(Trial)
    .outerjoin(Response, Response.trial_id == Trial.id)
    .where(Trial.participant_id == bindparam("participant_id"), Response.id.is_(None))
    .scalar_subquery()
)
_KNOWN = (
    select(Trial.id, Response.client_uuid, _UNANSWERED)
    .outerjoin(Response, Response.trial_id == Trial.id)
    .where(
        Trial.participant_id == bindparam("participant_id"),
        Trial.position == bindparam("position"),
    )
)


def _known(
    session: Session, participant: Participant, position: int
) -> tuple[int, str | None, int]:
    """Return the trial's id, its stored answer's UUID, and how many trials have no answer."""
    found = session.execute(
        _KNOWN, {"participant_id": participant.id, "position": position}
    ).first()
    if found is None:
        raise RequestError(
            gettext("This session has no trial %(number)s.", number=position),
            status=404,
            code="unknown_position",
        )
    trial_id, stored_uuid, remaining = found
    return trial_id, stored_uuid, remaining


def response_values(trial_id: int, answer: GivenAnswer, now: datetime) -> dict[str, object]:
    """Return the columns of the response that an answer becomes."""
    return {
        "trial_id": trial_id,
        "client_uuid": str(answer.uuid),
        "chosen_side": answer.side,
        "rt_ms": answer.rt_ms,
        "input_method": answer.input_method,
        "viewport_width_px": answer.viewport_width_px,
        "viewport_height_px": answer.viewport_height_px,
        "was_hidden": answer.was_hidden,
        "lost_focus": answer.lost_focus,
        "client_time": answer.client_time,
        "recorded_at": now,
    }


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
