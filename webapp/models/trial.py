"""A trial: one item as one participant is to see it."""

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models.base import Base


class Trial(Base):
    """Written once, when the participant gets a place; never changed."""

    __tablename__ = "trial"
    __table_args__ = (UniqueConstraint("participant_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    position: Mapped[int]  # from 1
    run_item_id: Mapped[int] = mapped_column(ForeignKey("run_item.id"))
    good_side: Mapped[str]  # experiment.records.Side; never sent to the browser
