"""``parallax projects``: the owners of runs, and the limits of each project."""

from pathlib import Path

import click
from sqlalchemy import select

from experiment.tables.files import text_table
from webapp.commands.options import (
    add_instance_option,
    add_new_instance_option,
    name_operator,
    open_sessions,
)
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Project
from webapp.payments.debts import describe_project_debts
from webapp.users import limits as use
from webapp.users import projects as flow
from webapp.users.members import list_members as members_of
from webapp.users.members import make_invitation as invite_
from webapp.users.members import set_member
from webapp.users.roles import ProjectRole
from webapp.users.users import find_user

_ROLE_CHOICE = click.Choice([str(role) for role in ProjectRole])


@click.group()
def projects() -> None:
    """Manage projects: their members and limits."""


@projects.command("list")
@add_instance_option
def list_(instance: Path) -> None:
    """List the projects, what each uses, and what it may use."""
    with reading(open_sessions(instance)) as session:
        rows = [
            (
                project.name,
                "ended" if project.ended_at else "open",
                _format_limit(use.count_open_runs(session, project), project.most_runs),
                _format_limit(
                    use.count_active_participants(session, project), project.most_participants
                ),
                str(project.most_upload_mb or "any"),
                _format_limit(use.count_jobs(session, project), project.most_jobs),
            )
            for project in session.scalars(select(Project).order_by(Project.name))
        ]
    header = ("project", "state", "open runs", "people at work", "upload MB", "jobs")
    click.echo(text_table(header, rows) if rows else "There are no projects yet.")


@projects.command()
@click.argument("name")
@add_new_instance_option
def add(name: str, instance: Path) -> None:
    """Add a project NAME, which has no member yet."""
    with open_sessions(instance).begin() as session:
        flow.add_project(session, name, by=name_operator(), now=utc_now())
    click.echo(
        f"{name} is added. To give it a manager: parallax projects member {name} USER manager"
    )


@projects.command()
@click.argument("name")
@click.option("--runs", type=int, help="How many runs may be open.")
@click.option("--participants", type=int, help="How many people may take part at once.")
@click.option("--upload-mb", type=int, help="How many MB of uploaded studies are kept.")
@click.option("--jobs", type=int, help="How many checks, launches and reports may run at once.")
@add_instance_option
def limits(
    name: str,
    runs: int | None,
    participants: int | None,
    upload_mb: int | None,
    jobs: int | None,
    instance: Path,
) -> None:
    """Change how much the project NAME may use.

    0 means no limit.
    """
    changed = {
        "most_runs": runs,
        "most_participants": participants,
        "most_upload_mb": upload_mb,
        "most_jobs": jobs,
    }
    new_limits = {key: value for key, value in changed.items() if value is not None}
    with open_sessions(instance).begin() as session:
        project = flow.find_open_project(session, name, change=True)
        if new_limits:
            flow.set_limits(session, project, new_limits, by=name_operator(), now=utc_now())
        summary = ", ".join(
            f"{getattr(project, key) or 'any number of'} {key[5:]}" for key in changed
        )
    click.echo(f"{name} may use: {summary}.".replace("_", " "))


@projects.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask, even if people are still owed money.")
@add_instance_option
def end(name: str, yes: bool, instance: Path) -> None:
    """End the project NAME for its members.

    Owners keep its runs and their data. If people are still owed money, it names them and
    asks.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        owed = describe_project_debts(session, flow.find_project(session, name))
    if owed:
        click.echo(f"{owed}.")
        if not yes:
            click.confirm("End the project all the same?", abort=True)
    with sessions.begin() as session:
        project = flow.find_project(session, name, change=True)
        flow.end_project(session, project, by=name_operator(), now=utc_now())
    click.echo(f"{name} has ended. Owners still see its runs.")


@projects.command()
@click.argument("name")
@add_instance_option
def members(name: str, instance: Path) -> None:
    """List the members of the project NAME."""
    with reading(open_sessions(instance)) as session:
        members_ = members_of(session, flow.find_project(session, name))
        rows = [(user.name, str(role)) for user, role in members_]
    click.echo(text_table(("user", "role"), rows) if rows else f"{name} has no members yet.")


@projects.command()
@click.argument("name")
@click.argument("user")
@click.argument("role", type=_ROLE_CHOICE)
@add_instance_option
def member(name: str, user: str, role: str, instance: Path) -> None:
    """Give USER the ROLE in the project NAME."""
    _change_membership(instance, name, user, ProjectRole(role))
    click.echo(f"{user} is {role} in {name} from now on.")


@projects.command("remove")
@click.argument("name")
@click.argument("user")
@add_instance_option
def remove_member(name: str, user: str, instance: Path) -> None:
    """Remove USER from the project NAME; their access ends at once."""
    _change_membership(instance, name, user, None)
    click.echo(f"{user} is no longer a member of {name}.")


@projects.command()
@click.argument("name")
@click.argument("role", type=_ROLE_CHOICE)
@add_instance_option
def invite(name: str, role: str, instance: Path) -> None:
    """Print a code that makes one person ROLE in NAME."""
    with open_sessions(instance).begin() as session:
        project = flow.find_open_project(session, name, change=True)
        code = invite_(session, project, ProjectRole(role), by=name_operator(), now=utc_now())
    click.echo("Send this code to one person; it works once, within seven days, at the page")
    click.echo("/researcher/join of the server:")
    click.echo(code)


def _change_membership(instance: Path, name: str, user: str, role: ProjectRole | None) -> None:
    with open_sessions(instance).begin() as session:
        project = flow.find_open_project(session, name, change=True)
        who = find_user(session, user)
        set_member(session, project, who, role, by=name_operator(), now=utc_now())


def _format_limit(used: int, most: int) -> str:
    return f"{used} of {most}" if most else f"{used}"
