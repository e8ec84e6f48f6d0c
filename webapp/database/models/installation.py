"""Data of the installation: accounts, projects, the audit log, notices, stamps and erasures."""

from datetime import datetime

from sqlalchemy import (
    JSON,
    Connection,
    ForeignKey,
    Index,
    UniqueConstraint,
    delete,
    insert,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


class User(Base):
    """A person who signs in to the researcher pages."""

    __tablename__ = "account"  # "user" is an SQL keyword

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]  # webapp.users.roles.Role
    password_hash: Mapped[str]  # argon2id; empty for external sign-in
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # No longer used, because researcher pages are in English; kept for the schema.
    language: Mapped[str | None]


class SignIn(Base):
    """A signed-in browser; the cookie's token itself is not stored."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    browser: Mapped[str]  # its family, to help users recognise their sessions
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime)  # to within a few minutes
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class FailedSignIn(Base):
    """A failed attempt to sign in, with digests of the user name and the address."""

    __tablename__ = "failed_sign_in"
    __table_args__ = (Index(None, "name_digest", "at"), Index(None, "address_digest", "at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    name_digest: Mapped[str]
    address_digest: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditEntry(Base):
    """One action on money, people, data or settings; append-only, chained by hashes."""

    __tablename__ = "audit_entry"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(unique=True)  # from 1, without gaps
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    who: Mapped[str]  # the user's name, or a command's operating system user
    act: Mapped[str]  # such as "run closed"
    run_ref: Mapped[str | None] = mapped_column(index=True)
    before: Mapped[dict[str, str]] = mapped_column(JSON)
    after: Mapped[dict[str, str]] = mapped_column(JSON)
    previous_hash: Mapped[str]  # the previous entry's; empty for the first
    hash: Mapped[str]  # SHA-256 of all fields above


class RequestedAct(Base):
    """An action requested by one person, carried out once a second person requests it too."""

    __tablename__ = "asked_act"
    __table_args__ = (UniqueConstraint("run_id", "act", "digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    act: Mapped[str]  # as named in oversight.second_person of study.toml
    digest: Mapped[str]  # of the exact action
    told: Mapped[str]  # the action in words
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Unblinding(Base):
    """A request to see the results of a running study, with the reason."""

    __tablename__ = "unblinding"
    __table_args__ = (UniqueConstraint("run_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    who: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class SecondFactor(Base):
    """The secret shared with a user's authenticator app (RFC 6238)."""

    __tablename__ = "second_factor"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), unique=True)
    secret: Mapped[str] = mapped_column(SealedText)  # base32
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # with a first code
    last_step: Mapped[int] = mapped_column(default=0)  # of the last accepted code


class RecoveryCode(Base):
    """A single-use code that replaces a code of the authenticator app."""

    __tablename__ = "recovery_code"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)  # SHA-256
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class PasswordLink(Base):
    """A single-use link for setting a new password; only its digest is stored."""

    __tablename__ = "password_link"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_by: Mapped[str]
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Project(Base):
    """A project: one or several studies of the same group; only members see its runs."""

    __tablename__ = "project"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it has members
    # The project's limits; 0 means no limit.
    most_runs: Mapped[int]  # open ones
    most_participants: Mapped[int]  # participants at work, in all its runs together
    most_upload_mb: Mapped[int]  # uploaded studies
    most_jobs: Mapped[int]  # simultaneous checks, launches and reports


class Membership(Base):
    """A user's role in a project."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("project_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    role: Mapped[str]  # webapp.users.roles.ProjectRole
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Invitation(Base):
    """A code with which one person becomes a member; only its hash is stored."""

    __tablename__ = "invitation"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    role: Mapped[str]
    code_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_by: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # also when it was revoked


class ApiToken(Base):
    """A token with which a program acts for a user; only its hash is stored."""

    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))  # null: all projects
    label: Mapped[str]  # its purpose, in the user's words
    scopes: Mapped[str]  # separated by spaces
    token_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # to within a few minutes
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ProjectJob(Base):
    """A long-running job of a project that has its own process at this moment."""

    __tablename__ = "project_job"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    begun_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Note(Base):
    """A researcher's free-text note; in no export, and erased with its participant."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null for a note about the run
        ForeignKey("participant.id"), index=True
    )
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    text: Mapped[str]


class Tag(Base):
    """A researcher's tag on a run or participant; in no export, and erased with its participant."""

    __tablename__ = "tag"
    __table_args__ = (Index(None, "run_id", "name", "participant_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    name: Mapped[str]  # in lower case
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Notification(Base):
    """An address at which a user receives notifications, and their kinds."""

    __tablename__ = "notification"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    way: Mapped[str]  # webapp.jobs.notices.Way
    address: Mapped[str] = mapped_column(SealedText)  # a webhook's URL is a secret
    causes: Mapped[str]  # webapp.jobs.notices.Cause, joined by spaces
    quiet_minutes: Mapped[int]  # minutes without an answer while participants work
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Notice(Base):
    """One notification, sent once to one address; it identifies no participant."""

    __tablename__ = "notice"
    __table_args__ = (UniqueConstraint("notification_id", "about"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("notification.id"))
    about: Mapped[str]  # identifies the occasion, so that it is sent only once
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    tries: Mapped[int] = mapped_column(default=0)
    # Null once it is sent or has finally failed.
    next_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str] = mapped_column(default="")  # why the last attempt failed


class Stamp(Base):
    """A short named text; the gate compares some of them with files in the instance folder."""

    __tablename__ = "stamp"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    value: Mapped[str]


def stamp_of(connection: Connection, name: str) -> str | None:
    """Return the installation's stored value with this name; None if there is none."""
    return connection.scalar(select(Stamp.value).where(Stamp.name == name))


def set_stamp(connection: Connection, name: str, value: str) -> None:
    """Set the stamp with a name, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name == name))
    connection.execute(insert(Stamp), {"name": name, "value": value})


def delete_stamps(connection: Connection, prefix: str) -> None:
    """Delete every stamp whose name has this prefix, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name.startswith(prefix, autoescape=True)))


class Erasure(Base):
    """An entry of the record of erasures that was carried out in this database."""

    __tablename__ = "erasure"
    __table_args__ = (UniqueConstraint("deed", "digest", "mark"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    deed: Mapped[str]  # webapp.erasures.file.WishKind
    digest: Mapped[str]  # of the person's mark, prefixed with the key's id
    at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    mark: Mapped[str] = mapped_column(default="", server_default=text("''"))  # of repeatable wishes
    # The content of a correction, sealed as in the record's file; empty for other entries.
    content: Mapped[str] = mapped_column(default="", server_default=text("''"))
