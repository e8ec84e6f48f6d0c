"""Invitations: a code, shown once, by which one person becomes a member of a project."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.models import Invitation, Membership, Project, User
from webapp.errors import RequestError
from webapp.projects.members import set_member
from webapp.projects.rights import ProjectRole
from webapp.users.audit_log import record_act

VALID_FOR = timedelta(days=7)


def invite(session: Session, project: Project, role: ProjectRole, *, by: str, now: datetime) -> str:
    """Return the code of a new invitation; it is shown once and cannot be read again."""
    code = secrets.token_urlsafe(32)
    session.add(
        Invitation(
            project_id=project.id, role=role, code_hash=_digest(code), made_by=by, made_at=now
        )
    )
    session.flush()
    after = {"project": project.name, "role": str(role)}
    record_act(session, by, "invitation made", now, after=after)
    return code


def open_invitations(session: Session, project: Project, now: datetime) -> Sequence[Invitation]:
    """Return the invitations that nobody has used yet, the latest first."""
    return session.scalars(
        select(Invitation)
        .where(Invitation.project_id == project.id, Invitation.used_at.is_(None))
        .where(Invitation.made_at > now - VALID_FOR)
        .order_by(Invitation.id.desc())
    ).all()


def take_back(session: Session, project: Project, number: int, *, by: str, now: datetime) -> None:
    """End an invitation that nobody has used yet; one that is used or unknown stays as it is."""
    of_it = Invitation.id == number, Invitation.project_id == project.id
    found = session.scalar(select(Invitation).where(*of_it, Invitation.used_at.is_(None)))
    if found is not None:
        found.used_at = now
        after = {"project": project.name, "role": found.role}
        record_act(session, by, "invitation taken back", now, after=after)


def invited_to(session: Session, code: str, now: datetime) -> tuple[Project, Invitation]:
    """Return what a code invites to, and hold it: nobody else uses it meanwhile.

    Raises:
        RequestError: It is no code, was used or taken back, or is too old.
    """
    found = session.execute(
        select(Project, Invitation)
        .join(Invitation, Invitation.project_id == Project.id)
        .where(Invitation.code_hash == _digest(code), Invitation.used_at.is_(None))
        .where(Invitation.made_at > now - VALID_FOR, Project.ended_at.is_(None))
        .with_for_update()
    ).first()
    if found is None:
        raise RequestError(
            "This code invites to nothing: it was mistyped, used, taken back, or is older than "
            f"{VALID_FOR.days} days. Ask the person who invited you for a new one.",
            status=404,
            code="no_invitation",
        )
    project, invitation = found
    return project, invitation


def accept(session: Session, code: str, user: User, now: datetime) -> Project:
    """Make a user a member by a code, which is used up then.

    Raises:
        RequestError: The code invites to nothing, or they are a member already.
    """
    project, invitation = invited_to(session, code, now)
    of_user = Membership.project_id == project.id, Membership.user_id == user.id
    if session.scalar(select(Membership.id).where(*of_user)) is not None:
        raise RequestError(
            f"You are a member of {project.name} already. Somebody else can still use the code.",
            status=409,
            code="member_already",
        )
    invitation.used_at = now
    who = f"{user.name} (invited by {invitation.made_by})"
    set_member(session, project, user, ProjectRole(invitation.role), by=who, now=now)
    return project


def _digest(code: str) -> str:
    return hashlib.sha256(code.strip().encode("utf-8", "surrogatepass")).hexdigest()
