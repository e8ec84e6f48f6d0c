"""The researchers who may see and run studies here, and what each of them did."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


class User(Base):
    """Somebody who signs in to the researcher's pages."""

    __tablename__ = "account"  # "user" is a word of SQL's own

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]  # webapp.users.roles.Role
    password_hash: Mapped[str]  # argon2id; empty for who signs in elsewhere
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # No longer read: researcher pages are in English. It stays for the sake of the schema.
    language: Mapped[str | None]


class SignIn(Base):
    """A browser in which somebody is signed in; the cookie's token itself is stored nowhere."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    browser: Mapped[str]  # its family, as the user tells their own sessions apart
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime)  # to within a few minutes
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class FailedSignIn(Base):
    """A wrong password, by digests of the name and the address it came from."""

    __tablename__ = "failed_sign_in"
    __table_args__ = (Index(None, "name_digest", "at"), Index(None, "address_digest", "at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    name_digest: Mapped[str]
    address_digest: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditEntry(Base):
    """One act on money, people, data or settings; append-only, each bound to the one before."""

    __tablename__ = "audit_entry"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(unique=True)  # from 1, without a gap
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    who: Mapped[str]  # the user's name, or the operating system's user of a command
    act: Mapped[str]  # such as "run closed"
    run_ref: Mapped[str | None] = mapped_column(index=True)
    before: Mapped[dict[str, str]] = mapped_column(JSON)
    after: Mapped[dict[str, str]] = mapped_column(JSON)
    previous_hash: Mapped[str]  # the entry's before it; empty for the first
    hash: Mapped[str]  # SHA-256 of all of the above


class AskedAct(Base):
    """An act that one person asked for, and that is done once another one has asked for it too."""

    __tablename__ = "asked_act"
    __table_args__ = (UniqueConstraint("run_id", "act", "digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    act: Mapped[str]  # as the key oversight.second_person of study.toml names it
    digest: Mapped[str]  # of what exactly is to be done
    told: Mapped[str]  # the same in words
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Unblinding(Base):
    """Somebody asked to see the results of a run while it was going on, and said why."""

    __tablename__ = "unblinding"
    __table_args__ = (UniqueConstraint("run_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    who: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
