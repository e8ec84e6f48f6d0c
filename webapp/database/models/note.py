"""What researchers write about a run or about one of its people."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class Note(Base):
    """A remark in a researcher's words; in no export, and erased with the person it is about."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null of a note about the run
        ForeignKey("participant.id"), index=True
    )
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    text: Mapped[str]


class Tag(Base):
    """A word by which a run or a person is found again; likewise."""

    __tablename__ = "tag"
    __table_args__ = (Index(None, "run_id", "name", "participant_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    name: Mapped[str]  # in small letters
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
