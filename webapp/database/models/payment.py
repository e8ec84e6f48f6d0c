"""The ledger: everything that is done with participants' money, before and after it is done."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, column_property, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import Name, SealedText, name_of


class Payment(Base):
    """One payment or rejection; committed before the platform is called, and never deleted."""

    __tablename__ = "payment"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null for somebody who never became one
        ForeignKey("participant.id"), index=True
    )
    worker_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _worker_id: Mapped[str] = column_property(name_of(worker_key), expire_on_flush=False)
    worker_id = Name[str]("worker_key")  # what the platform calls the payee
    work_key: Mapped[int | None] = mapped_column(ForeignKey("identity.id"), index=True)
    _assignment: Mapped[str | None] = column_property(name_of(work_key), expire_on_flush=False)
    # The platform's id; null until compensation was taken up.
    assignment = Name[str | None]("work_key")
    kind: Mapped[str]  # experiment.payment.payment.PaymentKind
    amount_minor: Mapped[int]
    currency: Mapped[str] = mapped_column(default="USD")
    reason: Mapped[str] = mapped_column(SealedText)  # as the payee reads it
    token: Mapped[str] = mapped_column(unique=True)  # experiment.payment.payment.payment_token
    state: Mapped[str]  # experiment.payment.payment.PaymentState
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    called_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # the latest call
    # Where a platform pays in two steps: what it calls the set-up, and when it was told to pay it,
    # which it is at most once.
    set_up_id: Mapped[str | None] = mapped_column(SealedText)
    ordered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # How many bonuses of this amount the work showed when the platform was about to be told.
    shown_before: Mapped[int | None]
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    category: Mapped[str] = mapped_column(default="")  # of a rejection, where the platform asks
    # What the platform said when it was not done; else empty.
    answer: Mapped[str] = mapped_column(SealedText)
