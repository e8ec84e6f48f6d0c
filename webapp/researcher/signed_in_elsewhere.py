"""Signing in with an OpenID Connect provider, or by a web server in front.

Both end in a session like the one that a password opens. Neither makes accounts: who may come, and
what they may do, is said by ``parallax users``.
"""

from flask import Blueprint, make_response, redirect, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from sqlalchemy import select
from structlog.contextvars import bind_contextvars
from werkzeug.wrappers import Response

from webapp.core.urls import RESEARCHER_PATH
from webapp.database.models import User
from webapp.errors import RequestError
from webapp.researcher.access import allowed, safe_way_back, with_cookie
from webapp.researcher.guesses import browser_family
from webapp.services import Services, current_services
from webapp.users.oidc import Attempt
from webapp.users.sign_in import open_session

elsewhere_pages = Blueprint("elsewhere", __name__)

_ATTEMPT = "parallax_attempt"
_ATTEMPT_S = 600


@elsewhere_pages.get("/sign-in/provider")
@allowed(None)
def ask() -> ResponseReturnValue:
    """Send the browser to the provider."""
    services, attempt = current_services(), Attempt.begin()
    provider = services.provider()
    response = make_response(redirect(provider.address(attempt, _back()), 303))
    kept = "\x1f".join(
        (attempt.state, attempt.nonce, attempt.verifier, request.args.get("next", ""))
    )
    response.set_cookie(
        _ATTEMPT,
        services.tokens.sealed_attempt(kept),
        max_age=_ATTEMPT_S,
        path=f"{RESEARCHER_PATH}/sign-in",
        secure=services.settings.link_base.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )
    return response


@elsewhere_pages.get("/sign-in/back")
@allowed(None)
def come_back() -> ResponseReturnValue:
    """Sign in whom the provider sent back."""
    services = current_services()
    try:
        kept = services.tokens.read_attempt(request.cookies.get(_ATTEMPT, ""), _ATTEMPT_S)
        state, nonce, verifier, way_back = kept.split("\x1f", 3)
    except (BadSignature, ValueError):
        state = nonce = verifier = way_back = ""
    code = request.args.get("code", "")
    if not state or request.args.get("state", "") != state or not code:
        raise RequestError(
            "You are not signed in: the provider did not say so, or the attempt began in "
            "another browser, or more than ten minutes ago. Please try once more.",
            status=401,
            code="not_signed_in",
        )
    name = services.provider().name(Attempt(state, nonce, verifier), _back(), code)
    response = _enter(services, name, way_back)
    response.delete_cookie(
        _ATTEMPT, path=f"{RESEARCHER_PATH}/sign-in", httponly=True, samesite="Lax"
    )
    return response


@elsewhere_pages.post("/sign-in/header")
@allowed(None)
def enter_by_header() -> ResponseReturnValue:
    """Sign in whom the web server in front says to come."""
    services, name = current_services(), named_by_header()
    if not name:
        raise RequestError(
            "The web server that signs users in did not say who you are.",
            status=401,
            code="not_signed_in",
        )
    return _enter(services, name, request.form.get("next", ""))


def named_by_header() -> str:
    """Return who the web server in front says to come; empty where it says nothing that counts."""
    services = current_services()
    header = services.settings.sign_in_header
    if not header or not services.addresses.is_from_proxy(request.environ):
        return ""
    return request.headers.get(header, "").strip()


def _enter(services: Services, name: str, way_back: str) -> Response:
    now = services.now()
    with services.sessions.begin() as session:
        user = session.scalar(select(User).where(User.name == name))
        token = None
        if user is not None and user.disabled_at is None:
            token = open_session(session, user, browser_family(), now)
    if token is None:
        raise RequestError(
            f"You are known as {name}, but no user of that name has access. An owner of this "
            f"installation can add one on the server with: parallax users add {name} --role "
            "ROLE --no-password",
            status=403,
            code="unknown_user",
        )
    bind_contextvars(user=name)
    return with_cookie(redirect(safe_way_back(way_back), 303), token)


def _back() -> str:
    return f"{current_services().settings.link_base}{url_for('elsewhere.come_back')}"
