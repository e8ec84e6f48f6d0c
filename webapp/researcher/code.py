"""The sign-in step after the password: a code of the second factor."""

from datetime import datetime

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from sqlalchemy.orm import Session
from structlog.contextvars import bind_contextvars

from webapp.core.urls import RESEARCHER_PATH
from webapp.database.engine import reading
from webapp.database.models import User
from webapp.errors import RequestError
from webapp.researcher.access import allowed, safe_way_back, with_cookie
from webapp.researcher.guesses import browser_family, with_code_counted
from webapp.services import current_services
from webapp.users.second_factor import take_code
from webapp.users.sign_in import digest_of, open_session

code_pages = Blueprint("code", __name__)

_HALF_WAY, _HALF_WAY_S = "parallax_half_way", 600
_PATH = f"{RESEARCHER_PATH}/sign-in"
# Never the beginning of what an attempt at a provider is kept by: that is random.
_KIND = "second factor"


def ask_for_code(user: User, way_back: str) -> ResponseReturnValue:
    """Send a browser whose user gave the right password to the page that asks for the code."""
    response = make_response(redirect(url_for("code.show"), 303))
    kept = "\x1f".join((_KIND, str(user.id), _of_password(user), way_back))
    response.set_cookie(
        _HALF_WAY,
        current_services().tokens.sealed_attempt(kept),
        max_age=_HALF_WAY_S,
        path=_PATH,
        secure=current_services().settings.link_base.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )
    return response


@code_pages.get("/sign-in/code")
@allowed(None)
def show() -> ResponseReturnValue:
    """Ask for the code."""
    if _half_way() is None:
        return redirect(url_for("sign_in.show"), 303)
    return render_template("researcher/code.html")


@code_pages.post("/sign-in/code")
@allowed(None)
def enter() -> ResponseReturnValue:
    """Sign in whose password and code are right."""
    half_way = _half_way()
    if half_way is None:
        return redirect(url_for("sign_in.show"), 303)
    user, way_back = half_way
    bind_contextvars(user=user.name)
    code, tokens = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        take_code(session, user, code, now)
        tokens.append(open_session(session, user, browser_family(), now))

    try:
        with_code_counted(user, work)
    except RequestError as error:
        return render_template("researcher/code.html", problem=error.problem), error.status
    response = with_cookie(redirect(safe_way_back(way_back), 303), tokens[-1])
    response.delete_cookie(_HALF_WAY, path=_PATH, httponly=True, samesite="Lax")
    return response


def _half_way() -> tuple[User, str] | None:
    """Return who gave the right password in this browser, and where they were going."""
    services = current_services()
    try:
        kept = services.tokens.read_attempt(request.cookies.get(_HALF_WAY, ""), _HALF_WAY_S)
        kind, user_id, of_password, way_back = kept.split("\x1f", 3)
    except (BadSignature, ValueError):
        return None
    if kind != _KIND:
        return None
    with reading(services.sessions) as session:
        user = session.get(User, int(user_id))
    if user is None or user.disabled_at is not None or _of_password(user) != of_password:
        return None
    return user, way_back


def _of_password(user: User) -> str:
    """Return what ends the step when the password is changed meanwhile."""
    return digest_of(user.password_hash)
