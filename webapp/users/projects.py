"""The projects of an installation, and users' rights in them."""

import re
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select, true, update
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.plugins import unknown_name
from webapp.database.models import (
    ApiToken,
    Invitation,
    Membership,
    Participant,
    Project,
    Run,
    User,
)
from webapp.errors import WebappError
from webapp.users.audit_log import record_act
from webapp.users.roles import ALL_RIGHTS, COMMON_RIGHTS, ROLE_RIGHTS, ProjectRole, Right, Role

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
# Enough for a laboratory, and no more than a twentieth of the load that a server of docs/scale.md
# supports.
LIMITS = {"most_runs": 20, "most_participants": 500, "most_upload_mb": 500, "most_jobs": 2}


class ProjectError(WebappError):
    """A change of a project or its members is not possible."""


def add_project(session: Session, name: str, *, by: str, now: datetime) -> Project:
    """Create a project, with the default limits.

    Raises:
        ProjectError: The name is not valid, or is taken.
    """
    if not _NAME.fullmatch(name):
        raise ProjectError(
            f"{name!r} cannot be a project's name",
            expected="1 to 64 letters, digits and . _ -, of which the first is a letter or digit",
        )
    if session.scalar(select(Project.id).where(Project.name == name)) is not None:
        raise ProjectError(
            f'a project "{name}" already exists', remedy="Give the project another name"
        )
    project = Project(name=name, made_at=now, **LIMITS)
    session.add(project)
    session.flush()
    record_act(session, by, "project added", now, after={"project": name})
    return project


def find_project(session: Session, name: str, *, change: bool = False) -> Project:
    """Return the project of that name, even one that has ended.

    Args:
        session: An open session.
        name: The project's name.
        change: Whether to lock it, because it or its members are about to change.

    Raises:
        ProjectError: There are no projects.
        UnknownNameError: There is no such project; the message lists the known ones.
    """
    of_name = select(Project).where(Project.name == name)
    project = session.scalar(of_name.with_for_update() if change else of_name)
    if project is not None:
        return project
    names = list(session.scalars(select(Project.name)))
    if names:
        raise unknown_name("project", name, names)
    raise ProjectError(
        f'there is no project "{name}": none exists here yet',
        remedy=f"Add one with: parallax projects add {name}",
    )


def find_open_project(session: Session, name: str, *, change: bool = False) -> Project:
    """Return the project of that name, which has not ended.

    Raises:
        ProjectError: The project has ended, or there are no projects.
        UnknownNameError: There is no such project.
    """
    project = find_project(session, name, change=change)
    if project.ended_at is not None:
        raise ProjectError(
            f'the project "{name}" has ended', remedy="Add another one, under another name"
        )
    return project


def set_limits(
    session: Session, project: Project, limits: dict[str, int], *, by: str, now: datetime
) -> None:
    """Change a project's limits; usage above a new limit stays.

    Raises:
        ProjectError: A limit is not a whole number from 0 to a million.
    """
    for name, value in limits.items():
        if name not in LIMITS or not 0 <= value <= 1_000_000:
            raise ProjectError(
                f"{value} cannot be a limit", expected="a whole number from 0 to 1,000,000"
            )
    old_limits = {name: str(getattr(project, name)) for name in limits}
    for name, value in limits.items():
        setattr(project, name, value)
    new_limits = {"project": project.name} | {name: str(value) for name, value in limits.items()}
    record_act(session, by, "limits changed", now, before=old_limits, after=new_limits)


def check_may_end(session: Session, project: Project) -> None:
    """Check that nobody can take part in a project.

    Raises:
        ProjectError: A run of it is open, or participants are active.
    """
    in_project = Run.project_id == project.id
    open_runs = session.scalars(select(Run.ref).where(in_project, Run.closed_at.is_(None))).all()
    at_work = session.scalar(
        select(func.count())
        .select_from(Participant)
        .join(Run, Run.id == Participant.run_id)
        .where(in_project, Participant.state.in_((State.WORKING, State.ANSWERED)))
    )
    if open_runs or at_work:
        raise ProjectError(
            f'the project "{project.name}" was not ended: people can take part in it'
            f" ({len(open_runs)} open runs, {at_work} people taking part)",
            expected="closed runs, in which nobody is taking part",
            remedy=f"Close its runs ({', '.join(open_runs) or 'done'}) and wait until everybody"
            " has finished or left",
        )


def end_project(session: Session, project: Project, *, by: str, now: datetime) -> None:
    """End a project: its members lose access; its runs and data stay, visible only to owners.

    Raises:
        ProjectError: A run of it is open, or participants are active.
    """
    check_may_end(session, project)
    if project.ended_at is None:
        project.ended_at = now
        for table, column in ((ApiToken, "revoked_at"), (Invitation, "used_at")):
            unused = table.project_id == project.id, getattr(table, column).is_(None)
            session.execute(update(table).where(*unused).values({column: now}))
        record_act(session, by, "project ended", now, after={"project": project.name})


def get_project_name(session: Session, run: Run) -> str:
    """Return the name of a run's project; empty if it belongs to none."""
    return "" if run.project_id is None else session.get_one(Project, run.project_id).name


def get_project_rights(session: Session, user: User, project_id: int | None) -> frozenset[Right]:
    """Return a user's rights in a project; None stands for runs without a project."""
    if user.role == Role.OWNER:
        return ALL_RIGHTS
    if project_id is None:
        return COMMON_RIGHTS[Role(user.role)]
    role = session.scalar(
        select(Membership.role)
        .join(Project, Project.id == Membership.project_id)
        .where(Membership.project_id == project_id, Membership.user_id == user.id)
        .where(Project.ended_at.is_(None))
    )
    return frozenset() if role is None else ROLE_RIGHTS[ProjectRole(role)]


def list_projects(session: Session, user: User) -> Sequence[Project]:
    """Return the projects that a user sees, by name: an owner sees all."""
    return session.scalars(
        select(Project)
        .where(_filter_visible_projects(user))
        .order_by(Project.ended_at.is_not(None), Project.name)
    ).all()


def filter_visible_runs(user: User) -> ColumnElement[bool]:
    """Return a condition on ``Run`` for the runs that a user sees."""
    if user.role == Role.OWNER:
        return true()
    in_projects = Run.project_id.in_(select(Project.id).where(_filter_visible_projects(user)))
    if COMMON_RIGHTS[Role(user.role)]:
        return or_(Run.project_id.is_(None), in_projects)
    return in_projects


def _filter_visible_projects(user: User) -> ColumnElement[bool]:
    if user.role == Role.OWNER:
        return true()
    memberships = select(Membership.project_id).where(Membership.user_id == user.id)
    return Project.ended_at.is_(None) & Project.id.in_(memberships)
