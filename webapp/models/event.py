"""An event: something worth keeping that is no response (such as a second answer to a trial)."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base, UtcDateTime


class Event(Base):
    """Append-only."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), index=True)
    kind: Mapped[str]
    detail: Mapped[dict[str, str]] = mapped_column(JSON)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
