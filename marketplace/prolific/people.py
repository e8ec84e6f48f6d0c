"""Tables of participants, their groups, and messages to them."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column

from marketplace.prolific.errors import UnknownError
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Base, new_id
from marketplace.storage import UtcDateTime


class Participant(Base):
    """A participant at the site."""

    __tablename__ = "participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    country: Mapped[str] = mapped_column(default="GB")
    age: Mapped[int] = mapped_column(default=30)
    device: Mapped[str] = mapped_column(default="desktop")


class TestParticipant(Base):
    """A participant who only tests studies."""

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
    """A participant's membership of a group."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("group_id", "participant"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("participant_group.id"))
    participant: Mapped[str]
    since: Mapped[datetime] = mapped_column(UtcDateTime)


class Message(Base):
    """A message to a participant."""

    __tablename__ = "message"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    recipient: Mapped[str] = mapped_column(index=True)
    study: Mapped[str]
    body: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)


class DemographicExport(Base):
    """One of the two requests for demographics that each study has."""

    __tablename__ = "demographic_export"

    id: Mapped[int] = mapped_column(primary_key=True)
    study: Mapped[str] = mapped_column(index=True)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(JSON)


def find_group(moment: Moment, ref: str) -> Group:
    """Return a participant group.

    Raises:
        UnknownError: No group has that identifier.
    """
    found = moment.session.scalar(select(Group).where(Group.ref == ref, Group.deleted.is_(False)))
    if found is None:
        raise UnknownError("participant group")
    return found


def members(moment: Moment, group: Group) -> list[Membership]:
    """Return a group's members, in order of joining."""
    of = select(Membership).where(Membership.group_id == group.id).order_by(Membership.id)
    return list(moment.session.scalars(of))


def join(moment: Moment, group: Group, participant: str) -> None:
    """Add a participant to a group, unless they are a member already."""
    if participant not in {each.participant for each in members(moment, group)}:
        moment.session.add(Membership(group_id=group.id, participant=participant, since=moment.now))
        moment.session.flush()


def leave(moment: Moment, group: Group, participant: str) -> None:
    """Remove a participant from a group."""
    for each in members(moment, group):
        if each.participant == participant:
            moment.session.delete(each)
    moment.session.flush()


def write(moment: Moment, participant: str, study: str, body: str) -> None:
    """Send a message to a participant."""
    moment.session.add(Message(recipient=participant, study=study, body=body, sent_at=moment.now))
