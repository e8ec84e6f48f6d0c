"""Record answers: one answer becomes one response, however often it is sent."""

import json
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import Field, JsonValue, ValidationError, model_validator
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from experiment.errors import describe_validation_error
from experiment.participation import Ending, EventKind, State, move
from experiment.records import Side
from experiment.responses.base import GivenAnswer, ResponseType
from experiment.studies.question import Attention
from webapp.core.i18n import gettext
from webapp.database.models import Event, Participant, Response, Trial
from webapp.errors import RequestError
from webapp.sessions.answered import answer_column, count_unanswered
from webapp.sessions.collected import Collected, keep_collected_details
from webapp.sessions.lease import resume_session
from webapp.sessions.leave import count_catch_errors, end_visit
from webapp.sessions.measurements import (
    EVENT_FIELDS,
    MOST_DETAILS,
    Measurements,
    SentSteps,
    make_events,
    stored_steps,
)

# Nothing is stored about participants who never consented or who withdrew their consent.
NO_DATA_STATES = (State.ARRIVED, State.DECLINED, State.LEFT, State.WITHDRAWN)


class PostedAnswer(Measurements):
    """An answer as sent by the browser: the choice, with its measurements."""

    uuid: UUID = Field(
        description="the answer's id, made by the browser, the same for every resend"
    )
    position: int = Field(ge=1, le=100_000, description="the trial answered")
    side: Side | None = Field(default=None, description="the side of the chosen option")
    rating: int | None = Field(
        default=None,
        ge=0,
        le=999_999_999,
        description="the point on the scale; with several scales, a digit each",
    )
    steps: SentSteps | None = Field(default=None, description="what was read step by step")
    details: dict[str, JsonValue] | None = Field(
        default=None, description="what the script of a type of its own kind sends"
    )
    input_method: Literal["key", "pointer", "touch"] = Field(
        description="how the option was chosen"
    )

    @model_validator(mode="after")
    def _require_one_answer(self) -> Self:
        has_values = (self.side is not None, self.rating is not None)
        if all(has_values) or not (any(has_values) or self.steps or self.details):
            raise ValueError("give either side or rating")
        if self.steps and self.details:
            raise ValueError("give either steps or details")
        if self.details and len(json.dumps(self.details)) > MOST_DETAILS:
            raise ValueError(f"give details of at most {MOST_DETAILS:,} characters")
        return self

    @property
    def given(self) -> GivenAnswer:
        """The answer without measurements, in the form that its response type reads."""
        steps = self.steps.steps if self.steps else None
        return GivenAnswer(self.side, self.rating, steps, self.details or None)


def read_answer(body: bytes) -> PostedAnswer:
    """Return the answer in a request's JSON body.

    Raises:
        RequestError: The body is not a valid answer; the message names every wrong field.
    """
    try:
        return PostedAnswer.model_validate_json(body)
    except ValidationError as error:
        raise malformed_body_error(error, "malformed_answer") from error


def malformed_body_error(error: ValidationError, code: str) -> RequestError:
    """Return the error for an invalid request body; the message names every wrong field."""
    problems = "; ".join(
        f"{'.'.join(map(str, detail['loc'])) or 'body'}: {describe_validation_error(detail)}"
        for detail in error.errors(include_url=False, include_input=False)
    )
    message = gettext("What was sent cannot be read: %(problems)s", problems=problems)
    return RequestError(message, status=400, code=code)


def record_answer(
    session: Session,
    participant: Participant,
    answer: PostedAnswer,
    now: datetime,
    response: ResponseType,
    attention: Attention | None = None,
    *,
    left_out: Collected = frozenset(),
) -> int:
    """Store an answer unless the trial has one; return the number of unanswered trials.

    The first stored answer to a trial counts. The same answer sent again changes nothing; a
    different later answer is stored as an event. When the last trial is answered, the participant
    moves to the next state. A participant who lost their place by inactivity takes it again if it
    is still free; otherwise, the answer is stored all the same. If this answer exceeds the
    permitted number of errors on catch trials, the participant's session ends, and 0 is returned.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant who answers.
        answer: The answer.
        now: The server's time.
        response: The response type of the study's trials.
        attention: The study's check of catch trials, if any.
        left_out: The fields that the run does not store.

    Raises:
        RequestError: The participant is not at work, has no trial at that position, or the trial
            does not accept this answer.
    """
    if participant.state in NO_DATA_STATES:
        raise RequestError(
            gettext("This session accepts no answers."), status=409, code="wrong_state"
        )
    trial_id, stored_uuid, remaining, settled = _find_trial(
        session, participant, answer, response, left_out
    )
    if participant.state == State.ABANDONED:
        resume_session(session, participant, now)
    if stored_uuid is None:
        values = response_values(trial_id, answer, now, settled)
        session.add(
            Response(**{k: v for k, v in values.items() if f"response.{k}" not in left_out})
        )
        events = make_events(participant.id, answer.position, answer, now)
        session.add_all(event for event in events if f"event.{event.kind}" not in left_out)
        remaining -= 1
    elif stored_uuid != str(answer.uuid):
        _store_late_answer(session, participant, answer, settled, now, left_out)
    if attention is not None and participant.state == State.WORKING:
        session.flush()
        if count_catch_errors(session, participant) > attention.max_catch_errors:
            end_visit(session, participant, Ending.FAILED_CHECK, now)
            return 0
    if remaining == 0 and participant.state == State.WORKING:
        participant.state = move(State.WORKING, State.ANSWERED)
    session.flush()
    return remaining


