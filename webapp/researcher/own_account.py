"""A user's tokens for programs."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database.engine import reading
from webapp.projects.projects import ProjectError, named_project, projects_of
from webapp.projects.rights import Scope
from webapp.projects.tokens import MOST_DAYS, make_token, revoke, tokens_of
from webapp.researcher.access import allowed, current_user
from webapp.researcher.paging import whole_number
from webapp.services import current_services
from webapp.users.roles import Role

token_pages = Blueprint("tokens", __name__)
_DIGITS = 8


@token_pages.get("/tokens")
@allowed(Role.MEMBER)
def show_all() -> str:
    """List one's own tokens."""
    return _page()


@token_pages.post("/tokens")
@allowed(Role.MEMBER)
def add() -> str:
    """Make a token and show it, once."""
    services, name = current_services(), request.form.get("project", "")
    scopes = {scope for scope in Scope if scope in request.form.getlist("scope")}
    label = request.form.get("label", "").strip()
    days = whole_number(request.form.get("days", ""), _DIGITS, otherwise=-1)
    with services.sessions.begin() as session:
        user = current_user()
        own = {project.name for project in projects_of(session, user)}
        if name and name not in own:
            raise ProjectError("there is no such project", expected="one of which you are a member")
        project = named_project(session, name) if name else None
        token = make_token(session, user, label, scopes, days, services.now(), project)
    return render_template("researcher/token.html", token=token, label=label)


@token_pages.post("/tokens/revoke")
@allowed(Role.MEMBER)
def end() -> ResponseReturnValue:
    """End a token."""
    services, user = current_services(), current_user()
    number = whole_number(request.form.get("number", ""), _DIGITS, otherwise=-1)
    with services.sessions.begin() as session:
        revoke(session, user, number, by=user.name, now=services.now())
    return redirect(url_for("tokens.show_all"), 303)


@token_pages.errorhandler(ProjectError)
def refuse(error: ProjectError) -> ResponseReturnValue:
    """Show the paragraph above the list."""
    return _page(str(error)), 409


def _page(problem: str = "") -> str:
    with reading(current_services().sessions) as session:
        tokens = tokens_of(session, current_user())
        projects = projects_of(session, current_user())
    return render_template(
        "researcher/tokens.html",
        tokens=tokens,
        projects=[each for each in projects if each.ended_at is None],
        names={each.id: each.name for each in projects},
        now=current_services().now(),
        scopes=list(Scope),
        most_days=MOST_DAYS,
        problem=problem,
    )
