"""Data about the installation: stamps, and the erasures carried out."""

from datetime import datetime

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class Stamp(Base):
    """A short named text; the gate compares some of them with files in the instance folder."""

    __tablename__ = "stamp"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    value: Mapped[str]


class Erasure(Base):
    """An entry of the record of erasures that was carried out in this database."""

    __tablename__ = "erasure"
    __table_args__ = (UniqueConstraint("deed", "digest", "mark"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    deed: Mapped[str]  # webapp.erasures.file.Deed
    digest: Mapped[str]  # of the person's mark, prefixed with the key's id
    at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    mark: Mapped[str] = mapped_column(default="", server_default=text("''"))  # of repeatable wishes
    # The content of a correction, sealed as in the record's file; empty for other entries.
    content: Mapped[str] = mapped_column(default="", server_default=text("''"))
