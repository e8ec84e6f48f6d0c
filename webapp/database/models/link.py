"""Links that were given out: for many, for one person, for one list, or as codes to type in."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


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
