"""Projects: the boundary around runs, with its members, invitations, tokens and limits."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base, UtcDateTime


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
