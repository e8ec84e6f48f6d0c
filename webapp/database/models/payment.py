"""The ledger: everything that is done with participants' money, before and after it is done."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class Payment(Base):
    """One payment or rejection; committed before the platform is called, and never deleted."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null for somebody who never became one
        ForeignKey("participant.id"), index=True
    )
    worker_id: Mapped[str]  # what the platform calls the payee
    assignment: Mapped[str | None]  # the platform's id; null until compensation was taken up
    kind: Mapped[str]  # experiment.payment.payment.PaymentKind
    amount_minor: Mapped[int]
    currency: Mapped[str] = mapped_column(default="USD")
    reason: Mapped[str]  # as the payee reads it
    token: Mapped[str] = mapped_column(unique=True)  # experiment.payment.payment.payment_token
    state: Mapped[str]  # experiment.payment.payment.PaymentState
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # the latest call
    # Where a platform pays in two steps: what it calls the set-up, and when it was told to pay it,
    # which it is at most once.
    set_up_id: Mapped[str | None]
    ordered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    category: Mapped[str] = mapped_column(default="")  # of a rejection, where the platform asks
    answer: Mapped[str]  # what the platform said when it was not done; else empty
