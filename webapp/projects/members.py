"""The members of a project: each change is one act, and a project keeps a manager."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from webapp.database.models import ApiToken, AskedAct, Membership, Project, Run, User
from webapp.projects.projects import ProjectError
from webapp.projects.rights import ProjectRole
from webapp.users.audit_log import record_act

NOBODY = "none"  # the role of who is no member


def members(session: Session, project: Project) -> Sequence[tuple[User, ProjectRole]]:
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
    seen: str | None = None,
) -> None:
    """Make somebody a member, change their role, or remove them.

    Args:
        session: An open session that writes, and holds the project's lock.
        project: The project.
        user: Who.
        role: Their role from now on; None to remove them.
        by: Who changes it, for the audit log.
        now: The time.
        seen: The role that ``by`` saw when they decided; None where nobody saw any.

    Raises:
        ProjectError: Somebody else changed it meanwhile, no manager would be left, or who is to
            be removed is no member.
    """
    of_user = Membership.project_id == project.id, Membership.user_id == user.id
    found = session.scalar(select(Membership).where(*of_user))
    before = NOBODY if found is None else found.role
    if seen is not None and seen != before:
        raise _changed_meanwhile(project, user, seen, before)
    after = NOBODY if role is None else str(role)
    if before == after:
        if role is None:
            raise ProjectError(
                f'"{user.name}" is no member',
                where=f"project {project.name}",
                remedy=f"See who is: parallax projects members {project.name}",
            )
        return
    if before == ProjectRole.MANAGER:
        _refuse_without_manager(session, project, user)
    if found is None:
        session.add(Membership(project_id=project.id, user_id=user.id, role=after, made_at=now))
    elif role is None:
        session.delete(found)
    else:
        found.role = after
    session.flush()
    _take_back(session, project, user, now, removed=role is None)
    told = {"project": project.name, "user": user.name}
    act = (
        "member removed" if role is None else "member added" if found is None else "member changed"
    )
    record_act(
        session, by, act, now, before={**told, "role": before}, after={**told, "role": after}
    )


def _changed_meanwhile(project: Project, user: User, seen: str, now: str) -> ProjectError:
    return ProjectError(
        f'nothing was changed: the role of "{user.name}" was {seen} on the page that you sent,'
        f" and is {now} now; somebody changed it meanwhile",
        where=f"project {project.name}",
        remedy="Look at the members again, and repeat the change if it is still wanted",
    )


def _take_back(
    session: Session, project: Project, user: User, now: datetime, *, removed: bool
) -> None:
    """Forget what somebody asked for by a role that they have no more."""
    runs = select(Run.id).where(Run.project_id == project.id)
    session.execute(delete(AskedAct).where(AskedAct.who == user.name, AskedAct.run_id.in_(runs)))
    if removed:
        theirs = ApiToken.user_id == user.id, ApiToken.project_id == project.id
        session.execute(
            update(ApiToken).where(*theirs, ApiToken.revoked_at.is_(None)).values(revoked_at=now)
        )


def _refuse_without_manager(session: Session, project: Project, user: User) -> None:
    others = session.scalar(
        select(func.count())
        .select_from(Membership)
        .join(User, User.id == Membership.user_id)
        .where(Membership.project_id == project.id, Membership.role == ProjectRole.MANAGER)
        .where(User.disabled_at.is_(None), User.id != user.id)
    )
    if not others:
        raise ProjectError(
            f'"{user.name}" is the only manager left',
            where=f"project {project.name}",
            expected="at least one manager who can sign in",
            remedy="First make another member a manager",
        )
