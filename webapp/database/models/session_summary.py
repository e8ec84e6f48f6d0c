"""What a run's participants can be sorted by, gathered beforehand from their answers."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime

SORTED = (
    "answered", "minutes", "median_rt_ms", "fast", "same_side", "hidden", "waited_s", "n_events",
)  # fmt: skip


class SessionSummary(Base):
    """One session, as ``parallax summarise`` saw it; 0 where nothing was measured.

    All columns but the last are for sorting: what a page shows of them it reads from their own
    answers. To judge a session takes everybody else's answers too, so a page shows what was judged.
    """

    __tablename__ = "session_summary"
    __table_args__ = (
        *(
            Index(f"ix_session_summary_{column}", "run_id", column, "participant_id")
            for column in SORTED
        ),
        Index("ix_session_summary_flags", "run_id", "n_flags", "likelihood", "participant_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    answered: Mapped[int]
    minutes: Mapped[float]  # from consent to the end
    median_rt_ms: Mapped[float]
    fast: Mapped[int]  # answers that came in too quickly to have been read
    same_side: Mapped[float]  # share of the side that was chosen more often
    hidden: Mapped[int]  # trials during which the page was hidden or lost the focus
    waited_s: Mapped[float]  # the longest that an answer waited in the browser
    n_events: Mapped[int]
    n_flags: Mapped[int]
    likelihood: Mapped[float]  # agent_likelihood of the certificate
    # The certificate's figures, and whose times the session has, if it was copied.
    judged: Mapped[dict[str, Any]] = mapped_column(JSON)


class RunSummary(Base):
    """When a run's sessions were summarised, and what that took."""

    __tablename__ = "run_summary"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), unique=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    took_s: Mapped[float]
    responses: Mapped[int]  # of the run, when it was begun
    # What the run's page draws: webapp.runs.charts; null where a run was summarised before it was.
    charts: Mapped[dict[str, Any] | None] = mapped_column(JSON)
