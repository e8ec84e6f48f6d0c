"""Using an invitation: with the account that one has, or with a new one."""

from flask import Blueprint, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.projects.invitations import accept, invited_to
from webapp.researcher.access import allowed
from webapp.services import current_services
from webapp.users.passwords import SHORTEST_PASSWORD, hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

joining_pages = Blueprint("joining", __name__)


@joining_pages.get("/join")
@allowed(None)
def ask() -> str:
    """Ask for the code."""
    return _form()


@joining_pages.post("/join")
@allowed(None)
def join() -> ResponseReturnValue:
    """Make whoever has the code a member."""
    services, code = current_services(), request.form.get("code", "")
    try:
        if g.user is not None:
            with services.sessions.begin() as session:
                project = accept(session, code, g.user, services.now()).name
            return redirect(url_for("projects.show", project=project), 303)
        return _join_newly(code)
    except RequestError as error:
        return _form(error.problem), error.status
    except ParallaxError as error:
        return _form(str(error)), 409


def _join_newly(code: str) -> ResponseReturnValue:
    """Make an account and its membership, both or neither."""
    services, name = current_services(), request.form.get("name", "").strip()
    if _signs_in_elsewhere():
        raise RequestError(
            "Accounts are made by an owner of this installation. Sign in with yours first, and "
            "then use the code.",
            status=403,
            code="sign_in_first",
        )
    with reading(services.sessions) as session:
        _, invitation = invited_to(session, code, services.now())
        by = f"{name} (invited by {invitation.made_by})"
    # Only for who has a code that is good: hashing takes memory and time.
    hashed = hash_password(request.form.get("password", ""))
    with services.sessions.begin() as session:
        now = services.now()
        user = add_user(session, name, Role.MEMBER, hashed, by=by, now=now)
        accept(session, code, user, now)
    return redirect(url_for("sign_in.show", next=url_for("projects.show_all")), 303)


def _signs_in_elsewhere() -> bool:
    settings = current_services().settings
    return bool(settings.oidc_issuer or settings.sign_in_header)


def _form(problem: str = "") -> str:
    return render_template(
        "researcher/join.html",
        problem=problem,
        name=request.form.get("name", ""),
        elsewhere=_signs_in_elsewhere(),
        shortest=SHORTEST_PASSWORD,
    )
