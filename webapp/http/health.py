"""The public health check: whether this server can serve participants."""

import logging
from http import HTTPStatus

from flask import Blueprint, Response, current_app, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy import text

from webapp.database.engine import DATABASE_FAILURES, reading
from webapp.gate.paying_copy import get_public_mark
from webapp.services import current_services

# The app extension with the function that returns whether the process is about to end.
STOPPING_KEY = "parallax_stopping"
HEALTHZ_PATH = "/healthz"
# Tells the doctor that the reverse proxy is not trusted, so that all requests seem to come from one
# address.
IGNORED_HEADER = "X-Forwarded-For-Ignored"
# Tells another copy of this installation that this copy is running and pays.
PAYING_COPY_HEADER = "Paying-Copy"
health_routes = Blueprint("health", __name__)
# The Retry-After value in seconds.
_RETRY_AFTER_S = "5"
_LOG = logging.getLogger(__name__)


@health_routes.get(HEALTHZ_PATH)
def healthz() -> ResponseReturnValue:
    """Return 200 if the database can be read and written; 503 if not, or while the process ends.

    The endpoint is public. Therefore, the trial write is undone and repeated only every few
    seconds, and all failures look the same: the reason is in the log and on the private port.
    """
    if STOPPING_KEY in current_app.extensions and current_app.extensions[STOPPING_KEY]():
        return not_ready_response()
    with reading(current_services().sessions) as session:
        session.execute(text("SELECT 1"))
    if problem := current_services().write_trial.problem():
        _LOG.error("not ready: %s", problem)
        return not_ready_response()
    answer = jsonify(status="ok")
    if mark := get_public_mark(current_services().instance):
        answer.headers[PAYING_COPY_HEADER] = mark
    if _comes_from_unknown_proxy():
        answer.headers[IGNORED_HEADER] = "1"
    return answer


def _comes_from_unknown_proxy() -> bool:
    """Return whether X-Forwarded-For comes from a proxy that the settings do not list."""
    is_known = current_services().addresses.is_from_proxy(request.environ)
    return "X-Forwarded-For" in request.headers and not is_known


def not_ready_response() -> Response:
    """Return the response that this server should receive no requests at the moment."""
    response = jsonify(status="unavailable")
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Retry-After"] = _RETRY_AFTER_S
    return response


def _handle_database_failure(error: Exception) -> Response:
    # Only the database's message, in one line.
    cause = getattr(error, "orig", None) or error
    _LOG.error("the database failed: %s", str(cause).partition("\n")[0])
    return not_ready_response()


for _failure in DATABASE_FAILURES:
    health_routes.register_error_handler(_failure, _handle_database_failure)
