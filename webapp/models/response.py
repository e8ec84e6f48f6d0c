"""A response: the first stored answer to a trial."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base, UtcDateTime


class Response(Base):
    """One row per answered trial; the unique trial makes a second answer impossible."""

    __tablename__ = "response"

    id: Mapped[int] = mapped_column(primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), unique=True)
    client_uuid: Mapped[str]  # made by the browser, the same for every resend
    chosen_side: Mapped[str]  # experiment.records.Side
    rt_ms: Mapped[float | None]
    input_method: Mapped[str]
    viewport_width_px: Mapped[int | None]
    viewport_height_px: Mapped[int | None]
    was_hidden: Mapped[bool | None]
    lost_focus: Mapped[bool | None]
    client_time: Mapped[datetime | None] = mapped_column(UtcDateTime)
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)
