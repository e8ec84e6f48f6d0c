"""Signing in: by password and second factor, by the institution; the list of open sessions."""

from collections.abc import Callable
from datetime import datetime

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from sqlalchemy import select
from sqlalchemy.orm import Session
from structlog.contextvars import bind_contextvars
from werkzeug.wrappers import Response

from webapp.core.addresses import RESEARCHER_PATH
from webapp.database.engine import reading
from webapp.database.models import User
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError
from webapp.researcher.access import (
    SESSION_COOKIE,
    current_user,
    delete_session_cookie,
    get_safe_return_address,
    require_access,
    set_session_cookie,
)
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import Services, current_services
from webapp.users.audit_log import record_act
from webapp.users.oidc import Attempt
from webapp.users.passwords import verify_password
from webapp.users.roles import Role
from webapp.users.second_factor import MOST_GUESSES, find_confirmed_factor, use_code
from webapp.users.sign_in import (
    GuessKeys,
    authenticate_user,
    count_guess,
    end_one_session,
    find_browser_session,
    hash_secret,
    list_open_sessions,
    open_session,
    sign_out,
    sign_out_everywhere,
    uncount_guess,
)
from webapp.users.users import list_users

sign_in_pages = Blueprint("sign_in", __name__)


@sign_in_pages.get("/sign-in")
@require_access(None)
def show_sign_in_form() -> str:
    """Show the form."""
    return _render_form(request.args.get("next", ""))


@sign_in_pages.post("/sign-in")
@require_access(None)
def sign_in_by_password() -> ResponseReturnValue:
    """Sign a user in, ask for the second factor, or report a wrong name or password."""
    services, name = current_services(), request.form.get("name", "").strip()
    way_back, password = request.form.get("next", ""), request.form.get("password", "")
    now = services.now()
    try:
        user = authenticate_user(services.sessions, name, make_guess_keys(name), password, now)
    except RequestError as error:
        return _render_form(way_back, name=name, problem=error.problem), error.status
    bind_contextvars(user=name)
    with services.sessions.begin() as session:
        token = None
        if find_confirmed_factor(session, user) is None:
            token = open_session(session, user, get_browser_family(), now)
    if token is None:
        return redirect_to_code_form(user, way_back)
    return set_session_cookie(redirect(get_safe_return_address(way_back), 303), token)


@sign_in_pages.post("/sign-out")
@require_access(Role.MEMBER, before_second_factor=True)
def end_this_session() -> ResponseReturnValue:
    """Sign out in this browser."""
    services, token = current_services(), request.cookies.get(SESSION_COOKIE, "")
    run_in_transaction(services.sessions, lambda session: sign_out(session, token, services.now()))
    return delete_session_cookie(redirect(url_for("sign_in.show_sign_in_form"), 303))


@sign_in_pages.get("/sessions")
@require_access(Role.MEMBER)
def show_sessions() -> str:
    """Show the browsers in which the user is signed in."""
    token, now = request.cookies.get(SESSION_COOKIE, ""), current_services().now()
    with reading(current_services().sessions) as session:
        sign_ins = list_open_sessions(session, current_user(), now)
    this = hash_secret(token)
    return render_template("researcher/sessions.html", sign_ins=sign_ins, this=this)


@sign_in_pages.post("/sessions/end-one")
@require_access(Role.MEMBER)
def end_other_session() -> ResponseReturnValue:
    """Sign the user out on one of their other devices; the current sign-in stays."""
    services, user = current_services(), current_user()
    number = request.form.get("session", "")
    with services.sessions.begin() as session:
        sign_in_id = parse_whole_number(number, 9)
        if end_one_session(session, user, sign_in_id, services.now()):
            record_act(session, user.name, "session ended", services.now())
    return redirect(url_for("sign_in.show_sessions"), 303)


@sign_in_pages.post("/sessions/end")
@require_access(Role.MEMBER)
def end_all_sessions() -> ResponseReturnValue:
    """Sign out in every browser."""
    services, user = current_services(), current_user()
    with services.sessions.begin() as session:
        sign_out_everywhere(session, user, services.now())
        record_act(session, user.name, "signed out everywhere", services.now())
    return delete_session_cookie(redirect(url_for("sign_in.show_sign_in_form"), 303))


