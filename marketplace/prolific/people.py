"""Tables of people: participants, their groups, and messages."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from marketplace.prolific.ids import new_id
from marketplace.prolific.tables import Base
from marketplace.storage import UtcDateTime


class Participant(Base):
    """Somebody at the site."""

    __tablename__ = "participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    country: Mapped[str] = mapped_column(default="GB")
    age: Mapped[int] = mapped_column(default=30)
    device: Mapped[str] = mapped_column(default="desktop")


class TestParticipant(Base):
    """A participant who only tries studies out."""

    __tablename__ = "test_participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant: Mapped[str] = mapped_column(unique=True)


class Group(Base):
    """A participant group."""

    __tablename__ = "participant_group"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    name: Mapped[str]
    description: Mapped[str | None]
    deleted: Mapped[bool] = mapped_column(default=False)


class Membership(Base):
    """Who is in a group."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("group_id", "participant"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("participant_group.id"))
    participant: Mapped[str]
    since: Mapped[datetime] = mapped_column(UtcDateTime)


class Message(Base):
    """What somebody wrote to a participant."""

    __tablename__ = "message"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    recipient: Mapped[str] = mapped_column(index=True)
    study: Mapped[str]
    body: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)


class DemographicExport(Base):
    """One request of demographics, of the two that a study has."""

    __tablename__ = "demographic_export"

    id: Mapped[int] = mapped_column(primary_key=True)
    study: Mapped[str] = mapped_column(index=True)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
