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
from webapp.researcher.code import ask_for_code
from webapp.researcher.guesses import browser_family, guess_of
from webapp.researcher.paging import whole_number
from webapp.researcher.signed_in_elsewhere import named_by_header
from webapp.services import current_services
from webapp.users.audit_log import record_act
from webapp.users.roles import Role
from webapp.users.second_factor import factor_of
from webapp.users.sign_in import (
    digest_of,
    open_session,
    open_sessions_of,
    sign_out,
    sign_out_everywhere,
    sign_out_one,
    user_of_password,
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
    """Sign somebody in, ask for their second factor, or say that a name or password is wrong."""
    services, name = current_services(), request.form.get("name", "").strip()
    way_back, password = request.form.get("next", ""), request.form.get("password", "")
    now = services.now()
    try:
        user = user_of_password(services.sessions, name, guess_of(name), password, now)
    except RequestError as error:
        return _form(way_back, name=name, problem=error.problem), error.status
    bind_contextvars(user=name)
    with services.sessions.begin() as session:
        token = None
        if factor_of(session, user) is None:
            token = open_session(session, user, browser_family(), now)
    if token is None:
        return ask_for_code(user, way_back)
    return with_cookie(redirect(safe_way_back(way_back), 303), token)


@sign_in_pages.post("/sign-out")
@allowed(Role.MEMBER, before_second_factor=True)
def leave() -> ResponseReturnValue:
    """Sign out here."""
    services, token = current_services(), request.cookies.get(COOKIE, "")
    in_transaction(services.sessions, lambda session: sign_out(session, token, services.now()))
    return without_cookie(redirect(url_for("sign_in.show"), 303))


@sign_in_pages.get("/sessions")
@allowed(Role.MEMBER)
def show_sessions() -> str:
    """Show where one is signed in."""
    token, now = request.cookies.get(COOKIE, ""), current_services().now()
    with reading(current_services().sessions) as session:
        here = open_sessions_of(session, current_user(), now)
    this = digest_of(token)
    return render_template("researcher/sessions.html", sign_ins=here, this=this)


@sign_in_pages.post("/sessions/end-one")
@allowed(Role.MEMBER)
def leave_elsewhere() -> ResponseReturnValue:
    """Sign out in one browser of one's own."""
    services, user = current_services(), current_user()
    number = request.form.get("session", "")
    with services.sessions.begin() as session:
        one = whole_number(number, 9)
        if sign_out_one(session, user, one, services.now()):
            record_act(session, user.name, "session ended", services.now())
    return redirect(url_for("sign_in.show_sessions"), 303)


@sign_in_pages.post("/sessions/end")
@allowed(Role.MEMBER)
def leave_everywhere() -> ResponseReturnValue:
    """Sign out in every browser."""
    services, user = current_services(), current_user()
    with services.sessions.begin() as session:
        sign_out_everywhere(session, user, services.now())
        record_act(session, user.name, "signed out everywhere", services.now())
    return without_cookie(redirect(url_for("sign_in.show"), 303))


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
