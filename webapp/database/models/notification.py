"""How researchers are told what happens, and what they were told."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


class Notification(Base):
    """An address to which a user wants to be told, and of what."""

    __tablename__ = "notification"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    way: Mapped[str]  # webapp.notifications.notices.Way
    address: Mapped[str] = mapped_column(SealedText)  # a webhook's is as good as a password
    causes: Mapped[str]  # webapp.notifications.notices.Cause, joined by spaces
    quiet_minutes: Mapped[int]  # without an answer while somebody is at work
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Notice(Base):
    """One thing that is told once at one address; it names no participant."""

    __tablename__ = "notice"
    __table_args__ = (UniqueConstraint("notification_id", "about"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("notification.id"))
    about: Mapped[str]  # the same for the same thing, so that it is told once
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    tries: Mapped[int] = mapped_column(default=0)
    # Null once it is sent, or given up.
    next_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str] = mapped_column(default="")  # why the last try failed
