"""The accounts of an installation, for its owners: creating, changing and restoring access."""

import secrets

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.database.models import SecondFactor, SignIn, User
from webapp.errors import RequestError
from webapp.researcher.access import current_user, require_access
from webapp.services import current_services
from webapp.users import users as accounts
from webapp.users.audit_log import record_act
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.second_factor import remove_factor
from webapp.users.sign_in import sign_out_everywhere
from webapp.users.users import create_password_link

account_pages = Blueprint("accounts", __name__)


@account_pages.get("/accounts")
@require_access(Role.OWNER)
def show_accounts() -> str:
    """Show every account, its last use, and whether it has a second factor."""
    last = select(SignIn.user_id, func.max(SignIn.seen_at)).group_by(SignIn.user_id)
    with_factor = select(SecondFactor.user_id).where(SecondFactor.confirmed_at.is_not(None))
    with reading(current_services().sessions) as session:
        account_data = {
            "accounts": accounts.list_users(session),
            "last": {row[0]: row[1] for row in session.execute(last)},
            "with_factor": set(session.scalars(with_factor)),
        }
    return render_template("researcher/accounts.html", roles=list(Role), **account_data)


@account_pages.post("/accounts/add")
@require_access(Role.OWNER)
def add_account() -> ResponseReturnValue:
    """Create an account, and show once a link for its user to set a password."""
    services, by, form = current_services(), current_user().name, request.form
    elsewhere = bool(form.get("elsewhere"))
    # A random password that nobody knows: the link is the only way in.
    hashed = "" if elsewhere else hash_password(secrets.token_urlsafe(32))
    with services.sessions.begin() as session:
        try:
            user = accounts.add_user(
                session, form.get("name", ""), _read_role(), hashed, by=by, now=services.now()
            )
        except accounts.UserError as error:
            raise _make_refusal(error) from error
        token = "" if elsewhere else create_password_link(session, user, by=by, now=services.now())
    return (
        redirect(url_for("accounts.show_accounts"), 303)
        if elsewhere
        else _render_link_page(user, token)
    )


@account_pages.post("/accounts/change")
@require_access(Role.OWNER)
def change_account() -> ResponseReturnValue:
    """Change another user's role, or disable or re-enable their account."""
    services, by, act = current_services(), current_user().name, request.form.get("act", "")
    with services.sessions.begin() as session:
        user = _find_user(session)
        if user.name == by:
            problem = "Only another owner can change your own account."
            raise RequestError(problem, status=400, code="own_account")
        try:
            if act == "role":
                accounts.set_role(session, user, _read_role(), by=by, now=services.now())
            elif act in ("disable", "enable"):
                done = accounts.disable_user if act == "disable" else accounts.enable_user
                done(session, user, by=by, now=services.now())
            else:
                raise RequestError("The form names no change.", status=400, code="no_act")
        except accounts.UserError as error:
            raise _make_refusal(error) from error
    return redirect(url_for("accounts.show_accounts"), 303)


@account_pages.post("/accounts/password-link")
@require_access(Role.OWNER)
def make_password_link() -> ResponseReturnValue:
    """Show once a link by which a user can set a new password."""
    services = current_services()
    with services.sessions.begin() as session:
        user = _find_user(session)
        try:
            token = create_password_link(session, user, by=current_user().name, now=services.now())
        except accounts.UserError as error:
            raise _make_refusal(error) from error
    return _render_link_page(user, token)


@account_pages.post("/accounts/sign-out")
@require_access(Role.OWNER)
def sign_user_out() -> ResponseReturnValue:
    """End every session of a user."""
    services, by = current_services(), current_user().name
    with services.sessions.begin() as session:
        user = _find_user(session)
        sign_out_everywhere(session, user, services.now())
        record_act(session, by, "signed out by an owner", services.now(), after={"user": user.name})
    return redirect(url_for("accounts.show_accounts"), 303)


@account_pages.post("/accounts/remove-second-factor")
@require_access(Role.OWNER)
def remove_second_factor() -> ResponseReturnValue:
    """Remove the second factor of a user who lost it and their recovery codes."""
    services, by = current_services(), current_user().name
    with services.sessions.begin() as session:
        user = _find_user(session)
        if user.name == by:
            raise RequestError(
                "Remove your own second factor on its page, with one of its codes.",
                status=400,
                code="own_factor",
            )
        if remove_factor(session, user, by=by, now=services.now()):
            sign_out_everywhere(session, user, services.now())
    return redirect(url_for("accounts.show_accounts"), 303)


def _render_link_page(user: User, token: str) -> str:
    base = current_services().settings.link_base
    link = f"{base}{url_for('passwords.show_password_link', token=token)}"
    return render_template("researcher/password_link.html", name=user.name, link=link)


def _read_role() -> Role:
    try:
        return Role(request.form.get("role", ""))
    except ValueError as error:
        problem = "There is no such role."
        raise RequestError(problem, status=400, code="bad_role") from error


def _find_user(session: Session) -> User:
    try:
        return accounts.find_user(session, request.form.get("name", ""))
    except ParallaxError as error:
        raise _make_refusal(error) from error


def _make_refusal(error: ParallaxError) -> RequestError:
    message = f"{error.problem}. {error.remedy}" if error.remedy else error.problem
    return RequestError(
        f"The account was not changed: {message}.",
        status=400,
        code="bad_account",
    )
