"""Signing in and out, and the list of browsers in which one is signed in."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from structlog.contextvars import bind_contextvars

from webapp.database.engine import reading
from webapp.database.retry import in_transaction
from webapp.errors import RequestError
from webapp.researcher.access import (
    COOKIE,
    allowed,
    current_user,
    safe_way_back,
    with_cookie,
    without_cookie,
)
from webapp.researcher.browsers import browser_family
from webapp.researcher.signed_in_elsewhere import named_by_header
from webapp.services import current_services
from webapp.users.audit_log import record_act
from webapp.users.roles import Role
from webapp.users.sign_in import (
    Attempt,
    open_sessions_of,
    sign_in,
    sign_out,
    sign_out_everywhere,
)
from webapp.users.users import users

sign_in_pages = Blueprint("sign_in", __name__)


@sign_in_pages.get("/sign-in")
@allowed(None)
def show() -> str:
    """Show the form."""
    return _form(request.args.get("next", ""))


@sign_in_pages.post("/sign-in")
@allowed(None)
def enter() -> ResponseReturnValue:
    """Sign somebody in, or say that the name or the password is not right."""
    services, name = current_services(), request.form.get("name", "").strip()
    address, digest = _address(), services.tokens.digest
    attempt = Attempt(
        name, browser_family(), digest(f"sign-in name {name}"), digest(f"sign-in from {address}")
    )
    way_back = request.form.get("next", "")
    try:
        password = request.form.get("password", "")
        token = sign_in(services.sessions, attempt, password, services.now())
    except RequestError as error:
        return _form(way_back, name=name, problem=error.problem), error.status
    bind_contextvars(user=name)
    return with_cookie(redirect(safe_way_back(way_back), 303), token)


@sign_in_pages.post("/sign-out")
@allowed(Role.MEMBER)
def leave() -> ResponseReturnValue:
    """Sign out here."""
    services, token = current_services(), request.cookies.get(COOKIE, "")
    in_transaction(services.sessions, lambda session: sign_out(session, token, services.now()))
    return without_cookie(redirect(url_for("sign_in.show"), 303))


@sign_in_pages.get("/sessions")
@allowed(Role.MEMBER)
def show_sessions() -> str:
    """Show where one is signed in."""
    with reading(current_services().sessions) as session:
        here = open_sessions_of(session, current_user())
    return render_template("researcher/sessions.html", sign_ins=here)


@sign_in_pages.post("/sessions/end")
@allowed(Role.MEMBER)
def leave_everywhere() -> ResponseReturnValue:
    """Sign out in every browser."""
    services, user = current_services(), current_user()
    with services.sessions.begin() as session:
        sign_out_everywhere(session, user, services.now())
        record_act(session, user.name, "signed out everywhere", services.now())
    return without_cookie(redirect(url_for("sign_in.show"), 303))


def _address() -> str:
    return current_services().addresses.of(request.environ) or request.remote_addr or ""


def _form(way_back: str, name: str = "", problem: str = "") -> str:
    with reading(current_services().sessions) as session:
        nobody = not users(session)
    return render_template(
        "researcher/sign_in.html",
        next=way_back,
        name=name,
        problem=problem,
        nobody=nobody,
        provider=current_services().settings.oidc_issuer,
        named=named_by_header(),
    )
