"""The stand-in's tables and transactions; its database file is separate from any installation."""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    relationship,
    sessionmaker,
)

from marketplace.storage import Clock, UtcDateTime, sqlite_engine

ID = re.compile(r"[0-9a-f]{24}")


def new_id() -> str:
    """Return a new, unique identifier."""
    return secrets.token_hex(12)


def is_id(text: str) -> bool:
    """Return whether a text has the format of an identifier."""
    return ID.fullmatch(text) is not None


class Base(DeclarativeBase):
    """The base of the stand-in's tables."""


class Account(Base):
    """The one workspace: its wallet, its features and the clock offset; one row."""

    __tablename__ = "account"

    id: Mapped[int] = mapped_column(primary_key=True)
    workspace: Mapped[str] = mapped_column(default=new_id)
    owner: Mapped[str] = mapped_column(default=new_id)
    clock_ahead_s: Mapped[float] = mapped_column(default=0.0)
    currency: Mapped[str]
    deposited_minor: Mapped[int]
    fee_per_mille: Mapped[int] = mapped_column(default=333)
    tax_percent: Mapped[int] = mapped_column(default=20)  # tax on the fee
    least_per_hour_minor: Mapped[int]
    recommended_per_hour_minor: Mapped[int]
    features: Mapped[list[str]] = mapped_column(JSON)
    bulk_s: Mapped[float] = mapped_column(default=0.0)  # seconds until asynchronous work is done
    token: Mapped[str] = mapped_column(default="")  # the accepted API token; empty: any
    private_key: Mapped[str]  # PEM; signs arrivals
    key_id: Mapped[str] = mapped_column(default=new_id)


class Project(Base):
    """A project, which groups the studies of a workspace."""

    __tablename__ = "project"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    title: Mapped[str]


class Study(Base):
    """A study."""

    __tablename__ = "study"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    project: Mapped[str]
    fields: Mapped[dict[str, Any]] = mapped_column(JSON)  # as the researcher sent them
    status: Mapped[str] = mapped_column(default="UNPUBLISHED")
    stopped: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    publish_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    high_return_reported: Mapped[bool] = mapped_column("high_return_told", default=False)

    @property
    def reward(self) -> int:
        """The reward of one submission, in minor units."""
        return int(self.fields["reward"])

    @property
    def places(self) -> int:
        """The number of participants."""
        return int(self.fields["total_available_places"])


class Submission(Base):
    """A participant's submission to a study; its identifier is also the session's."""

    __tablename__ = "submission"
    __table_args__ = (Index("ix_submission_study", "study_id", "status"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    participant: Mapped[str] = mapped_column(index=True)
    status: Mapped[str] = mapped_column(default="RESERVED", index=True)
    link: Mapped[int] = mapped_column(default=0)  # index of the study's access details
    reserved_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    completed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    reviewed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    return_requested: Mapped[datetime | None] = mapped_column(UtcDateTime)
    entered_code: Mapped[str | None]
    rejection_category: Mapped[str | None]
    unrejected: Mapped[bool] = mapped_column(default=False)

    study: Mapped[Study] = relationship(lazy="joined")


class Payment(Base):
    """Money paid to a participant."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]  # reward, partial, screen_out, bonus
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), index=True)
    amount_minor: Mapped[int]
    fee_minor: Mapped[int]
    tax_minor: Mapped[int]
    paid_at: Mapped[datetime] = mapped_column(UtcDateTime)
    setup: Mapped[str | None]  # the bonus set-up, if it is a bonus

    submission: Mapped[Submission] = relationship(lazy="joined")


class BonusSetup(Base):
    """Bonuses that were set up; each pay call pays all of them."""

    __tablename__ = "bonus_setup"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    study: Mapped[str]
    lines: Mapped[list[tuple[int, int]]] = mapped_column(JSON)  # submission's row, minor units
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Job(Base):
    """The promised work of an asynchronous call."""

    __tablename__ = "job"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]  # bonus, approve
    ids: Mapped[list[str]] = mapped_column("what", JSON)  # ids of bonus set-ups or submissions
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    done: Mapped[bool] = mapped_column(default=False, index=True)


class Secret(Base):
    """The secret that signs webhooks; only one exists at a time."""

    __tablename__ = "secret"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    value: Mapped[str]


class Subscription(Base):
    """A subscriber's address for one kind of event."""

    __tablename__ = "subscription"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    event_type: Mapped[str]
    target_url: Mapped[str]
    hook_secret: Mapped[str]
    enabled: Mapped[bool] = mapped_column(default=False)  # false until confirmed
    failures: Mapped[int] = mapped_column(default=0)  # number of failures in a row


class Event(Base):
    """An event to be delivered to a subscriber."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    subscription_id: Mapped[int] = mapped_column(ForeignKey("subscription.id"))
    resource: Mapped[str]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    status: Mapped[str] = mapped_column(default="PENDING", index=True)
    attempts: Mapped[int] = mapped_column(default=0)

    subscription: Mapped[Subscription] = relationship(lazy="joined")


EXTENSION = "prolific"
_FILE = "prolific.sqlite3"


@dataclass(frozen=True, slots=True)
class Moment:
    """One transaction at a fixed time.

    Attributes:
        session: The database session; committed at the end.
        now: The time.
        account: The workspace.
    """

    session: Session
    now: datetime
    account: Account


class Store:
    """The stand-in's state in one SQLite file, so that a restart loses nothing.

    Args:
        folder: The file's folder.
        account: The workspace of a new stand-in; an existing one keeps its own.
        now: The real clock; the stand-in's clock runs ahead of it by an adjustable time.
        apply_expiry: Applies all changes that are due by the moment's time.
    """

    def __init__(
        self,
        folder: Path,
        account: Callable[[], dict[str, Any]],
        now: Clock,
        apply_expiry: Callable[[Moment], None],
    ) -> None:
        self._now, self._let_time_pass = now, apply_expiry
        self.engine = sqlite_engine(folder.resolve() / _FILE)
        Base.metadata.create_all(self.engine)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        with self._sessions.begin() as session:
            if session.scalar(select(Account)) is None:
                session.add_all([Account(**account()), Project(title="Project")])

    @contextmanager
    def moment(self) -> Iterator[Moment]:
        """Yield a moment, after all changes due by then were applied."""
        with self._sessions.begin() as session:
            account = session.scalars(select(Account)).one()
            now = self._now() + timedelta(seconds=account.clock_ahead_s)
            moment = Moment(session, now, account)
            self._let_time_pass(moment)
            yield moment

    def advance(self, seconds: float) -> datetime:
        """Move the clock forward or back, and return the new time."""
        with self._sessions.begin() as session:
            session.scalars(select(Account)).one().clock_ahead_s += seconds
        with self.moment() as moment:
            return moment.now
