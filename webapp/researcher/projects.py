"""The pages of projects: members, invitations, limits, and joining by a code."""

from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.database.models import Project, User
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError
from webapp.payments.debts import describe_project_debts
from webapp.researcher.access import current_user, require_access
from webapp.researcher.run_checks import describe_refusal
from webapp.researcher.study_folders import get_project_uploads, measure_folder_bytes
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import current_services
from webapp.users import limits
from webapp.users.members import (
    accept_invitation,
    find_invitation,
    list_members,
    list_open_invitations,
    make_invitation,
    set_member,
    withdraw_invitation,
)
from webapp.users.passwords import SHORTEST_PASSWORD, hash_password
from webapp.users.projects import (
    LIMITS,
    ProjectError,
    add_project,
    check_may_end,
    end_project,
    find_open_project,
    find_project,
    list_projects,
    set_limits,
)
from webapp.users.roles import ProjectRole, Right, Role
from webapp.users.users import add_user

project_pages = Blueprint("projects", __name__)
_DIGITS = 8


@project_pages.get("/projects")
@require_access(Role.MEMBER)
def show_projects() -> str:
    """List the projects that the user may see."""
    return _render_project_list()


@project_pages.post("/projects")
@require_access(Role.OWNER)
def create_project() -> ResponseReturnValue:
    """Create a project."""
    services, name = current_services(), request.form.get("name", "").strip()
    try:
        with services.sessions.begin() as session:
            add_project(session, name, by=current_user().name, now=services.now())
    except ProjectError as error:
        return _render_project_list(str(error)), 409
    return redirect(url_for("projects.show_project", project=name), 303)


@project_pages.get("/projects/<project>")
@require_access(Right.SEE)
def show_project(project: str) -> str:
    """Show a project's members, and its usage."""
    return _render_project_page(project)


@project_pages.post("/projects/<project>/members")
@require_access(Right.MANAGE)
def change_member(project: str) -> Response:
    """Add a user who has an account, change a member's role, or remove a member."""
    name, typed_role = request.form.get("name", "").strip(), request.form.get("role", "")
    role_on_page = request.form.get("seen")

    def change(session: Session) -> None:
        locked_project = find_open_project(session, project, change=True)
        role = None if typed_role == "none" else _parse_role(typed_role)
        user = _find_account(session, name)
        user_name, now = current_user().name, current_services().now()
        set_member(
            session, locked_project, user, role, by=user_name, now=now, shown_role=role_on_page
        )

    return _change_project(project, change)


@project_pages.post("/projects/<project>/invitations")
@require_access(Right.MANAGE)
def create_invitation(project: str) -> str:
    """Create an invitation and show its code once."""
    role, services = _parse_role(request.form.get("role", "")), current_services()
    with services.sessions.begin() as session:
        locked_project = find_open_project(session, project, change=True)
        code = make_invitation(
            session, locked_project, role, by=current_user().name, now=services.now()
        )
    address = services.settings.link_base + url_for("joining.show_join_form")
    return render_template(
        "researcher/invitation.html", project=project, role=role, code=code, address=address
    )


@project_pages.post("/projects/<project>/invitations/end")
@require_access(Right.MANAGE)
def revoke_invitation(project: str) -> Response:
    """Revoke an unused invitation."""
    number = parse_whole_number(request.form.get("number", ""), _DIGITS, otherwise=-1)

    def change(session: Session) -> None:
        locked_project = find_open_project(session, project, change=True)
        user_name, now = current_user().name, current_services().now()
        withdraw_invitation(session, locked_project, number, by=user_name, now=now)

    return _change_project(project, change)


@project_pages.post("/projects/<project>/limits")
@require_access(Role.OWNER)
def change_limits(project: str) -> Response:
    """Change a project's limits."""
    new_limits = {
        name: parse_whole_number(request.form.get(name, ""), _DIGITS, otherwise=-1)
        for name in LIMITS
    }

    def change(session: Session) -> None:
        locked_project = find_open_project(session, project, change=True)
        user_name, now = current_user().name, current_services().now()
        set_limits(session, locked_project, new_limits, by=user_name, now=now)

    return _change_project(project, change)


@project_pages.post("/projects/<project>/end")
@require_access(Role.OWNER)
def close_project(project: str) -> Response:
    """End a project: its members lose access."""
    if not request.form.get("although_owed"):
        with reading(current_services().sessions) as session:
            owed = describe_project_debts(session, find_project(session, project))
        if owed:
            raise ProjectError(
                f'the project "{project}" was not ended: {owed}',
                remedy='Pay them first, or tick the box "although people are owed money"',
            )

    def change(session: Session) -> None:
        ended = find_project(session, project, change=True)
        end_project(session, ended, by=current_user().name, now=current_services().now())

    return _change_project(project, change)


@project_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the project's own page, or on the list of projects."""
    with reading(current_services().sessions) as session:
        visible = {project.name for project in list_projects(session, current_user())}
    name, problem = (request.view_args or {}).get("project", ""), str(error)
    return (
        _render_project_page(name, problem) if name in visible else _render_project_list(problem)
    ), 409


