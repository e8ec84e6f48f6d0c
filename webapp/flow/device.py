"""The device: what a browser tells about itself is stored once, and nothing beyond it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.errors import RequestError
from webapp.flow.record import malformed
from webapp.language import gettext
from webapp.models import Device, Participant

# Letters and spaces alone: a version number would tell people apart.
_Family = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z ]{0,39}$")]
_LanguageTag = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)
]


class GivenDevice(BaseModel):
    """What the browser tells, each part only where it knows it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    user_agent_family: _Family | Literal[""] = Field(default="", description="such as Firefox")
    refresh_rate_hz: float | None = Field(
        default=None, ge=1, le=1000, allow_inf_nan=False, description="estimated"
    )
    time_zone_offset_min: int | None = Field(
        default=None, ge=-14 * 60, le=14 * 60, description="local time ahead of UTC"
    )
    language: _LanguageTag | Literal[""] = Field(default="", description="such as en-GB")


def read_device(body: bytes) -> GivenDevice:
    """Return the device a request's JSON body describes.

    Raises:
        RequestError: It describes none; the message names every wrong field.
    """
    try:
        return GivenDevice.model_validate_json(body)
    except ValidationError as error:
        raise malformed(error, "malformed_device") from error


def note_device(session: Session, participant: Participant, device: GivenDevice) -> None:
    """Store a participant's device unless one is stored: the first stands.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose device it is.
        device: The device.

    Raises:
        RequestError: The participant declined: then nothing about them is stored.
    """
    if participant.state in (State.ARRIVED, State.DECLINED):
        raise RequestError(
            gettext("This session takes no answers."), status=409, code="wrong_state"
        )
    stored = session.scalar(select(Device.id).where(Device.participant_id == participant.id))
    if stored is None:
        session.add(Device(participant_id=participant.id, **device.model_dump()))
        session.flush()
