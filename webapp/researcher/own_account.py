"""A user's own account: password, second factor, and tokens for programs."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import segno
from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import SecondFactor, User
from webapp.errors import RequestError, WebappError
from webapp.researcher.access import (
    SESSION_COOKIE,
    current_user,
    delete_session_cookie,
    require_access,
    set_session_cookie,
)
from webapp.researcher.sign_in import check_own_password, count_code_attempt, get_browser_family
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import current_services
from webapp.users.passwords import SHORTEST_PASSWORD, hash_password
from webapp.users.projects import ProjectError, find_project, list_projects
from webapp.users.roles import Role, Scope
from webapp.users.second_factor import (
    SecondFactorPolicy,
    confirm_factor,
    count_unused_codes,
    create_factor,
    find_factor,
    make_app_address,
    remove_factor,
    replace_codes,
    use_code,
)
from webapp.users.sign_in import open_session
from webapp.users.tokens import MOST_DAYS, list_tokens, make_token, revoke_user_token
from webapp.users.users import (
    add_first_owner,
    check_first_owner_token,
    find_user_of_password_link,
    set_password,
    use_password_link,
)

token_pages = Blueprint("tokens", __name__)
_DIGITS = 8


@token_pages.get("/tokens")
@require_access(Role.MEMBER)
def show_tokens() -> str:
    """List the user's tokens."""
    return _render_token_page()


@token_pages.post("/tokens")
@require_access(Role.MEMBER)
def create_token() -> str:
    """Create a token and show it once."""
    services, name = current_services(), request.form.get("project", "")
    scopes = {scope for scope in Scope if scope in request.form.getlist("scope")}
    label = request.form.get("label", "").strip()
    days = parse_whole_number(request.form.get("days", ""), _DIGITS, otherwise=-1)
    with services.sessions.begin() as session:
        user = current_user()
        memberships = {project.name for project in list_projects(session, user)}
        if name and name not in memberships:
            raise ProjectError("there is no such project", expected="one of which you are a member")
        project = find_project(session, name) if name else None
        token = make_token(session, user, label, scopes, days, services.now(), project)
    return render_template("researcher/token.html", token=token, label=label)


@token_pages.post("/tokens/revoke")
@require_access(Role.MEMBER)
def revoke_token() -> ResponseReturnValue:
    """Revoke a token."""
    services, user = current_services(), current_user()
    number = parse_whole_number(request.form.get("number", ""), _DIGITS, otherwise=-1)
    with services.sessions.begin() as session:
        revoke_user_token(session, user, number, by=user.name, now=services.now())
    return redirect(url_for("tokens.show_tokens"), 303)


@token_pages.errorhandler(ProjectError)
def show_error(error: ProjectError) -> ResponseReturnValue:
    """Show the error's message above the list."""
    return _render_token_page(str(error)), 409


def _render_token_page(problem: str = "") -> str:
    with reading(current_services().sessions) as session:
        tokens = list_tokens(session, current_user())
        projects = list_projects(session, current_user())
    return render_template(
        "researcher/tokens.html",
        tokens=tokens,
        projects=[project for project in projects if project.ended_at is None],
        names={project.id: project.name for project in projects},
        now=current_services().now(),
        scopes=list(Scope),
        most_days=MOST_DAYS,
        problem=problem,
    )


password_pages = Blueprint("passwords", __name__)


@password_pages.get("/password")
@require_access(Role.MEMBER)
def show_password_form() -> str:
    """Show the form for a new password."""
    return _render_password_form()


@password_pages.post("/password")
@require_access(Role.MEMBER)
def change_password() -> ResponseReturnValue:
    """Store a new password, and sign the user out everywhere else."""
    services, user = current_services(), current_user()
    if not check_own_password(user, request.form.get("password", "")):
        return _render_password_form(problem="The present password is not right."), 401
    try:
        hashed = _hash_new_password()
    except WebappError as error:
        return _render_password_form(problem=_format_error(error)), 400
    with services.sessions.begin() as session:
        stored, token = session.get_one(User, user.id), request.cookies.get(SESSION_COOKIE, "")
        now = services.now()
        set_password(session, stored, hashed, by=user.name, now=now, except_token=token)
    return render_template("researcher/password.html", done=True, shortest=SHORTEST_PASSWORD)


# The token is in the query, which the web servers of docs/serving.md keep out of their logs.
@password_pages.get("/new-password")
@require_access(None)
def show_password_link() -> str:
    """Show the form of a password link; showing it does not use up the link."""
    return _render_password_link_form(request.args.get("token", ""))


@password_pages.post("/new-password")
@require_access(None)
def set_password_by_link() -> ResponseReturnValue:
    """Store a new password by a password link."""
    services, token = current_services(), request.form.get("token", "")
    with reading(services.sessions) as session:
        find_user_of_password_link(session, token, services.now())
    try:
        hashed = _hash_new_password()
    except WebappError as error:
        return _render_password_link_form(token, problem=_format_error(error)), 400
    with services.sessions.begin() as session:
        use_password_link(session, token, hashed, services.now())
    return delete_session_cookie(redirect(url_for("sign_in.show_sign_in_form"), 303))


@password_pages.get("/first-owner")
@require_access(None)
def show_first_owner_form() -> str:
    """Show the form by which the first owner makes their account; it does not use up the link."""
    return _render_first_owner_form(request.args.get("token", ""))


