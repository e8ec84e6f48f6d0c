"""From where somebody came, for an hour."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class ArrivalAddress(Base):
    """From where a participant came; a job deletes the row after an hour."""

    __tablename__ = "arrival_address"
    __table_args__ = (Index(None, "digest", "at"), Index(None, "at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    digest: Mapped[str]  # of the network address, under the installation's key
    at: Mapped[datetime] = mapped_column(UtcDateTime)
