"""A run: a study launched, with its materials, lists and places frozen."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base, UtcDateTime


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
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it is open


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
    __table_args__ = (UniqueConstraint("run_id", "item_id"), Index(None, "run_id", "list"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    list: Mapped[int]
    list_order: Mapped[int]  # the item's place in the built list, before any participant's order
    item_id: Mapped[str]
    kind: Mapped[str]  # the item's kind in this list
    item: Mapped[dict[str, str]] = mapped_column(JSON)  # the row of experiment.schemas.ITEMS


class Place(Base):
    """Room for one participant in one list; free while ``participant_id`` is null."""

    __tablename__ = "place"
    __table_args__ = (UniqueConstraint("run_id", "list", "place"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    list: Mapped[int]
    place: Mapped[int]
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), unique=True)