def _render_form(way_back: str, name: str = "", problem: str = "") -> str:
    with reading(current_services().sessions) as session:
        nobody = not list_users(session)
    return render_template(
        "researcher/sign_in.html",
        next=way_back,
        name=name,
        problem=problem,
        nobody=nobody,
        provider=current_services().settings.oidc_issuer,
        named=read_user_header(),
    )


code_pages = Blueprint("code", __name__)

_CODE_COOKIE, _CODE_STEP_S = "parallax_half_way", 600
_SIGN_IN_PATH = f"{RESEARCHER_PATH}/sign-in"
# A provider's attempts begin with a random text, so never with this.
_CODE_STEP = "second factor"


def redirect_to_code_form(user: User, way_back: str) -> ResponseReturnValue:
    """Redirect a browser to the page for the code, after the right password."""
    response = make_response(redirect(url_for("code.show_code_form"), 303))
    attempt = "\x1f".join((_CODE_STEP, str(user.id), _digest_password_hash(user), way_back))
    response.set_cookie(
        _CODE_COOKIE,
        current_services().tokens.sign_attempt(attempt),
        max_age=_CODE_STEP_S,
        path=_SIGN_IN_PATH,
        secure=current_services().settings.link_base.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )
    return response


@code_pages.get("/sign-in/code")
@require_access(None)
def show_code_form() -> ResponseReturnValue:
    """Show the form for the code."""
    if _find_user_at_code_step() is None:
        return redirect(url_for("sign_in.show_sign_in_form"), 303)
    return render_template("researcher/code.html")


@code_pages.post("/sign-in/code")
@require_access(None)
def sign_in_by_code() -> ResponseReturnValue:
    """Sign in the user after the right password and code."""
    waiting = _find_user_at_code_step()
    if waiting is None:
        return redirect(url_for("sign_in.show_sign_in_form"), 303)
    user, way_back = waiting
    bind_contextvars(user=user.name)
    code, tokens = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        use_code(session, user, code, now)
        tokens.append(open_session(session, user, get_browser_family(), now))

    try:
        count_code_attempt(user, work)
    except RequestError as error:
        return render_template("researcher/code.html", problem=error.problem), error.status
    response = set_session_cookie(redirect(get_safe_return_address(way_back), 303), tokens[-1])
    response.delete_cookie(_CODE_COOKIE, path=_SIGN_IN_PATH, httponly=True, samesite="Lax")
    return response


def _find_user_at_code_step() -> tuple[User, str] | None:
    """Return the user who typed the right password in this browser, and the requested page."""
    services = current_services()
    try:
        attempt = services.tokens.read_attempt(request.cookies.get(_CODE_COOKIE, ""), _CODE_STEP_S)
        kind, user_id, of_password, way_back = attempt.split("\x1f", 3)
    except (BadSignature, ValueError):
        return None
    if kind != _CODE_STEP:
        return None
    with reading(services.sessions) as session:
        user = session.get(User, int(user_id))
    if user is None or user.disabled_at is not None or _digest_password_hash(user) != of_password:
        return None
    return user, way_back


def _digest_password_hash(user: User) -> str:
    """Return a digest of the password, so that changing the password invalidates the step."""
    return hash_secret(user.password_hash)


_BROWSER_FAMILIES = ("Firefox", "Edg", "OPR", "Chrome", "Safari")


def make_guess_keys(name: str) -> GuessKeys:
    """Return the keys by which an attempt at a user's password is counted.

    A browser in which the user was signed in before has a counter of its own, so that strangers'
    guesses cannot lock the user out there.
    """
    services = current_services()
    digest = services.tokens.digest
    with reading(services.sessions) as session:
        known_session_id = find_browser_session(
            session, name, request.cookies.get(SESSION_COOKIE, "")
        )
    counted_by = (
        f"sign-in name {name}"
        if known_session_id is None
        else f"sign-in in the browser {known_session_id}"
    )
    return GuessKeys(digest(counted_by), digest(f"sign-in from {_get_client_address()}"))


def count_code_attempt(user: User, work: Callable[[Session, User, datetime], object]) -> None:
    """Run an operation that checks a second-factor code, after counting the attempt.

    Raises:
        RequestError: The code is wrong, or there were too many wrong ones before.
    """
    services, now = current_services(), current_services().now()
    digest = services.tokens.digest
    guess = GuessKeys(
        digest(f"code of {user.name}"),
        digest(f"sign-in from {_get_client_address()}"),
        MOST_GUESSES,
    )
    with services.sessions.begin() as session:
        guess_count = count_guess(session, guess, now)
    with services.sessions.begin() as session:
        work(session, session.get_one(User, user.id), now)
        uncount_guess(session, guess_count)


