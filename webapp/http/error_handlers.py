"""Error responses: a friendly page for people, one JSON shape for programs, never a traceback."""

from contextlib import suppress
from http import HTTPStatus
from urllib.parse import quote

from flask import (
    Flask,
    Response,
    current_app,
    jsonify,
    make_response,
    render_template,
    request,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from experiment.errors import ParallaxError
from webapp.core.i18n import gettext
from webapp.database.engine import DATABASE_FAILURES
from webapp.database.pool import PoolFullError
from webapp.errors import RequestError

# The blueprints that programs call; people read all other responses.
_PROGRAM_BLUEPRINTS = frozenset({"answers", "api", "health"})
# The Retry-After value in seconds for new participants.
_POOL_RETRY_S = "5"
# The number of seconds after which a page reloads while the database is unavailable.
_DATABASE_RETRY_S = "5"


def register_error_handlers(app: Flask) -> None:
    """Register handlers for every error that a request of this app may raise."""
    app.register_error_handler(RequestError, refusal_response)
    app.register_error_handler(ParallaxError, _handle_study_error)
    app.register_error_handler(PoolFullError, _handle_full_pool)
    for failure in DATABASE_FAILURES:
        app.register_error_handler(failure, _handle_database_failure)
    app.register_error_handler(HTTPException, _handle_http_error)


def refusal_response(error: RequestError) -> Response:
    """Return the error page or the JSON for a refused request."""
    # The URL contains the participant's token, so only the endpoint is logged.
    current_app.logger.info("%s %s: %s", request.method, request.endpoint, error.code)
    response = _make_response(error.status, error.code, error.problem)
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        response.headers["Retry-After"] = _POOL_RETRY_S
    return response


def _handle_study_error(error: ParallaxError) -> Response:
    # The operator can fix this, the participant cannot: the details go to the log.
    current_app.logger.error("%s", error)
    text = gettext("This study cannot be shown. Please try again later.")
    return _make_response(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", text)


def _handle_database_failure(error: SQLAlchemyError) -> Response:
    # Only the database's message: the statement's parameters contain participants' answers.
    cause = error.orig if isinstance(error, DBAPIError) else error
    if getattr(cause, "sqlite_errorname", "") == "SQLITE_ERROR":
        # SQLite's error for an invalid statement: a bug that retrying does not fix.
        raise error
    current_app.logger.error("the database failed: %s", str(cause).partition("\n")[0])
    return database_away_response(for_program=request.blueprint in _PROGRAM_BLUEPRINTS)


def database_away_response(*, for_program: bool) -> Response:
    """Return the response for an unavailable database; a page reloads by itself.

    Args:
        for_program: Whether a program made the request and expects JSON.
    """
    text = _error_text(HTTPStatus.INTERNAL_SERVER_ERROR)
    if for_program:
        response = make_response(jsonify(error={"code": "unavailable", "message": text}))
    else:
        # Submitted data are sent again by the user or by the page's script.
        retry_after_s = _DATABASE_RETRY_S if request.method in ("GET", "HEAD") else ""
        if retry_after_s:
            text = gettext("Your answers so far are safe. This page tries again every few seconds.")
        page = render_template(
            "error.html", heading=error_heading("unavailable"), text=text, again_s=retry_after_s
        )
        response = make_response(page)
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Retry-After"] = _DATABASE_RETRY_S
    return response


def _handle_full_pool(error: PoolFullError) -> Response:
    current_app.logger.warning("the database is busy: %s", error)
    text = gettext(
        "Many people are taking part right now. Your answers so far are safe. Please reload"
        " the page in a few seconds."
    )
    response = _make_response(HTTPStatus.SERVICE_UNAVAILABLE, "busy", text)
    response.headers["Retry-After"] = _POOL_RETRY_S
    return response


def _handle_http_error(error: HTTPException) -> Response:
    if isinstance(error, MethodNotAllowed) and (path := _find_page_above()):
        return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": quote(path)})
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    response = _make_response(status, status.name.lower(), _error_text(status))
    headers_to_keep = [
        (name, value) for name, value in error.get_headers() if name != "Content-Type"
    ]
    response.headers.extend(headers_to_keep)
    return response


def _find_page_above() -> str:
    """Return the page above the address of a form that was opened like a page; else empty."""
    routes = current_app.create_url_adapter(request)
    if routes is None or request.method != "GET":
        return ""
    with suppress(HTTPException):
        endpoint, _ = routes.match(request.path, method="POST")
        if endpoint.partition(".")[0] in _PROGRAM_BLUEPRINTS:
            return ""
    path = request.path
    while path := path.rpartition("/")[0]:
        for address in (path, f"{path}/"):
            # Opened like any page, so who may not see it is refused there.
            with suppress(HTTPException):
                routes.match(address, method="GET")
                return address
    return ""


def _make_response(status: int, code: str, text: str) -> Response:
    if request.blueprint in _PROGRAM_BLUEPRINTS:
        return make_response(jsonify(error={"code": code, "message": text}), status)
    return make_response(
        render_template("error.html", heading=error_heading(code), text=text), status
    )


_LINK_ERRORS = (
    "bad_arrival", "bad_signature", "bad_token", "malformed_id", "missing_id", "not_found",
    "other_study", "unfilled_link", "unknown_link", "unknown_participant", "unknown_run",
)  # fmt: skip


def error_heading(code: str) -> str:
    """Return an error page's heading for the error's short name."""
    headings = {
        "run_full": gettext("The study is full"),
        "run_closed": gettext("The study is closed"),
        "earlier_run": gettext("You have taken part before"),
        "part_before": gettext("Please take the earlier part first"),
        "expired_token": gettext("This link has expired"),
        "internal_server_error": gettext("Something went wrong on our side"),
        "busy": gettext("Please try again in a moment"),
        "unavailable": gettext("Not available at the moment"),
    }
    if code in _LINK_ERRORS:
        return gettext("This link does not work")
    return headings.get(code) or gettext("This page cannot be shown")


def _error_text(status: HTTPStatus) -> str:
    texts = {
        HTTPStatus.NOT_FOUND: gettext("There is no page at this address. Please check the link."),
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: gettext("What was sent is too long."),
        HTTPStatus.INTERNAL_SERVER_ERROR: gettext(
            "Your answers so far are safe. Please reload the page in a moment."
        ),
    }
    return texts.get(status) or gettext("This request cannot be answered.")
