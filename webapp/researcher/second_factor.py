"""A user's own second factor: set up with a picture, confirmed by a first code, taken away."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit

import segno
from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import SecondFactor, User
from webapp.errors import RequestError
from webapp.researcher.access import allowed, current_user
from webapp.researcher.guesses import is_own_password, with_code_counted
from webapp.services import current_services
from webapp.users.roles import Role
from webapp.users.second_factor import (
    Needed,
    address_of,
    begin,
    begun_factor,
    confirm,
    new_recovery_codes,
    remove,
    take_code,
    unused_codes,
)

second_factor_pages = Blueprint("second_factor", __name__)


@second_factor_pages.get("/second-factor")
@allowed(Role.MEMBER, before_second_factor=True)
def show() -> str:
    """Show whether one has a second factor, or how to set it up."""
    return _page()


@second_factor_pages.post("/second-factor/begin")
@allowed(Role.MEMBER, before_second_factor=True)
def start() -> ResponseReturnValue:
    """Make a secret, which counts once a first code confirms it."""
    services, user = current_services(), current_user()
    if not is_own_password(user, request.form.get("password", "")):
        return _page(problem="The password is not right."), 401
    with services.sessions.begin() as session:
        begin(session, user, services.now())
    return redirect(url_for("second_factor.show"), 303)


@second_factor_pages.post("/second-factor/confirm")
@allowed(Role.MEMBER, before_second_factor=True)
def finish() -> ResponseReturnValue:
    """Take the first code, and show the recovery codes."""
    code, made = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        made[:] = confirm(session, user, code, now)

    return _with_codes(work, made)


@second_factor_pages.post("/second-factor/recovery-codes")
@allowed(Role.MEMBER)
def make_codes() -> ResponseReturnValue:
    """Show new recovery codes in the place of the earlier ones."""
    code, made = request.form.get("code", ""), list[str]()

    def work(session: Session, user: User, now: datetime) -> None:
        made[:] = new_recovery_codes(session, user, code, now)

    return _with_codes(work, made)


@second_factor_pages.post("/second-factor/remove")
@allowed(Role.MEMBER)
def take_away() -> ResponseReturnValue:
    """Remove one's second factor, with a code of it."""
    code = request.form.get("code", "")

    def work(session: Session, user: User, now: datetime) -> None:
        take_code(session, user, code, now)
        remove(session, user, by=user.name, now=now)

    try:
        with_code_counted(current_user(), work)
    except RequestError as error:
        return _page(problem=error.problem), error.status
    return redirect(url_for("second_factor.show"), 303)


def _with_codes(
    work: Callable[[Session, User, datetime], None], made: list[str]
) -> ResponseReturnValue:
    try:
        with_code_counted(current_user(), work)
    except RequestError as error:
        return _page(problem=error.problem), error.status
    return render_template("researcher/recovery_codes.html", codes=made)


def _page(problem: str = "") -> str:
    services, user = current_services(), current_user()
    with reading(services.sessions) as session:
        factor = begun_factor(session, user)
        left = unused_codes(session, user)
    begun = factor is not None and factor.confirmed_at is None
    return render_template(
        "researcher/second_factor.html",
        factor=factor,
        picture=_picture(factor, user) if factor is not None and begun else "",
        secret=_in_groups(factor.secret) if factor is not None and begun else "",
        codes_left=left,
        needed=Needed(services.settings.second_factor).concerns(user),
        problem=problem,
    )


def _picture(factor: SecondFactor, user: User) -> str:
    """Return the QR code for the authenticator app, as an address that holds all of it."""
    host = urlsplit(current_services().settings.link_base).hostname or "parallax"
    drawn: str = segno.make(address_of(factor, user, host), micro=False).svg_data_uri(
        scale=5, border=4, light="#fff"
    )
    return drawn


def _in_groups(secret: str) -> str:
    return " ".join(secret[i : i + 4] for i in range(0, len(secret), 4))
