"""Recruitment and payment: offers, assignments, links, the ledger, reports to platforms."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, column_property, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import Name, SealedText, name_of


class Recruitment(Base):
    """Where a run was published; its HITs and payments can only be there."""

    __tablename__ = "recruitment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), unique=True)
    endpoint: Mapped[str]  # webapp.recruiters.platform.Platform.endpoint
    account: Mapped[str | None]  # whose money pays, by the platform's id; null where it has none
    qualification_id: Mapped[str | None]  # "has taken part", null until the platform told
    published_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Hit(Base):
    """An offer of some places, committed before the platform is asked to post it."""

    __tablename__ = "hit"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    token: Mapped[str] = mapped_column(unique=True)  # the same whenever it is posted again
    purpose: Mapped[str]  # "recruitment" or "compensation"
    places: Mapped[int]  # as it was posted, or grew to
    platform_id: Mapped[str | None] = mapped_column(unique=True)  # null until the platform told
    hit_type_id: Mapped[str | None]  # of earlier versions
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # before the first call
    posted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Assignment(Base):
    """One worker's acceptance of a HIT; returning it and accepting again makes another."""

    # A platform may give what one worker returned to another under the same id.
    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("work_key", "worker_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    hit_id: Mapped[int | None] = mapped_column(ForeignKey("hit.id"))  # null: not one of ours yet
    work_key: Mapped[int] = mapped_column(ForeignKey("identity.id"))
    _platform_id: Mapped[str] = column_property(name_of(work_key), expire_on_flush=False)
    platform_id = Name[str]("work_key")
    # Null where somebody submitted who never consented here.
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    worker_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _worker_id: Mapped[str] = column_property(name_of(worker_key), expire_on_flush=False)
    worker_id = Name[str]("worker_key")
    status: Mapped[str]  # webapp.recruiters.statuses.AssignmentStatus
    submit_to: Mapped[str]  # the worker site; empty where the worker never came
    # What the submitted form held; empty until then; hostile.
    receipt: Mapped[str] = mapped_column(SealedText)
    accepted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    submitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    granted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # "has taken part"
    seen_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # last told by the platform
    paid_minor: Mapped[int | None]  # by the platform, bonuses aside; null: status and reward say it


class Link(Base):
    """One link of a run, or one access code."""

    __tablename__ = "link"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    token: Mapped[str] = mapped_column(unique=True)  # random; stands in the link, or is typed in
    kind: Mapped[str]  # "multi", "single" or "code": how many may come by it, and how it is given
    list: Mapped[int | None]  # the list that everybody who comes by it gets; null for any
    label: Mapped[str] = mapped_column(SealedText)  # what the researcher calls it; in no export
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Payment(Base):
    """One payment or rejection; committed before the platform is called, and never deleted."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null for somebody who never became one
        ForeignKey("participant.id"), index=True
    )
    worker_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _worker_id: Mapped[str] = column_property(name_of(worker_key), expire_on_flush=False)
    worker_id = Name[str]("worker_key")  # what the platform calls the payee
    work_key: Mapped[int | None] = mapped_column(ForeignKey("identity.id"), index=True)
    _assignment: Mapped[str | None] = column_property(name_of(work_key), expire_on_flush=False)
    # The platform's id; null until compensation was taken up.
    assignment = Name[str | None]("work_key")
    kind: Mapped[str]  # experiment.payment.payment.PaymentKind
    amount_minor: Mapped[int]
    currency: Mapped[str] = mapped_column(default="USD")
    reason: Mapped[str] = mapped_column(SealedText)  # as the payee reads it
    token: Mapped[str] = mapped_column(unique=True)  # experiment.payment.payment.payment_token
    state: Mapped[str]  # experiment.payment.payment.PaymentState
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # the latest call
    # Where a platform pays in two steps: what it calls the set-up, and when it was told to pay it,
    # which it is at most once.
    set_up_id: Mapped[str | None] = mapped_column(SealedText)
    ordered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # How many bonuses of this amount the work showed when the platform was about to be told.
    shown_before: Mapped[int | None]
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    category: Mapped[str] = mapped_column(default="")  # of a rejection, where the platform asks
    # What the platform said when it was not done; else empty.
    answer: Mapped[str] = mapped_column(SealedText)


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