_MOST_LATE = 50  # Per trial: two devices and a resend produce fewer, a script any number.
# Built once, because answers are the most frequent and most time-critical requests.
_FIND_TRIAL = select(
    Trial.id,
    answer_column(Response.client_uuid, Trial.id),
    count_unanswered(Trial.participant_id),
    Trial.options,
).where(
    Trial.participant_id == bindparam("participant_id"), Trial.position == bindparam("position")
)


def _find_trial(
    session: Session,
    participant: Participant,
    answer: PostedAnswer,
    response: ResponseType,
    left_out: Collected,
) -> tuple[int, str | None, int, GivenAnswer]:
    """Return a trial's id, its answer's UUID, the number of unanswered trials, and what to store.

    Raises:
        RequestError: There is no such trial, or it cannot be answered like this.
    """
    trial_row = session.execute(
        _FIND_TRIAL, {"participant_id": participant.id, "position": answer.position}
    ).first()
    if trial_row is None:
        raise RequestError(
            gettext("This session has no trial %(number)s.", number=answer.position),
            status=404,
            code="unknown_position",
        )
    trial_id, stored_uuid, remaining, options = trial_row
    settled = settle_answer(answer, options, response, left_out)
    if settled is None:
        raise RequestError(
            gettext("Trial %(number)s cannot be answered like this.", number=answer.position),
            status=400,
            code="impossible_answer",
        )
    return trial_id, stored_uuid, remaining, settled


def settle_answer(
    answer: PostedAnswer,
    options: str | None,
    response: ResponseType,
    left_out: Collected = frozenset(),
) -> GivenAnswer | None:
    """Return an answer as it is stored; None if its trial cannot be answered like this.

    Args:
        answer: The answer.
        options: The versions on the trial's screen, joined by spaces; None for a pair.
        response: The response type of the study's trials.
        left_out: The fields that the run does not store.
    """
    given = answer.given
    # A type that declares no details would lose them.
    if (given.details and not response.details) or not response.accepts(given, options):
        return None
    settled = response.settle(given, options)
    if settled.details is None:
        return settled
    return keep_collected_details(settled, response.of_options(options), left_out)


def response_values(
    trial_id: int, answer: PostedAnswer, now: datetime, settled: GivenAnswer
) -> dict[str, object]:
    """Return the columns of the response for an answer, which its type has settled."""
    return {
        "trial_id": trial_id,
        "client_uuid": str(answer.uuid),
        "chosen_side": settled.side or "",
        "rating": settled.rating,
        "input_method": answer.input_method,
        **answer.columns(),
        "recorded_at": now,
        "steps": stored_steps(settled.steps, settled.details),
    }


# The names of those columns; they are the same for every answer.
RESPONSE_COLUMNS = tuple(
    column.name for column in Response.__table__.columns if column.name != "id"
)


def _store_late_answer(
    session: Session,
    participant: Participant,
    answer: PostedAnswer,
    settled: GivenAnswer,
    now: datetime,
    left_out: Collected,
) -> None:
    if f"event.{EventKind.LATE_ANSWER}" in left_out:
        return
    # The sending times of a resend say nothing about the answer, and equal answers are stored once.
    fields = answer.model_dump(
        mode="json",
        exclude_none=True,
        exclude={"waited_ms", "round_trip_ms", "trace", "details", *EVENT_FIELDS},
    )
    fields |= {"details": settled.details} if settled.details else {}
    detail = {k: str(v) for k, v in fields.items() if f"response.{k}" not in left_out}
    late_answers = session.scalars(
        select(Event).where(
            Event.participant_id == participant.id, Event.kind == EventKind.LATE_ANSWER
        )
    )
    details_of_trial = [
        event.detail for event in late_answers if event.detail["position"] == detail["position"]
    ]
    if detail not in details_of_trial and len(details_of_trial) < _MOST_LATE:
        session.add(
            Event(participant_id=participant.id, kind=EventKind.LATE_ANSWER, detail=detail, at=now)
        )
