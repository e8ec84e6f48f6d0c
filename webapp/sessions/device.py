"""Devices: store the browser's description of itself once, and nothing beyond it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import EventKind
from webapp.core.i18n import gettext
from webapp.core.tokens import new_reference
from webapp.database.models import Device, Event, Participant
from webapp.errors import RequestError
from webapp.sessions.collected import Collected
from webapp.sessions.record import NO_DATA_STATES, malformed_body_error

# Marks can be made up, so the number of stored devices is limited.
_MOST_DEVICES = 20
# Letters and spaces only: a version number would help to identify participants.
_Family = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z ]{0,39}$")]
_LanguageTag = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)
]


class GivenDevice(BaseModel):
    """A device as described by the browser; unknown fields are left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    mark: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{0,32}$")] = Field(
        default="", description="a random mark of this session in this browser"
    )

    user_agent_family: _Family | Literal[""] = Field(
        default="", description="the browser, such as Firefox"
    )
    refresh_rate_hz: float | None = Field(
        default=None,
        ge=1,
        le=1000,
        allow_inf_nan=False,
        description="the screen's estimated refresh rate",
    )
    time_zone_offset_min: int | None = Field(
        default=None, ge=-14 * 60, le=14 * 60, description="how far local time is ahead of UTC"
    )
    language: _LanguageTag | Literal[""] = Field(
        default="", description="the browser's language, such as en-GB"
    )
    automated: bool | None = Field(
        default=None, description="whether it says that a program drives it"
    )


def read_device(body: bytes) -> GivenDevice:
    """Return the device described by a request's JSON body.

    Raises:
        RequestError: The body describes no device; the message names every wrong field.
    """
    try:
        return GivenDevice.model_validate_json(body)
    except ValidationError as error:
        raise malformed_body_error(error, "malformed_device") from error


def note_device(
    session: Session,
    participant: Participant,
    device: GivenDevice,
    now: datetime,
    *,
    left_out: Collected = frozenset(),
) -> None:
    """Store a device on which the participant opened the session, unless it is stored already.

    An event is added for the second device and each further one.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant who uses the device.
        device: The device.
        now: The time.
        left_out: The fields that the run does not store.

    Raises:
        RequestError: The participant is in a state in which nothing about them is stored.
    """
    device = device.model_copy(
        update={
            name: field.default
            for name, field in GivenDevice.model_fields.items()
            if f"device.{name}" in left_out
        }
    )
    if participant.state in NO_DATA_STATES:
        raise RequestError(
            gettext("This session accepts no answers."), status=409, code="wrong_state"
        )
    of_participant = Device.participant_id == participant.id
    stored = session.scalars(select(Device).where(of_participant)).all()
    if (
        any(_is_same_device(device, stored_device) for stored_device in stored)
        or len(stored) >= _MOST_DEVICES
    ):
        return
    # Browsers without stored marks still get a row each.
    facts = device.model_dump() | {"mark": device.mark or new_reference()}
    session.add(Device(participant_id=participant.id, **facts, noted_at=now))
    if stored:
        detail = {"device": str(len(stored) + 1), "user_agent_family": device.user_agent_family}
        session.add(
            Event(
                participant_id=participant.id, kind=EventKind.SECOND_DEVICE, detail=detail, at=now
            )
        )
    session.flush()


def _is_same_device(device: GivenDevice, stored_device: Device) -> bool:
    if device.mark:
        return device.mark == stored_device.mark
    # Only these fields distinguish browsers without stored marks.
    compared_fields = ("user_agent_family", "time_zone_offset_min", "language")
    return all(getattr(device, name) == getattr(stored_device, name) for name in compared_fields)
