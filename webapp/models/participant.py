"""A participant and the answers to the questionnaire."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base, UtcDateTime


class Participant(Base):
    """Somebody who decided on a consent page; who they are elsewhere never leaves the database."""

    __tablename__ = "participant"
    __table_args__ = (
        UniqueConstraint("run_id", "platform_id"),
        UniqueConstraint("run_id", "visit_mark"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    ref: Mapped[str] = mapped_column(unique=True)  # random, in exports
    platform_id: Mapped[str | None]  # what the recruiting platform calls the person
    visit_mark: Mapped[str | None]  # random, from the consent page whose button was pressed
    state: Mapped[str]  # experiment.participation.State
    list: Mapped[int | None]
    place: Mapped[int | None]
    arrived_at: Mapped[datetime] = mapped_column(UtcDateTime)
    consented_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    returned_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # after the lease was over
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Answer(Base):
    """One answered field of the questionnaire."""

    __tablename__ = "answer"
    __table_args__ = (UniqueConstraint("participant_id", "field"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    field: Mapped[str]
    value: Mapped[str]
