"""What the database records of the installation: its stamps, and the erasures carried out."""

from datetime import datetime

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class Stamp(Base):
    """A short text under a name; the gate compares it with the instance folder's."""

    __tablename__ = "stamp"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    value: Mapped[str]


class Erasure(Base):
    """An entry of the record that was carried out in this database."""

    __tablename__ = "erasure"
    __table_args__ = (UniqueConstraint("deed", "digest", "mark"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    deed: Mapped[str]  # webapp.erasures.entry.Deed
    digest: Mapped[str]  # of what the person is known by, after its key's id
    at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    mark: Mapped[str] = mapped_column(
        default="", server_default=text("''")
    )  # of what may come again
    # What a correction says, sealed as in the record's file; empty of everything else.
    content: Mapped[str] = mapped_column(default="", server_default=text("''"))
