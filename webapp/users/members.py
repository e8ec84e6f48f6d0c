"""The members of a project, and invitations to it; a project keeps at least one manager."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from webapp.database.models import (
    ApiToken,
    Invitation,
    Membership,
    Project,
    RequestedAct,
    Run,
    User,
)
from webapp.errors import RequestError
from webapp.users.audit_log import record_act
from webapp.users.projects import ProjectError
from webapp.users.roles import ProjectRole

NOBODY = "none"  # the role of a user who is not a member


def list_members(session: Session, project: Project) -> Sequence[tuple[User, ProjectRole]]:
    """Return a project's members and their roles, by name."""
    rows = session.execute(
        select(User, Membership.role)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.project_id == project.id)
        .order_by(User.name)
    )
    return [(user, ProjectRole(role)) for user, role in rows]


def set_member(
    session: Session,
    project: Project,
    user: User,
    role: ProjectRole | None,
    *,
    by: str,
    now: datetime,
    shown_role: str | None = None,
) -> None:
    """Add a member, change their role, or remove them.

    Args:
        session: An open session that writes, and holds the project's lock.
        project: The project.
        user: The user.
        role: The new role; None to remove the member.
        by: The user who makes the change, for the audit log.
        now: The time.
        shown_role: The role that ``by`` saw when deciding; None if no role was shown.

    Raises:
        ProjectError: The role was changed meanwhile, no manager would be left, or the user to
            remove is not a member.
    """
    of_user = Membership.project_id == project.id, Membership.user_id == user.id
    membership = session.scalar(select(Membership).where(*of_user))
    old_role = NOBODY if membership is None else membership.role
    if shown_role is not None and shown_role != old_role:
        raise _make_stale_role_error(project, user, shown_role, old_role)
    new_role = NOBODY if role is None else str(role)
    if old_role == new_role:
        if role is None:
            raise ProjectError(
                f'"{user.name}" is not a member',
                where=f"project {project.name}",
                remedy=f"See who is: parallax projects members {project.name}",
            )
        return
    if old_role == ProjectRole.MANAGER:
        _check_manager_remains(session, project, user)
    if membership is None:
        session.add(Membership(project_id=project.id, user_id=user.id, role=new_role, made_at=now))
    elif role is None:
        session.delete(membership)
    else:
        membership.role = new_role
    session.flush()
    _remove_granted_access(session, project, user, now, removed=role is None)
    entry = {"project": project.name, "user": user.name}
    act = (
        "member removed"
        if role is None
        else "member added"
        if membership is None
        else "member changed"
    )
    record_act(
        session, by, act, now, before={**entry, "role": old_role}, after={**entry, "role": new_role}
    )


def _make_stale_role_error(
    project: Project, user: User, shown_role: str, current_role: str
) -> ProjectError:
    return ProjectError(
        f'nothing was changed: the role of "{user.name}" was {shown_role} on the page that you '
        f"sent, and is {current_role} now; somebody changed it meanwhile",
        where=f"project {project.name}",
        remedy="Look at the members again, and repeat the change if it is still wanted",
    )


def _remove_granted_access(
    session: Session, project: Project, user: User, now: datetime, *, removed: bool
) -> None:
    """Remove the requests and, of a removed member, the tokens that an earlier role allowed."""
    runs = select(Run.id).where(Run.project_id == project.id)
    session.execute(
        delete(RequestedAct).where(RequestedAct.who == user.name, RequestedAct.run_id.in_(runs))
    )
    if removed:
        removed_tokens = ApiToken.user_id == user.id, ApiToken.project_id == project.id
        session.execute(
            update(ApiToken)
            .where(*removed_tokens, ApiToken.revoked_at.is_(None))
            .values(revoked_at=now)
        )


