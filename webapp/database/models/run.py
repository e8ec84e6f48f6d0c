"""A run: a study launched, with its materials, lists and places frozen."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class Run(Base):
    """One launch of a study; everything a reader must know to rebuild it."""

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
    currency: Mapped[str] = mapped_column(default="USD")  # of everything it pays, ISO 4217
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it is open
    # Up to when what identifies its people was erased, as the study says; null before.
    identities_erased_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    archived_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it is listed
    # Null for a run that everybody may see, by their role in the installation.
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))


class ConsentText(Base):
    """A text that participants of the run agreed to: the study's, and what is stored of them."""

    __tablename__ = "consent_text"
    __table_args__ = (UniqueConstraint("run_id", "version"), UniqueConstraint("run_id", "sha256"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    version: Mapped[int]  # of the run's, from 1, in the order in which they were first agreed to
    sha256: Mapped[str]  # of the text
    text: Mapped[str]
    first_agreed_at: Mapped[datetime] = mapped_column(UtcDateTime)


class StudyFile(Base):
    """A file of the run's study, frozen at launch, so that any server can show the run."""

    __tablename__ = "study_file"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    name: Mapped[str]  # its path in the study's folder, with "/" between the parts
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
    list_order: Mapped[int]  # the item's place in the built list, before any participant's order
    item_id: Mapped[str]
    kind: Mapped[str]  # the item's kind in this list
    item: Mapped[dict[str, str]] = mapped_column(JSON)  # the row of experiment.tables.schemas.ITEMS


class Place(Base):
    """Room for one participant in one list; free while ``participant_id`` is null."""

    __tablename__ = "place"
    __table_args__ = (
        UniqueConstraint("run_id", "list", "place"),
        # Holds free places alone, so that a list's next one is found among any number of taken.
        Index(
            "ix_place_free",
            "run_id",
            "list",
            "place",
            sqlite_where=text("participant_id IS NULL"),
            postgresql_where=text("participant_id IS NULL"),
        ),
        # Without the free ones, among which PostgreSQL would else look for those of one list.
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
    """A part of a count of a run's rows, which is the sum of its parts.

    The database's triggers keep it (``webapp.database.row_counts``). It has parts so that
    transactions that count at the same moment need not wait for each other.
    """

    __tablename__ = "run_count"
    __table_args__ = (Index(None, "run_id", "subject", "list"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    subject: Mapped[str]  # places, taken, responses, or participants and their state
    list: Mapped[int]  # 0 for what is not counted by list
    n: Mapped[int]
