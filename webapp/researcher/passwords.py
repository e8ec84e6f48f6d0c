"""A user's own password: changed on a page, or set anew by a link that an owner made."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database.engine import reading
from webapp.database.models import User
from webapp.errors import RequestError, WebappError
from webapp.researcher.access import COOKIE, allowed, current_user, without_cookie
from webapp.researcher.guesses import is_own_password
from webapp.services import current_services
from webapp.users.passwords import SHORTEST_PASSWORD, hash_password
from webapp.users.roles import Role
from webapp.users.secret_links import use_link, user_of_link
from webapp.users.users import set_password

password_pages = Blueprint("passwords", __name__)


@password_pages.get("/password")
@allowed(Role.MEMBER)
def show() -> str:
    """Show the form for a new password."""
    return _form()


@password_pages.post("/password")
@allowed(Role.MEMBER)
def change() -> ResponseReturnValue:
    """Store a new password, and sign out everywhere else."""
    services, user = current_services(), current_user()
    if not is_own_password(user, request.form.get("password", "")):
        return _form(problem="The present password is not right."), 401
    try:
        hashed = _new_password()
    except WebappError as error:
        return _form(problem=_in_words(error)), 400
    with services.sessions.begin() as session:
        here, token = session.get_one(User, user.id), request.cookies.get(COOKIE, "")
        now = services.now()
        set_password(session, here, hashed, by=user.name, now=now, except_token=token)
    return render_template("researcher/password.html", done=True, shortest=SHORTEST_PASSWORD)


# The token is in the query, which the web servers of docs/serving.md write into no log.
@password_pages.get("/new-password")
@allowed(None)
def show_link() -> str:
    """Show the form of a link for a new password; looking does not use it up."""
    return _form_of_link(request.args.get("token", ""))


@password_pages.post("/new-password")
@allowed(None)
def take_link() -> ResponseReturnValue:
    """Store the new password of whom a link is for."""
    services, token = current_services(), request.form.get("token", "")
    with reading(services.sessions) as session:
        user_of_link(session, token, services.now())
    try:
        hashed = _new_password()
    except WebappError as error:
        return _form_of_link(token, problem=_in_words(error)), 400
    with services.sessions.begin() as session:
        use_link(session, token, hashed, services.now())
    return without_cookie(redirect(url_for("sign_in.show"), 303))


def _new_password() -> str:
    new, again = request.form.get("new", ""), request.form.get("again", "")
    if new != again:
        problem = "The two new passwords differ. Type the same one twice."
        raise RequestError(problem, status=400, code="passwords_differ")
    return hash_password(new)


def _in_words(error: WebappError) -> str:
    if isinstance(error, RequestError):
        return error.problem
    sentences = (
        error.problem,
        f"expected: {error.expected}" if error.expected else "",
        error.remedy,
    )
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences if each)


def _form(problem: str = "") -> str:
    return render_template("researcher/password.html", problem=problem, shortest=SHORTEST_PASSWORD)


def _form_of_link(token: str, problem: str = "") -> str:
    services = current_services()
    with reading(services.sessions) as session:
        user, link = user_of_link(session, token, services.now())
    return render_template(
        "researcher/new_password.html",
        name=user.name, link=link, token=token, problem=problem, shortest=SHORTEST_PASSWORD,
    )  # fmt: skip
