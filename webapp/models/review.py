"""A verdict: whether a participant's judgments enter the analysis."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base, UtcDateTime


class Verdict(Base):
    """What the exclusion rules decided about one participant, and on what evidence."""

    __tablename__ = "verdict"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    kept: Mapped[bool]
    rule: Mapped[str]
    evidence: Mapped[str]
    decided_at: Mapped[datetime] = mapped_column(UtcDateTime)
