"""Reports that our server must send to platforms."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


class OutgoingReport(Base):
    """The end of a session that a platform must be told, stored together with the end itself."""

    __tablename__ = "outgoing_report"
    __table_args__ = (UniqueConstraint("participant_id", "ending"), Index(None, "state", "next_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    ending: Mapped[str]  # experiment.participation.Ending
    state: Mapped[str]  # webapp.recruitment.reports.ReportState
    tries: Mapped[int] = mapped_column(default=0)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    next_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null: no further try by itself
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # committed before each call
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    answer: Mapped[str] = mapped_column(SealedText, default="")  # what the platform said last