@password_pages.post("/first-owner")
@require_access(None)
def make_first_owner() -> ResponseReturnValue:
    """Create the first owner's account, and sign them in."""
    services, token = current_services(), request.form.get("token", "")
    name = request.form.get("name", "").strip()
    with reading(services.sessions) as session:
        # The link is checked first, because hashing takes memory and time.
        check_first_owner_token(session, services.tokens, token, services.now())
    try:
        hashed = _hash_new_password()
        with services.sessions.begin() as session:
            now = services.now()
            user = add_first_owner(session, services.tokens, token, name, hashed, now)
            cookie = open_session(session, user, get_browser_family(), now)
    except (RequestError, WebappError) as error:
        if isinstance(error, RequestError) and error.status == HTTPStatus.NOT_FOUND:
            raise
        return _render_first_owner_form(token, name, _format_error(error)), 400
    return set_session_cookie(redirect(url_for("runs.show_runs"), 303), cookie)


def _render_first_owner_form(token: str, name: str = "", problem: str = "") -> str:
    services = current_services()
    with reading(services.sessions) as session:
        check_first_owner_token(session, services.tokens, token, services.now())
    return render_template(
        "researcher/first_owner.html",
        token=token,
        name=name,
        problem=problem,
        shortest=SHORTEST_PASSWORD,
    )


def _hash_new_password() -> str:
    new, repeated_password = request.form.get("new", ""), request.form.get("again", "")
    if new != repeated_password:
        problem = "The two new passwords differ. Type the same one twice."
        raise RequestError(problem, status=400, code="passwords_differ")
    return hash_password(new)


def _format_error(error: WebappError) -> str:
    if isinstance(error, RequestError):
        return error.problem
    sentences = (
        error.problem,
        f"expected: {error.expected}" if error.expected else "",
        error.remedy,
    )
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences if text)


def _render_password_form(problem: str = "") -> str:
    return render_template("researcher/password.html", problem=problem, shortest=SHORTEST_PASSWORD)


def _render_password_link_form(token: str, problem: str = "") -> str:
    services = current_services()
    with reading(services.sessions) as session:
        user, link = find_user_of_password_link(session, token, services.now())
    return render_template(
        "researcher/new_password.html",
        name=user.name, link=link, token=token, problem=problem, shortest=SHORTEST_PASSWORD,
    )  # fmt: skip


second_factor_pages = Blueprint("second_factor", __name__)


@second_factor_pages.get("/second-factor")
@require_access(Role.MEMBER, before_second_factor=True)
def show_second_factor() -> str:
    """Show the user's second factor, or how to set one up."""
    return _render_factor_page()


@second_factor_pages.post("/second-factor/begin")
@require_access(Role.MEMBER, before_second_factor=True)
def start_second_factor() -> ResponseReturnValue:
    """Create a secret, which becomes valid when a first code confirms it."""
    services, user = current_services(), current_user()
    if not check_own_password(user, request.form.get("password", "")):
        return _render_factor_page(problem="The password is not right."), 401
    with services.sessions.begin() as session:
        create_factor(session, user, services.now())
    return redirect(url_for("second_factor.show_second_factor"), 303)


@second_factor_pages.post("/second-factor/confirm")
@require_access(Role.MEMBER, before_second_factor=True)
def confirm_second_factor() -> ResponseReturnValue:
    """Verify the first code, and show the recovery codes."""
    code, codes = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        codes[:] = confirm_factor(session, user, code, now)

    return _show_recovery_codes(work, codes)


@second_factor_pages.post("/second-factor/recovery-codes")
@require_access(Role.MEMBER)
def replace_recovery_codes() -> ResponseReturnValue:
    """Replace the recovery codes and show the new ones."""
    code, codes = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        codes[:] = replace_codes(session, user, code, now)

    return _show_recovery_codes(work, codes)


@second_factor_pages.post("/second-factor/remove")
@require_access(Role.MEMBER)
def remove_second_factor() -> ResponseReturnValue:
    """Remove the user's second factor, after one of its codes."""
    code = request.form.get("code", "")

    def work(session: Session, user: User, now: datetime) -> None:
        use_code(session, user, code, now)
        remove_factor(session, user, by=user.name, now=now)

    try:
        count_code_attempt(current_user(), work)
    except RequestError as error:
        return _render_factor_page(problem=error.problem), error.status
    return redirect(url_for("second_factor.show_second_factor"), 303)


def _show_recovery_codes(
    work: Callable[[Session, User, datetime], None], codes: list[str]
) -> ResponseReturnValue:
    try:
        count_code_attempt(current_user(), work)
    except RequestError as error:
        return _render_factor_page(problem=error.problem), error.status
    return render_template("researcher/recovery_codes.html", codes=codes)


def _render_factor_page(problem: str = "") -> str:
    services, user = current_services(), current_user()
    with reading(services.sessions) as session:
        factor = find_factor(session, user)
        n_codes_left = count_unused_codes(session, user)
    begun = factor is not None and factor.confirmed_at is None
    return render_template(
        "researcher/second_factor.html",
        factor=factor,
        picture=_make_qr_code(factor, user) if factor is not None and begun else "",
        secret=_split_into_groups(factor.secret) if factor is not None and begun else "",
        codes_left=n_codes_left,
        needed=SecondFactorPolicy(services.settings.second_factor).concerns(user),
        problem=problem,
    )


def _make_qr_code(factor: SecondFactor, user: User) -> str:
    """Return the QR code for the authenticator app, as a data URI."""
    host = urlsplit(current_services().settings.link_base).hostname or "parallax"
    uri: str = segno.make(make_app_address(factor, user, host), micro=False).svg_data_uri(
        scale=5, border=4, light="#fff"
    )
    return uri


def _split_into_groups(secret: str) -> str:
    return " ".join(secret[i : i + 4] for i in range(0, len(secret), 4))
