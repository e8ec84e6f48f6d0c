"""What a user signs in with beside a password, and how they get a new one."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


class SecondFactor(Base):
    """The secret that a user's authenticator app shares with us (RFC 6238)."""

    __tablename__ = "second_factor"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), unique=True)
    secret: Mapped[str] = mapped_column(SealedText)  # base32
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # by a first code
    last_step: Mapped[int] = mapped_column(default=0)  # of the last code that was taken


class RecoveryCode(Base):
    """A code that stands once in the place of one of the app's."""

    __tablename__ = "recovery_code"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)  # SHA-256
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class PasswordLink(Base):
    """A link by which a user may give themselves a new password, once; it stands nowhere itself."""

    __tablename__ = "password_link"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_by: Mapped[str]
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
