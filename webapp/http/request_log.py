"""One line, and one count, for every request: what was asked, how it ended, how long it took.

That the server is well is no line of its own.
"""

import logging
import re
import secrets
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING

from flask import Flask, Response, request
from structlog.contextvars import bind_contextvars, clear_contextvars

from webapp.core.logging import REQUESTS
from webapp.core.metrics import Metrics
from webapp.http.health import HEALTHZ

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

REQUEST_ID = "X-Request-ID"
_LOG = logging.getLogger(REQUESTS)
_GIVEN_ID = re.compile(r"[A-Za-z0-9_-]{8,64}", re.ASCII)
_ID, _BEGAN = "parallax.request_id", "parallax.began"
_NOWHERE = "none"


def log_requests(app: Flask, metrics: Metrics | None) -> None:
    """Log every request of the app, and count it where there are metrics.

    Args:
        app: The app, before anything else looks at its requests.
        metrics: The process's metrics; None where nobody asks for them.
    """
    app.before_request(_begin)
    app.after_request(partial(_end, metrics))


def _begin() -> None:
    environ, began = request.environ, perf_counter()
    request_id = new_request_id(environ)
    clear_contextvars()
    bind_contextvars(request_id=request_id)
    environ[_ID], environ[_BEGAN] = request_id, began


def new_request_id(environ: "WSGIEnvironment") -> str:
    """Return the request's name in the log: the one a web server in front gave it, or a new one."""
    sent_id = environ.get("HTTP_X_REQUEST_ID", "")
    return sent_id if _GIVEN_ID.fullmatch(sent_id) else secrets.token_hex(8)


def _end(metrics: Metrics | None, response: Response) -> Response:
    environ = request.environ
    took_s = perf_counter() - environ[_BEGAN]
    # The address holds the participant's token, so only the endpoint is named.
    endpoint, status = request.endpoint or _NOWHERE, response.status_code
    if not (response.is_json and status == HTTPStatus.OK):
        # Nobody asks about an answer that was acknowledged, and each byte is sent for every one.
        response.headers[REQUEST_ID] = environ[_ID]
    # Anybody may ask whether the server is well, and monitors do every few seconds.
    asked_for_health = request.path == HEALTHZ and status == HTTPStatus.OK
    level = logging.DEBUG if asked_for_health else logging.INFO
    log_request(metrics, environ["REQUEST_METHOD"], endpoint, status, took_s, level)
    return response


def log_request(
    metrics: Metrics | None,
    method: str,
    endpoint: str,
    status: int,
    took_s: float,
    level: int = logging.INFO,
) -> None:
    """Count a request that was answered, and write its line."""
    if metrics is not None:
        metrics.count_request(endpoint, status, took_s)
    fields = {
        "method": method,
        "endpoint": endpoint,
        "status": status,
        "duration_ms": round(took_s * 1000, 2),
    }
    if _LOG.isEnabledFor(level):
        # As the logger does, but for the search of who called it, which no line says.
        _LOG.handle(_LOG.makeRecord(REQUESTS, level, "", 0, "request", (), None, extra=fields))