def _find_account(session: Session, name: str) -> User:
    user = session.scalar(select(User).where(User.name == name))
    if user is None:  # Only owners see the names of other accounts.
        raise ProjectError(
            f'there is no user "{name}"',
            expected="the exact name with which somebody signs in",
            remedy="Invite people who have no account yet: they choose their name themselves",
        )
    return user


def _parse_role(typed: str) -> ProjectRole:
    if typed not in set(ProjectRole):
        raise ProjectError(
            f'"{typed}" is not a role in a project', expected=f"one of {', '.join(ProjectRole)}"
        )
    return ProjectRole(typed)


def _change_project(project: str, change: Callable[[Session], None]) -> Response:
    run_in_transaction(current_services().sessions, change)
    with reading(current_services().sessions) as session:
        visible = {
            visible_project.name for visible_project in list_projects(session, current_user())
        }
    # Managers who removed themselves are sent to the list of their other projects.
    page = url_for("projects.show_project", project=project)
    return redirect(page if project in visible else url_for("projects.show_projects"), 303)


def _render_project_list(problem: str = "") -> str:
    with reading(current_services().sessions) as session:
        projects = list_projects(session, current_user())
    return render_template("researcher/projects.html", projects=projects, problem=problem)


def _render_project_page(name: str, problem: str = "") -> str:
    services = current_services()
    with reading(services.sessions) as session:
        project = find_project(session, name)
        facts: dict[str, object] = {
            "members": list_members(session, project),
            "invitations": list_open_invitations(session, project, services.now()),
            "used": _measure_usage(session, project),
            "no_end": describe_refusal(lambda: check_may_end(session, project)),
        }
        # The debts of running studies are shown where they can be paid.
        facts["owed"] = "" if facts["no_end"] else describe_project_debts(session, project)
    return render_template(
        "researcher/project.html",
        project=project,
        roles=list(ProjectRole),
        problem=problem,
        **facts,
    )


def _measure_usage(session: Session, project: Project) -> list[tuple[str, str, int, str]]:
    """Return the field, label, value and usage of each limit."""
    stored = (
        measure_folder_bytes(get_project_uploads(Path(current_app.instance_path), project.id))
        / 1_000_000
    )
    used = {
        "most_runs": ("open runs", f"{limits.count_open_runs(session, project)}"),
        "most_participants": (
            "people at work at once",
            f"{limits.count_active_participants(session, project)}",
        ),
        "most_upload_mb": ("MB of uploaded studies", f"{stored:.1f}"),
        "most_jobs": (
            "checks, launches and reports at once",
            f"{limits.count_jobs(session, project)}",
        ),
    }
    return [(name, label, getattr(project, name), now) for name, (label, now) in used.items()]


joining_pages = Blueprint("joining", __name__)


@joining_pages.get("/join")
@require_access(None)
def show_join_form() -> str:
    """Show the form for an invitation code."""
    return _render_join_form()


@joining_pages.post("/join")
@require_access(None)
def join_project() -> ResponseReturnValue:
    """Add the user to the project that their invitation code belongs to."""
    services, code = current_services(), request.form.get("code", "")
    try:
        if g.user is not None:
            with services.sessions.begin() as session:
                project = accept_invitation(session, code, g.user, services.now()).name
            return redirect(url_for("projects.show_project", project=project), 303)
        return _join_with_new_account(code)
    except RequestError as error:
        return _render_join_form(error.problem), error.status
    except ParallaxError as error:
        return _render_join_form(str(error)), 409


def _join_with_new_account(code: str) -> ResponseReturnValue:
    """Create an account and its membership in one transaction."""
    services, name = current_services(), request.form.get("name", "").strip()
    if _has_external_sign_in():
        raise RequestError(
            "Accounts are made by an owner of this installation. Sign in with yours first, and "
            "then use the code.",
            status=403,
            code="sign_in_first",
        )
    with reading(services.sessions) as session:
        _, invitation = find_invitation(session, code, services.now())
        by = f"{name} (invited by {invitation.made_by})"
    # The code is checked first, because hashing takes memory and time.
    hashed = hash_password(request.form.get("password", ""))
    with services.sessions.begin() as session:
        now = services.now()
        user = add_user(session, name, Role.MEMBER, hashed, by=by, now=now)
        accept_invitation(session, code, user, now)
    return redirect(
        url_for("sign_in.show_sign_in_form", next=url_for("projects.show_projects")), 303
    )


def _has_external_sign_in() -> bool:
    settings = current_services().settings
    return bool(settings.oidc_issuer or settings.sign_in_header)


def _render_join_form(problem: str = "") -> str:
    return render_template(
        "researcher/join.html",
        problem=problem,
        name=request.form.get("name", ""),
        elsewhere=_has_external_sign_in(),
        shortest=SHORTEST_PASSWORD,
    )
