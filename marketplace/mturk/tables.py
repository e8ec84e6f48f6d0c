"""The marketplace's tables, in a database file separate from any Parallax installation."""

import secrets
import string
from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from marketplace.storage import UtcDateTime

_ALPHABET = string.ascii_uppercase + string.digits
_LENGTH = 30


def new_id() -> str:
    """Return a new identifier, from the system's source of randomness."""
    return "3" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))


class Base(DeclarativeBase):
    """The base of the marketplace's tables."""


class Account(Base):
    """The requester's play money, and the marketplace's clock offset; one row."""

    __tablename__ = "account"

    id: Mapped[int] = mapped_column(primary_key=True)
    deposited_cents: Mapped[int]
    clock_ahead_s: Mapped[float]


class HitType(Base):
    """The properties that all HITs of a listing share."""

    __tablename__ = "hit_type"

    id: Mapped[int] = mapped_column(primary_key=True)
    hit_type_id: Mapped[str] = mapped_column(unique=True)
    group_id: Mapped[str] = mapped_column(unique=True)
    content_hash: Mapped[str] = mapped_column(unique=True)  # equal content is the same type
    title: Mapped[str]
    description: Mapped[str]
    keywords: Mapped[str]
    reward_cents: Mapped[int]
    duration_s: Mapped[int]
    auto_approval_s: Mapped[int]
    requirements: Mapped[list[dict[str, object]]] = mapped_column(JSON)


class Hit(Base):
    """A task with a number of places for workers."""

    __tablename__ = "hit"

    id: Mapped[int] = mapped_column(primary_key=True)
    hit_id: Mapped[str] = mapped_column(unique=True)
    type_id: Mapped[int] = mapped_column(ForeignKey("hit_type.id"), index=True)
    question: Mapped[str]
    annotation: Mapped[str | None]
    max_assignments: Mapped[int]
    unit_cents: Mapped[int]  # reward of one assignment with its fee
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    reviewing: Mapped[bool] = mapped_column(default=False)
    disposed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expiry_notified: Mapped[bool] = mapped_column("expiry_told", default=False, index=True)
    reviewable_notified: Mapped[bool] = mapped_column("reviewable_told", default=False)

    type: Mapped[HitType] = relationship(lazy="joined")


class Assignment(Base):
    """One acceptance of a HIT; a worker who returns it and accepts again has two."""

    __tablename__ = "assignment"
    __table_args__ = (
        Index("ix_assignment_deadline", "status", "deadline"),
        Index("ix_assignment_auto_approval", "status", "auto_approval_at"),
        Index("ix_assignment_hit", "hit_id", "status"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Not unique: a returned assignment's id may be reused for the next worker.
    assignment_id: Mapped[str] = mapped_column(index=True)
    hit_id: Mapped[int] = mapped_column(ForeignKey("hit.id"))
    worker_id: Mapped[str] = mapped_column(index=True)
    status: Mapped[str]  # accepted, returned, abandoned, submitted, approved, rejected
    accepted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    deadline: Mapped[datetime] = mapped_column(UtcDateTime)
    submitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    auto_approval_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    submission: Mapped[int | None] = mapped_column(index=True)  # order of arrival
    answer: Mapped[str | None]
    judged_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    feedback: Mapped[str | None]

    hit: Mapped[Hit] = relationship(lazy="joined")


class Worker(Base):
    """A worker who signed in; all data are invented."""

    __tablename__ = "worker"

    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[str] = mapped_column(unique=True)
    country: Mapped[str]
    subdivision: Mapped[str]
    approved_percent: Mapped[int | None]  # null: computed from the work done here
    approved_before: Mapped[int]  # HITs approved before this marketplace
    masters: Mapped[bool]
    adult: Mapped[bool]


class WorkerBlock(Base):
    """A worker whom the requester has blocked."""

    __tablename__ = "worker_block"

    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[str] = mapped_column(unique=True)
    reason: Mapped[str]


class Payment(Base):
    """Play money paid to a worker, with its fee."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]  # reward, bonus
    worker_id: Mapped[str] = mapped_column(index=True)
    assignment_id: Mapped[str] = mapped_column(index=True)
    hit_id: Mapped[int] = mapped_column(ForeignKey("hit.id"), index=True)
    amount_cents: Mapped[int]
    fee_cents: Mapped[int]
    reason: Mapped[str]
    paid_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RequestToken(Base):
    """A token that prevents a call from being carried out twice, for a day."""

    __tablename__ = "request_token"
    __table_args__ = (Index("ix_request_token", "operation", "token"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    operation: Mapped[str]
    token: Mapped[str]
    result_id: Mapped[str] = mapped_column("made")  # id of the object that the call created
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)


class QualificationType(Base):
    """A qualification type that the requester created."""

    __tablename__ = "qualification_type"

    id: Mapped[int] = mapped_column(primary_key=True)
    qualification_type_id: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    description: Mapped[str]
    keywords: Mapped[str]
    status: Mapped[str]  # Active, Inactive
    retry_delay_s: Mapped[int | None]
    auto_granted: Mapped[bool]
    auto_granted_value: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Grant(Base):
    """A worker's qualification, kept after it is revoked."""

    __tablename__ = "grant"
    __table_args__ = (UniqueConstraint("type_id", "worker_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    type_id: Mapped[int] = mapped_column(ForeignKey("qualification_type.id"))
    worker_id: Mapped[str] = mapped_column(index=True)
    value: Mapped[int]
    status: Mapped[str]  # Granted, Revoked
    granted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    reason: Mapped[str | None]  # reason of the revocation

    type: Mapped[QualificationType] = relationship(lazy="joined")


class QualificationRequest(Base):
    """A worker's request for a qualification."""

    __tablename__ = "qualification_request"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[str] = mapped_column(unique=True)
    type_id: Mapped[int] = mapped_column(ForeignKey("qualification_type.id"))
    worker_id: Mapped[str] = mapped_column(index=True)
    state: Mapped[str]  # pending, accepted, rejected
    submitted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    reason: Mapped[str | None]

    type: Mapped[QualificationType] = relationship(lazy="joined")


class Subscription(Base):
    """The destination of a HIT type's events."""

    __tablename__ = "subscription"

    id: Mapped[int] = mapped_column(primary_key=True)
    type_id: Mapped[int] = mapped_column(ForeignKey("hit_type.id"), unique=True)
    specification: Mapped[dict[str, object]] = mapped_column(JSON)
    active: Mapped[bool]


class Message(Base):
    """A notification in a queue."""

    __tablename__ = "message"

    id: Mapped[int] = mapped_column(primary_key=True)
    queue: Mapped[str] = mapped_column(index=True)
    body: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)
    hidden_until: Mapped[datetime] = mapped_column(UtcDateTime)
    received: Mapped[int] = mapped_column(default=0)


class WorkerMessage(Base):
    """A message from the requester to a worker."""

    __tablename__ = "letter"

    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[str] = mapped_column(index=True)
    subject: Mapped[str]
    text: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)
