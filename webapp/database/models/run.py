"""A run: a launched study with its materials, lists and places frozen."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


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
    """A part of a count of a run's rows; the count is the sum of its parts.

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
