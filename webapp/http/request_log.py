"""One log line and one count for every request: method, endpoint, status and duration.

Successful health checks are not logged.
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
from webapp.http.health import HEALTHZ_PATH

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

REQUEST_ID_HEADER = "X-Request-ID"
_LOG = logging.getLogger(REQUESTS)
_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{8,64}", re.ASCII)
_ID, _STARTED = "parallax.request_id", "parallax.began"
_NO_ENDPOINT = "none"


def log_requests(app: Flask, metrics: Metrics | None) -> None:
    """Log every request of the app, and count it if there are metrics.

    Args:
        app: The app, before other handlers are registered.
        metrics: The process's metrics; None if metrics are off.
    """
    app.before_request(_start_request)
    app.after_request(partial(_finish_request, metrics))


def _start_request() -> None:
    environ, started = request.environ, perf_counter()
    request_id = new_request_id(environ)
    clear_contextvars()
    bind_contextvars(request_id=request_id)
    environ[_ID], environ[_STARTED] = request_id, started


def new_request_id(environ: "WSGIEnvironment") -> str:
    """Return the request's id in the log: the one that a reverse proxy sent, or a new one."""
    sent_id = environ.get("HTTP_X_REQUEST_ID", "")
    return sent_id if _ID_PATTERN.fullmatch(sent_id) else secrets.token_hex(8)


def _finish_request(metrics: Metrics | None, response: Response) -> Response:
    environ = request.environ
    duration_s = perf_counter() - environ[_STARTED]
    # The URL contains the participant's token, so only the endpoint is logged.
    endpoint, status = request.endpoint or _NO_ENDPOINT, response.status_code
    if not (response.is_json and status == HTTPStatus.OK):
        # Acknowledged answers need no request id, and omitting it saves bytes on each one.
        response.headers[REQUEST_ID_HEADER] = environ[_ID]
    # Monitors call the health check every few seconds.
    is_health_check = request.path == HEALTHZ_PATH and status == HTTPStatus.OK
    level = logging.DEBUG if is_health_check else logging.INFO
    log_request(metrics, environ["REQUEST_METHOD"], endpoint, status, duration_s, level)
    return response


def log_request(
    metrics: Metrics | None,
    method: str,
    endpoint: str,
    status: int,
    duration_s: float,
    level: int = logging.INFO,
) -> None:
    """Count a completed request, and write its log line."""
    if metrics is not None:
        metrics.count_request(endpoint, status, duration_s)
    fields = {
        "method": method,
        "endpoint": endpoint,
        "status": status,
        "duration_ms": round(duration_s * 1000, 2),
    }
    if _LOG.isEnabledFor(level):
        # Like the logger itself, but without looking up the caller, which no line contains.
        _LOG.handle(_LOG.makeRecord(REQUESTS, level, "", 0, "request", (), None, extra=fields))
