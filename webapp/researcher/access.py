"""Access to researcher pages: roles, rights in projects, the session cookie and form tokens.

A run or a project that a user may not see gives the same answer as one that does not exist.
"""

import hmac
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from flask import Blueprint, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from experiment.errors import ParallaxError
from webapp.core.addresses import RESEARCHER_PATH
from webapp.core.i18n import SOURCE_LANGUAGE, set_language
from webapp.database.engine import reading
from webapp.database.models import Project, Run, SignIn, User
from webapp.errors import RequestError
from webapp.researcher.run_checks import refuse_impossible_act
from webapp.researcher.template_globals import DONE_ARGUMENT, make_template_globals
from webapp.runs.second_person import SecondPersonError
from webapp.services import current_services
from webapp.users.projects import get_project_rights
from webapp.users.roles import Right, Role, find_lowest_role
from webapp.users.second_factor import SecondFactorPolicy, find_confirmed_factor
from webapp.users.sign_in import find_session, make_form_token, record_session_use

SESSION_COOKIE = "parallax_researcher"
_CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
View = TypeVar("View", bound=Callable[..., Any])


def require_access(
    needed: Role | Right | None,
    *,
    largest_body: int | None = None,
    before_second_factor: bool = False,
) -> Callable[[View], View]:
    """Declare the role or right that a view needs.

    Args:
        needed: A role in the installation, or a right in the request's project; None if the view is
            open to everybody, signed in or not.
        largest_body: The view's limit of the request body in bytes; None for the limit of all
            pages.
        before_second_factor: Whether the view is open to users who have yet to set up a required
            second factor.
    """

    def mark(view: View) -> View:
        view.needed = needed  # type: ignore[attr-defined]
        view.largest_body = largest_body  # type: ignore[attr-defined]
        view.before_second_factor = before_second_factor  # type: ignore[attr-defined]
        return view

    return mark


def get_required_access(endpoint: str) -> Role | Right | None:
    """Return the role or right that a view needs, None if the view is open to everybody.

    Raises:
        KeyError: The view has no declaration.
    """
    view = current_app.view_functions[endpoint]
    if not hasattr(view, "needed"):
        raise KeyError(f"the view {endpoint} does not say what it needs")
    needed: Role | Right | None = view.needed
    return needed


def guard_blueprint(pages: Blueprint) -> Blueprint:
    """Return the blueprint, with an access check before every request to it."""
    if not pages._got_registered_once:
        pages.before_request(_check_access)
        pages.context_processor(make_template_globals)
        pages.register_error_handler(RequestError, _render_refusal)
    return pages


def current_user() -> User:
    """Return the user who is signed in."""
    user: User = g.user
    return user


def is_still_allowed() -> bool:
    """Return whether the user watching a run is still signed in and allowed to see the run."""
    signed_in_user = _find_signed_in_user(request.cookies.get(SESSION_COOKIE, ""))
    try:
        if signed_in_user is not None:
            check_project_right(signed_in_user[0], Right.SEE)
    except RequestError:
        return False
    return signed_in_user is not None


def _check_access() -> ResponseReturnValue | None:
    g.user, g.form_token, g.rights, g.project_id = None, "", frozenset(), None
    needed = get_required_access(request.endpoint or "")
    token = request.cookies.get(SESSION_COOKIE, "")
    signed_in_user = _find_signed_in_user(token)
    set_language(SOURCE_LANGUAGE)
    if signed_in_user is not None:
        g.user, sign_in = signed_in_user
        g.form_token = make_form_token(token)
        record_session_use(current_services().sessions, sign_in, current_services().now())
    if request.method in _CHANGING_METHODS:
        view: Any = current_app.view_functions[request.endpoint or ""]
        if view.largest_body is not None and signed_in_user is not None:
            request.max_content_length = view.largest_body
        _check_form_token(token if signed_in_user else "")
    if needed is None:
        return None
    if g.user is None:
        return redirect(url_for("sign_in.show_sign_in_form", next=_get_return_address()), 303)
    if isinstance(needed, Right):
        check_project_right(g.user, needed)
    elif not Role(g.user.role).may(needed):
        raise make_role_refusal(g.user, needed)
    to_second_factor = _redirect_to_second_factor(g.user)
    if to_second_factor is None and "ref" in (request.view_args or {}):
        refuse_impossible_act(request.endpoint or "", (request.view_args or {})["ref"])
    return to_second_factor


def _redirect_to_second_factor(user: User) -> ResponseReturnValue | None:
    """Redirect a user who lacks a required second factor to the page where it is set up."""
    services = current_services()
    view: Any = current_app.view_functions[request.endpoint or ""]
    needed = SecondFactorPolicy(services.settings.second_factor).concerns(user)
    if view.before_second_factor or not needed:
        return None
    with reading(services.sessions) as session:
        has_factor = find_confirmed_factor(session, user) is not None
    return None if has_factor else redirect(url_for("second_factor.show_second_factor"), 303)


