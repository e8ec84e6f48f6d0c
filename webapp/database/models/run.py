"""Runs with their lists and places, and their recruitment with links and payments."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    Index,
    LargeBinary,
    ScalarSelect,
    UniqueConstraint,
    exists,
    select,
    text,
)
from sqlalchemy.orm import Mapped, column_property, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import Name, SealedText, name_of


class Link(Base):
    """An invitation link of a run, or an access code."""

    __tablename__ = "link"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    token: Mapped[str] = mapped_column(unique=True)  # random; part of the link, or typed in
    kind: Mapped[str]  # "multi", "single" or "code": number of users, and form
    list: Mapped[int | None]  # the list of its participants; null for any
    label: Mapped[str] = mapped_column(SealedText)  # the researcher's label; in no export
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Run(Base):
    """One launch of a study, with everything that is needed to rebuild it."""

    __tablename__ = "run"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True)  # random, in links
    study: Mapped[str]
    study_version: Mapped[str]
    study_folder: Mapped[str]
    materials_hash: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    recruiter: Mapped[str]
    simulated: Mapped[bool]
    code_version: Mapped[str]
    launched_at: Mapped[datetime] = mapped_column(UtcDateTime)
    language: Mapped[str] = mapped_column(default="en")  # of the participants' pages
    lease_minutes: Mapped[int] = mapped_column(default=60)
    currency: Mapped[str] = mapped_column(default="USD")  # of all its payments, ISO 4217
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it is open
    # When identifying data were erased, as the study requires; null before.
    identities_erased_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    archived_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null unless archived
    # Null for a run without a project: access depends only on the role in the installation.
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))
    # Once links were made for a run, nobody is admitted without one.
    has_links: Mapped[bool] = column_property(
        exists().where(Link.run_id == id).correlate_except(Link), expire_on_flush=False
    )


def ref_of(key: Any) -> ScalarSelect[str]:  # noqa: ANN401 - a column, about to be mapped
    """Return the SQL expression for the reference of the run to which a column refers."""
    return select(Run.ref).where(Run.id == key).correlate_except(Run).scalar_subquery()


class ConsentText(Base):
    """A consent text of the run: the study's text and the list of stored data."""

    __tablename__ = "consent_text"
    __table_args__ = (UniqueConstraint("run_id", "version"), UniqueConstraint("run_id", "sha256"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    version: Mapped[int]  # within the run, from 1, in order of the first agreement
    sha256: Mapped[str]  # of the text
    text: Mapped[str]
    first_agreed_at: Mapped[datetime] = mapped_column(UtcDateTime)


class StudyFile(Base):
    """A file of the run's study, frozen at launch, so that every server can show the run."""

    __tablename__ = "study_file"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    name: Mapped[str]  # its path in the study's folder, with "/" as separator
    content: Mapped[bytes] = mapped_column(LargeBinary)


class RunItem(Base):
    """An item of one of the run's lists, frozen at launch."""

    __tablename__ = "run_item"
    __table_args__ = (
        UniqueConstraint("run_id", "list", "item_id"),
        Index(None, "run_id", "list"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    list: Mapped[int]
    list_order: Mapped[int]  # position in the built list, before participants' orders
    item_id: Mapped[str]
    kind: Mapped[str]  # the item's kind in this list
    item: Mapped[dict[str, str]] = mapped_column(JSON)  # the row of experiment.tables.schemas.ITEMS


class Place(Base):
    """A place (participant slot) on a list; free while ``participant_id`` is null."""

    __tablename__ = "place"
    __table_args__ = (
        UniqueConstraint("run_id", "list", "place"),
        # Contains only free places, to find a list's next one among any number of taken places.
        Index(
            "ix_place_free",
            "run_id",
            "list",
            "place",
            sqlite_where=text("participant_id IS NULL"),
            postgresql_where=text("participant_id IS NULL"),
        ),
        # Excludes free places; otherwise, PostgreSQL would use this index to search for them.
        Index(
            "uq_place_holder",
            "participant_id",
            unique=True,
            sqlite_where=text("participant_id IS NOT NULL"),
            postgresql_where=text("participant_id IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    list: Mapped[int]
    place: Mapped[int]
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"))


class RunCount(Base):
    """One of several counters of a run's rows; the count is the sum of all of them.

    Triggers maintain it (``webapp.database.row_counts``). The parts allow simultaneous transactions
    to count without waiting for each other.
    """

    __tablename__ = "run_count"
    __table_args__ = (Index(None, "run_id", "subject", "list"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    subject: Mapped[str]  # places, taken, responses, or participants and their state
    list: Mapped[int]  # 0 for counts that are not by list
    n: Mapped[int]


class Recruitment(Base):
    """The platform on which a run was published; all its HITs and payments are there."""

    __tablename__ = "recruitment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), unique=True)
    endpoint: Mapped[str]  # webapp.recruiters.platform.Platform.endpoint
    account: Mapped[str | None]  # the platform's id of the paying account; null if it has none
    qualification_id: Mapped[str | None]  # of "has taken part"; null until known
    published_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Hit(Base):
    """An offer of places, committed before the platform is asked to publish it."""

    __tablename__ = "hit"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    token: Mapped[str] = mapped_column(unique=True)  # the same for every attempt to post it
    purpose: Mapped[str]  # "recruitment" or "compensation"
    places: Mapped[int]  # as posted or extended
    platform_id: Mapped[str | None] = mapped_column(unique=True)  # null until known
    hit_type_id: Mapped[str | None]  # of earlier versions
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # before the first call
    posted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Assignment(Base):
    """A worker's acceptance of a HIT; returning it and accepting again creates another one."""

    # A platform may give a returned assignment to another worker under the same id.
    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("work_key", "worker_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    run_ref: Mapped[str] = column_property(ref_of(run_id), expire_on_flush=False)
    hit_id: Mapped[int | None] = mapped_column(ForeignKey("hit.id"))  # null: not yet ours
    work_key: Mapped[int] = mapped_column(ForeignKey("identity.id"))
    _platform_id: Mapped[str] = column_property(name_of(work_key), expire_on_flush=False)
    platform_id = Name[str]("work_key")
    # Null if the worker submitted without consenting here.
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    worker_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _worker_id: Mapped[str] = column_property(name_of(worker_key), expire_on_flush=False)
    worker_id = Name[str]("worker_key")
    status: Mapped[str]  # webapp.recruiters.statuses.AssignmentStatus
    submit_to: Mapped[str]  # the worker site; empty if the worker never arrived
    # The contents of the submitted form; empty until then; untrusted input.
    receipt: Mapped[str] = mapped_column(SealedText)
    accepted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    submitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    granted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # "has taken part"
    seen_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # last reported by the platform
    paid_minor: Mapped[int | None]  # paid, without bonuses; null: see status and reward


class Payment(Base):
    """A payment or rejection; committed before the platform is called, and never deleted."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    run_ref: Mapped[str] = column_property(ref_of(run_id), expire_on_flush=False)
    participant_id: Mapped[int | None] = mapped_column(  # null if the payee never became one
        ForeignKey("participant.id"), index=True
    )
    worker_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _worker_id: Mapped[str] = column_property(name_of(worker_key), expire_on_flush=False)
    worker_id = Name[str]("worker_key")  # the platform's id of the payee
    work_key: Mapped[int | None] = mapped_column(ForeignKey("identity.id"), index=True)
    _assignment: Mapped[str | None] = column_property(name_of(work_key), expire_on_flush=False)
    # The platform's id; null until a compensation offer was accepted.
    assignment = Name[str | None]("work_key")
    kind: Mapped[str]  # experiment.payment.payment.PaymentKind
    amount_minor: Mapped[int]
    currency: Mapped[str] = mapped_column(default="USD")
    reason: Mapped[str] = mapped_column(SealedText)  # as shown to the payee
    token: Mapped[str] = mapped_column(unique=True)  # experiment.payment.payment.payment_token
    state: Mapped[str]  # experiment.payment.payment.PaymentState
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # the latest call
    # For platforms that pay in two steps: the id of the prepared payment, and the time of the order
    # to pay it, which is sent at most once.
    set_up_id: Mapped[str | None] = mapped_column(SealedText)
    ordered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The number of bonuses of this amount on the assignment just before the platform call.
    shown_before: Mapped[int | None]
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    category: Mapped[str] = mapped_column(default="")  # of a rejection, if the platform requires it
    # The platform's message after a failure; otherwise empty.
    answer: Mapped[str] = mapped_column(SealedText)


class OutgoingReport(Base):
    """A report to a platform on the end of a session, stored in the transaction that ends it."""

    __tablename__ = "outgoing_report"
    __table_args__ = (UniqueConstraint("participant_id", "ending"), Index(None, "state", "next_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    ending: Mapped[str]  # experiment.participation.Ending
    state: Mapped[str]  # webapp.recruitment.reports.ReportState
    tries: Mapped[int] = mapped_column(default=0)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    next_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null: no more retries
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # committed before each call
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    answer: Mapped[str] = mapped_column(SealedText, default="")  # the platform's last response


class Coder(Base):
    """A person who codes typed answers, by a link."""

    __tablename__ = "coder"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    token: Mapped[str] = mapped_column(unique=True)  # random; part of the link
    label: Mapped[str] = mapped_column(SealedText)  # the researcher's label; in no export
    decides: Mapped[bool]  # whether this person decides disagreements, instead of coding
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Code(Base):
    """A coder's category of an answer, which is known only by a digest."""

    __tablename__ = "code"
    __table_args__ = (UniqueConstraint("coder_id", "round", "answer"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    coder_id: Mapped[int] = mapped_column(ForeignKey("coder.id"))
    round: Mapped[int]  # experiment.coding.rounds.Round
    answer: Mapped[str]  # the keyed digest of text and answer, or a training answer's number
    category: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class FrozenCoding(Base):
    """One version of a run's codes, which later codes do not change."""

    __tablename__ = "frozen_coding"
    __table_args__ = (UniqueConstraint("run_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    number: Mapped[int]  # from 1
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The codes of each answer (experiment.coding.rounds.Codes), by the answer's digest.
    codes: Mapped[dict[str, list[str]]] = mapped_column(JSON)
