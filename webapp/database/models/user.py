"""Researchers: their accounts, second factors, projects, notes, notifications, and their acts."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import SealedText


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


class Project(Base):
    """A study, or several of the same people: who is no member sees nothing of its runs."""

    __tablename__ = "project"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # null while it has members
    # The most that it may use at a time; 0 stands for any number.
    most_runs: Mapped[int]  # open ones
    most_participants: Mapped[int]  # people at work, in all of its runs together
    most_upload_mb: Mapped[int]  # uploaded studies
    most_jobs: Mapped[int]  # checks, launches and reports


class Membership(Base):
    """What somebody may do in a project."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("project_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    role: Mapped[str]  # webapp.projects.rights.ProjectRole
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Invitation(Base):
    """A code by which one person becomes a member; the code itself is stored nowhere."""

    __tablename__ = "invitation"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    role: Mapped[str]
    code_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_by: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # also when it was taken back


class ApiToken(Base):
    """What a program shows instead of a user's cookie; the token itself is stored nowhere."""

    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))  # null: all of theirs
    label: Mapped[str]  # what it is for, in its user's words
    scopes: Mapped[str]  # separated by spaces
    token_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # to within a few minutes
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ProjectJob(Base):
    """Long work of a project that a process of its own does right now."""

    __tablename__ = "project_job"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    begun_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Note(Base):
    """A remark in a researcher's words; in no export, and erased with the person it is about."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(  # null of a note about the run
        ForeignKey("participant.id"), index=True
    )
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    text: Mapped[str]


class Tag(Base):
    """A word by which a run or a person is found again; likewise."""

    __tablename__ = "tag"
    __table_args__ = (Index(None, "run_id", "name", "participant_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    name: Mapped[str]  # in small letters
    who: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Notification(Base):
    """An address to which a user wants to be told, and of what."""

    __tablename__ = "notification"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    way: Mapped[str]  # webapp.notifications.notices.Way
    address: Mapped[str] = mapped_column(SealedText)  # a webhook's is as good as a password
    causes: Mapped[str]  # webapp.notifications.notices.Cause, joined by spaces
    quiet_minutes: Mapped[int]  # without an answer while somebody is at work
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Notice(Base):
    """One thing that is told once at one address; it names no participant."""

    __tablename__ = "notice"
    __table_args__ = (UniqueConstraint("notification_id", "about"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("notification.id"))
    about: Mapped[str]  # the same for the same thing, so that it is told once
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    tries: Mapped[int] = mapped_column(default=0)
    # Null once it is sent, or given up.
    next_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str] = mapped_column(default="")  # why the last try failed
