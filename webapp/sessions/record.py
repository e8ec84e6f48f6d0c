"""Recording: one answer becomes one response, however often it is sent."""

from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import Field, ValidationError, model_validator
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from experiment.errors import said
from experiment.participation import Ending, EventKind, State, move
from experiment.records import Side
from experiment.responses.base import Given, ResponseType
from experiment.studies.question import Attention
from webapp.core.i18n import gettext
from webapp.database.models import Event, Participant, Response, Trial
from webapp.errors import RequestError
from webapp.sessions.answered import of_answer, unanswered
from webapp.sessions.lease import come_back
from webapp.sessions.leave import catch_errors, leave
from webapp.sessions.measurements import EVENTS, Measurements, SentSteps, keep_events, stored_steps

# Of who never consented, or took it back, nothing more is stored.
NOTHING_STORED = (State.ARRIVED, State.DECLINED, State.LEFT, State.WITHDRAWN)


class GivenAnswer(Measurements):
    """One answer, as the browser sends it: the choice, and what was measured with it."""

    uuid: UUID = Field(description="made by the browser, the same for every resend")
    position: int = Field(ge=1, le=100_000, description="the trial answered")
    side: Side | None = Field(default=None, description="where the chosen option stood")
    rating: int | None = Field(
        default=None, ge=1, le=999_999_999, description="or the point of the scale, of each a digit"
    )
    steps: SentSteps | None = Field(default=None, description="what was read step by step")
    input_method: Literal["key", "pointer", "touch"] = Field(description="how it was chosen")

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        given = (self.side is not None, self.rating is not None)
        if all(given) or not (any(given) or self.steps):
            raise ValueError("give either side or rating")
        return self

    @property
    def given(self) -> Given:
        """The answer alone, as its type of response reads it."""
        return Given(self.side, self.rating, self.steps.steps if self.steps else None)


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
        f"{'.'.join(map(str, detail['loc'])) or 'body'}: {said(detail)}"
        for detail in error.errors(include_url=False, include_input=False)
    )
    message = gettext("What was sent cannot be read: %(problems)s", problems=problems)
    return RequestError(message, status=400, code=code)


def record(
    session: Session,
    participant: Participant,
    answer: GivenAnswer,
    now: datetime,
    response: ResponseType,
    attention: Attention | None = None,
) -> int:
    """Store an answer unless the trial has one, and return how many trials have none.

    The first stored answer to a trial stands. The same answer sent again changes nothing; a
    different later one is kept as an event. When the last trial is answered, the participant
    moves on. Who lost their place by a long silence takes it up again if it is still free; if
    not, the answer is stored all the same. Where errors on catch trials end the session and this
    answer is one too many, the participant has left, and 0 is returned.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose answer it is.
        answer: The answer.
        now: The server's time.
        response: What the study's trials ask for.
        attention: The study's check of catch trials, if it has one.

    Raises:
        RequestError: The participant is not at work, has no trial at that position, or it cannot
            be answered so.
    """
    if participant.state in NOTHING_STORED:
        raise RequestError(
            gettext("This session accepts no answers."), status=409, code="wrong_state"
        )
    trial_id, stored_uuid, remaining = _known(session, participant, answer, response)
    if participant.state == State.ABANDONED:
        come_back(session, participant, now)
    if stored_uuid is None:
        session.add(Response(**response_values(trial_id, answer, now)))
        session.add_all(keep_events(participant.id, answer.position, answer, now))
        remaining -= 1
    elif stored_uuid != str(answer.uuid):
        _keep_late(session, participant, answer, now)
    if attention is not None and participant.state == State.WORKING:
        session.flush()
        if catch_errors(session, participant) > attention.max_catch_errors:
            leave(session, participant, Ending.FAILED_CHECK, now)
            return 0
    if remaining == 0 and participant.state == State.WORKING:
        participant.state = move(State.WORKING, State.ANSWERED)
    session.flush()
    return remaining


_MOST_LATE = 50  # Of one trial: two devices and a resend make fewer, a program any number.
# Built once: an answer is the request that everybody's patience depends on.
_KNOWN = select(
    Trial.id,
    of_answer(Response.client_uuid, Trial.id),
    unanswered(Trial.participant_id),
    Trial.options,
).where(
    Trial.participant_id == bindparam("participant_id"), Trial.position == bindparam("position")
)


def _known(
    session: Session, participant: Participant, answer: GivenAnswer, response: ResponseType
) -> tuple[int, str | None, int]:
    """Return the trial's id, its stored answer's UUID, and how many trials have no answer."""
    trial_row = session.execute(
        _KNOWN, {"participant_id": participant.id, "position": answer.position}
    ).first()
    if trial_row is None:
        raise RequestError(
            gettext("This session has no trial %(number)s.", number=answer.position),
            status=404,
            code="unknown_position",
        )
    trial_id, stored_uuid, remaining, options = trial_row
    if not response.accepts(answer.given, options):
        raise RequestError(
            gettext("Trial %(number)s cannot be answered like this.", number=answer.position),
            status=400,
            code="impossible_answer",
        )
    return trial_id, stored_uuid, remaining


def response_values(trial_id: int, answer: GivenAnswer, now: datetime) -> dict[str, object]:
    """Return the columns of the response that an answer becomes."""
    return {
        "trial_id": trial_id,
        "client_uuid": str(answer.uuid),
        "chosen_side": answer.side or "",
        "rating": answer.rating,
        "input_method": answer.input_method,
        **answer.columns(),
        "recorded_at": now,
        "steps": stored_steps(answer.given.steps),
    }


# Those columns of the table; which, every answer tells alike.
RESPONSE_COLUMNS = tuple(
    column.name for column in Response.__table__.columns if column.name != "id"
)


def _keep_late(
    session: Session, participant: Participant, answer: GivenAnswer, now: datetime
) -> None:
    # When a resend was sent tells nothing of the answer, and the same answer is kept once.
    fields = answer.model_dump(
        mode="json", exclude_none=True, exclude={"waited_ms", "round_trip_ms", "trace", *EVENTS}
    )
    detail = {name: str(value) for name, value in fields.items()}
    kept = session.scalars(
        select(Event).where(
            Event.participant_id == participant.id, Event.kind == EventKind.LATE_ANSWER
        )
    )
    same = [event.detail for event in kept if event.detail["position"] == detail["position"]]
    if detail not in same and len(same) < _MOST_LATE:
        session.add(
            Event(participant_id=participant.id, kind=EventKind.LATE_ANSWER, detail=detail, at=now)
        )