def _check_manager_remains(session: Session, project: Project, user: User) -> None:
    n_other_managers = session.scalar(
        select(func.count())
        .select_from(Membership)
        .join(User, User.id == Membership.user_id)
        .where(Membership.project_id == project.id, Membership.role == ProjectRole.MANAGER)
        .where(User.disabled_at.is_(None), User.id != user.id)
    )
    if not n_other_managers:
        raise ProjectError(
            f'"{user.name}" is the only manager left',
            where=f"project {project.name}",
            expected="at least one manager who can sign in",
            remedy="First make another member a manager",
        )


INVITATION_VALID_FOR = timedelta(days=7)


def make_invitation(
    session: Session, project: Project, role: ProjectRole, *, by: str, now: datetime
) -> str:
    """Return the code of a new invitation; it is shown once and cannot be read again."""
    code = secrets.token_urlsafe(32)
    session.add(
        Invitation(
            project_id=project.id, role=role, code_hash=_hash_code(code), made_by=by, made_at=now
        )
    )
    session.flush()
    details = {"project": project.name, "role": str(role)}
    record_act(session, by, "invitation made", now, after=details)
    return code


def list_open_invitations(
    session: Session, project: Project, now: datetime
) -> Sequence[Invitation]:
    """Return the unused invitations, the latest first."""
    return session.scalars(
        select(Invitation)
        .where(Invitation.project_id == project.id, Invitation.used_at.is_(None))
        .where(Invitation.made_at > now - INVITATION_VALID_FOR)
        .order_by(Invitation.id.desc())
    ).all()


def withdraw_invitation(
    session: Session, project: Project, number: int, *, by: str, now: datetime
) -> None:
    """Revoke an unused invitation; a used or unknown one is left unchanged."""
    invitation_id = Invitation.id == number, Invitation.project_id == project.id
    invitation = session.scalar(
        select(Invitation).where(*invitation_id, Invitation.used_at.is_(None))
    )
    if invitation is not None:
        invitation.used_at = now
        details = {"project": project.name, "role": invitation.role}
        record_act(session, by, "invitation taken back", now, after=details)


def find_invitation(
    session: Session, code: str, now: datetime, *, change: bool = False
) -> tuple[Project, Invitation]:
    """Return the project and invitation of a code.

    Args:
        session: An open session.
        code: The code.
        now: The time.
        change: Whether to lock both, because the code is about to be used.

    Raises:
        RequestError: The code is invalid, used, revoked or expired.
    """
    of_code = (
        select(Project, Invitation)
        .join(Invitation, Invitation.project_id == Project.id)
        .where(Invitation.code_hash == _hash_code(code), Invitation.used_at.is_(None))
        .where(Invitation.made_at > now - INVITATION_VALID_FOR, Project.ended_at.is_(None))
    )
    row = session.execute(of_code.with_for_update() if change else of_code).first()
    if row is None:
        raise RequestError(
            "This code is not a valid invitation: it was mistyped, used, revoked, or is older than "
            f"{INVITATION_VALID_FOR.days} days. Ask the person who invited you for a new one.",
            status=404,
            code="no_invitation",
        )
    project, invitation = row
    return project, invitation


def accept_invitation(session: Session, code: str, user: User, now: datetime) -> Project:
    """Make a user a member by an invitation code, which is then used up.

    Raises:
        RequestError: The code is not valid, or the user is a member already.
    """
    project, invitation = find_invitation(session, code, now, change=True)
    of_user = Membership.project_id == project.id, Membership.user_id == user.id
    if session.scalar(select(Membership.id).where(*of_user)) is not None:
        raise RequestError(
            f"You are a member of {project.name} already. Somebody else can still use the code.",
            status=409,
            code="member_already",
        )
    invitation.used_at = now
    actor = f"{user.name} (invited by {invitation.made_by})"
    set_member(session, project, user, ProjectRole(invitation.role), by=actor, now=now)
    return project


def _hash_code(code: str) -> str:
    return hashlib.sha256(code.strip().encode("utf-8", "surrogatepass")).hexdigest()