def check_own_password(user: User, password: str) -> bool:
    """Return whether a signed-in user typed their own password; the attempt is counted."""
    services, now = current_services(), current_services().now()
    guess = make_guess_keys(user.name)
    with services.sessions.begin() as session:
        guess_count = count_guess(session, guess, now)
    right = verify_password(user.password_hash, password)
    if right:
        with services.sessions.begin() as session:
            uncount_guess(session, guess_count)
    return right


def _get_client_address() -> str:
    return current_services().addresses.client_address(request.environ) or request.remote_addr or ""


def get_browser_family() -> str:
    """Return the family of the request's browser."""
    agent = request.user_agent.string
    family = next((family for family in _BROWSER_FAMILIES if family in agent), "another browser")
    return {"Edg": "Edge", "OPR": "Opera"}.get(family, family)


elsewhere_pages = Blueprint("elsewhere", __name__)

_ATTEMPT_COOKIE, _ATTEMPT_S = "parallax_attempt", 600


@elsewhere_pages.get("/sign-in/provider")
@require_access(None)
def redirect_to_provider() -> ResponseReturnValue:
    """Redirect the browser to the provider."""
    services, attempt = current_services(), Attempt.begin()
    provider = services.provider()
    response = make_response(redirect(provider.address(attempt, _make_callback_address()), 303))
    sealed = "\x1f".join(
        (attempt.state, attempt.nonce, attempt.verifier, request.args.get("next", ""))
    )
    response.set_cookie(
        _ATTEMPT_COOKIE,
        services.tokens.sign_attempt(sealed),
        max_age=_ATTEMPT_S,
        path=_SIGN_IN_PATH,
        secure=services.settings.link_base.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )
    return response


@elsewhere_pages.get("/sign-in/back")
@require_access(None)
def sign_in_from_provider() -> ResponseReturnValue:
    """Sign in the user whom the provider sent back."""
    services = current_services()
    try:
        sealed = services.tokens.read_attempt(request.cookies.get(_ATTEMPT_COOKIE, ""), _ATTEMPT_S)
        state, nonce, verifier, way_back = sealed.split("\x1f", 3)
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
    name = services.provider().name(Attempt(state, nonce, verifier), _make_callback_address(), code)
    response = _sign_in_known_user(services, name, way_back)
    response.delete_cookie(_ATTEMPT_COOKIE, path=_SIGN_IN_PATH, httponly=True, samesite="Lax")
    return response


@elsewhere_pages.post("/sign-in/header")
@require_access(None)
def sign_in_by_header() -> ResponseReturnValue:
    """Sign in the user whom the reverse proxy names."""
    services, name = current_services(), read_user_header()
    if not name:
        raise RequestError(
            "The web server that signs users in did not say who you are.",
            status=401,
            code="not_signed_in",
        )
    return _sign_in_known_user(services, name, request.form.get("next", ""))


def read_user_header() -> str:
    """Return the user name from the reverse proxy's header; empty unless a trusted proxy set it."""
    services = current_services()
    header = services.settings.sign_in_header
    if not header or not services.addresses.is_from_proxy(request.environ):
        return ""
    return request.headers.get(header, "").strip()


def _sign_in_known_user(services: Services, name: str, way_back: str) -> Response:
    now = services.now()
    with services.sessions.begin() as session:
        user = session.scalar(select(User).where(User.name == name))
        token = None
        if user is not None and user.disabled_at is None:
            token = open_session(session, user, get_browser_family(), now)
    if token is None:
        raise RequestError(
            f"You are known as {name}, but no user of that name has access. An owner of this "
            f"installation can add one on the server with: parallax users add {name} --role "
            "ROLE --no-password",
            status=403,
            code="unknown_user",
        )
    bind_contextvars(user=name)
    return set_session_cookie(redirect(get_safe_return_address(way_back), 303), token)


def _make_callback_address() -> str:
    return f"{current_services().settings.link_base}{url_for('elsewhere.sign_in_from_provider')}"