def _render_refusal(error: RequestError) -> ResponseReturnValue:
    current_app.logger.info("%s %s: %s", request.method, request.endpoint, error.code)
    titles = {
        HTTPStatus.NOT_FOUND: "Not found",
        HTTPStatus.FORBIDDEN: "Not allowed",
    }
    heading = titles.get(HTTPStatus(error.status)) or "Nothing was done"
    sees_run = Right.SEE in g.get("rights", ()) and error.status != HTTPStatus.NOT_FOUND
    ref = (request.view_args or {}).get("ref") if sees_run else None
    page = render_template("researcher/error.html", heading=heading, text=error.problem, ref=ref)
    return page, error.status


def get_refusal_status(error: ParallaxError) -> HTTPStatus:
    """Return the status of the page that shows why an act was not done."""
    # The first of two people has done their part: the request is stored.
    is_half_done = isinstance(error, SecondPersonError)
    return HTTPStatus.ACCEPTED if is_half_done else HTTPStatus.CONFLICT


def _find_signed_in_user(token: str) -> tuple[User, SignIn] | None:
    if not token:
        return None
    services = current_services()
    with reading(services.sessions) as session:
        return find_session(session, token, services.now())


def _check_form_token(token: str) -> None:
    # The app has refused requests from other sites; without a session there is nothing to protect.
    sent_token = request.form.get("form_token", "").encode("utf-8", "replace")
    if token and not hmac.compare_digest(make_form_token(token).encode(), sent_token):
        raise RequestError(
            "This form is too old, so nothing was done. Please load the page again and repeat it.",
            status=403,
            code="old_form",
        )


def _get_return_address() -> str:
    return request.full_path.rstrip("?") if request.method == "GET" else ""


def get_safe_return_address(address: str) -> str:
    """Return the page to open after signing in.

    Always a researcher page, whatever the link names.
    """
    is_ours = (
        address.startswith(f"{RESEARCHER_PATH}/") and "\\" not in address and "//" not in address
    )
    return address if is_ours else url_for("runs.show_runs")


def redirect_after_act(endpoint: str, **values: str) -> Response:
    """Return a redirect to a page, which then states what the user has just done."""
    arguments: dict[str, Any] = {**values, DONE_ARGUMENT: "1"}
    return redirect(url_for(endpoint, **arguments), 303)


def set_session_cookie(response: Response, token: str) -> Response:
    """Return the response with the cookie that keeps the user signed in."""
    response.set_cookie(
        SESSION_COOKIE,
        token,
        path=RESEARCHER_PATH,
        secure=current_services().settings.link_base.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )
    return response


def delete_session_cookie(response: Response) -> Response:
    """Return the response with the cookie deleted."""
    response.delete_cookie(SESSION_COOKIE, path=RESEARCHER_PATH, httponly=True, samesite="Lax")
    return response


NO_RUN_MESSAGE = "There is no study at this address. Please check the link you were given."


def check_project_right(user: User, needed: Right, only: int | None = None) -> None:
    """Refuse a user who lacks a right, and store the user's rights in the project for the request.

    Args:
        user: The signed-in user, or the owner of the token.
        needed: The right that the view needs.
        only: The project to which a token is bound; None for any.

    Raises:
        RequestError: The user may not see the project, or lacks the right.
    """
    with reading(current_services().sessions) as session:
        project_id = _find_requested_project_id(session)
        g.project_id = project_id
        g.rights = get_project_rights(session, user, project_id)
    if Right.SEE not in g.rights or (only is not None and project_id != only):
        raise _make_not_found_error()
    if needed in g.rights:
        return
    if project_id is None:
        raise make_role_refusal(user, find_lowest_role(needed))
    raise RequestError(
        f'Your role in this project does not include the right to "{needed}". Ask a '
        "manager of the project.",
        status=403,
        code="not_allowed",
    )


def make_role_refusal(user: User, needed: Role) -> RequestError:
    """Return the refusal of a request that needs another role in the installation."""
    return RequestError(
        f"Your role is {user.role}; this needs the role {needed}. Ask an "
        "owner of this installation.",
        status=403,
        code="not_allowed",
    )


def get_current_project_id() -> int | None:
    """Return the id of the request's project; None if it has none."""
    project_id: int | None = g.get("project_id")
    return project_id


def _find_requested_project_id(session: Session) -> int | None:
    """Return the id of the project that the request names, or of the run that it names."""
    names = request.view_args or {}
    if "ref" in names:
        run = session.execute(select(Run.project_id).where(Run.ref == names["ref"])).first()
        if run is None:
            raise _make_not_found_error()
        return run[0]
    name = names.get("project", request.values.get("project", ""))
    if not name:
        return None
    project_id = session.scalar(select(Project.id).where(Project.name == name))
    if project_id is None:
        raise _make_not_found_error()
    return project_id


def _make_not_found_error() -> RequestError:
    if "ref" in (request.view_args or {}):
        return RequestError(NO_RUN_MESSAGE, status=404, code="unknown_run")
    name = (request.view_args or {}).get("project", request.values.get("project", ""))
    if not name:
        # Objects without a project are open only to roles of the installation.
        return make_role_refusal(g.user, Role.VIEWER)
    return RequestError(
        "There is no project at this address, or you are not a member of it.",
        status=404,
        code="unknown_project",
    )
