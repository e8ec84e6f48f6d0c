"""A device: what a participant's browser told about itself, once."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base


class Device(Base):
    """At most one row per participant, the first that came; nothing beyond these columns."""

    __tablename__ = "device"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    user_agent_family: Mapped[str]  # empty where the browser does not tell
    refresh_rate_hz: Mapped[float | None]
    time_zone_offset_min: Mapped[int | None]
    language: Mapped[str]  # likewise
