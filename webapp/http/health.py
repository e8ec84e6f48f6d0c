"""The public health check: whether participants are answered here."""

import logging
from http import HTTPStatus

from flask import Blueprint, Response, current_app, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy import text

from webapp.database.engine import FAILURES, reading
from webapp.gate.paying_copy import public_mark
from webapp.services import current_services

# Under this name the app keeps the question whether its process is about to end.
STOPPING = "parallax_stopping"
HEALTHZ = "/healthz"
# Tells the doctor that the web server in front is not trusted, so all come from one address.
IGNORED = "X-Forwarded-For-Ignored"
# Tells another copy of this installation that this one lives, and pays.
PAYING_COPY = "Paying-Copy"
health_address = Blueprint("health", __name__)
# After how many seconds to ask again.
_AGAIN_S = "5"
_LOG = logging.getLogger(__name__)


@health_address.get(HEALTHZ)
def healthz() -> ResponseReturnValue:
    """Answer yes once the database has stored something too, and no while the process is ending.

    Anybody may ask, so what is stored is taken back, only every few seconds is it done anew, and
    every no is the same: the reason is in the log and on the private port.
    """
    if STOPPING in current_app.extensions and current_app.extensions[STOPPING]():
        return no()
    with reading(current_services().sessions) as session:
        session.execute(text("SELECT 1"))
    if problem := current_services().write_trial.problem():
        _LOG.error("not ready: %s", problem)
        return no()
    answer = jsonify(status="ok")
    if mark := public_mark(current_services().instance):
        answer.headers[PAYING_COPY] = mark
    if _is_not_trusted():
        answer.headers[IGNORED] = "1"
    return answer


def _is_not_trusted() -> bool:
    """Return whether somebody names the client's address whom the settings do not know."""
    known = current_services().addresses.is_from_proxy(request.environ)
    return "X-Forwarded-For" in request.headers and not known


def no() -> Response:
    """Return the answer that nobody should be sent here at the moment."""
    response = jsonify(status="unavailable")
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Retry-After"] = _AGAIN_S
    return response


def _database_failed(error: Exception) -> Response:
    # Only the database's own words, in one line.
    cause = getattr(error, "orig", None) or error
    _LOG.error("the database failed: %s", str(cause).partition("\n")[0])
    return no()


for _failure in FAILURES:
    health_address.register_error_handler(_failure, _database_failed)
