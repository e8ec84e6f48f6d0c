"""The short way of an answer: what nearly every request of a session is, without Flask.

Flask's contexts, routing and hooks cost several times what storing the answer does, and people
wait for it at each trial. Only a plain answer is taken here: one that the next transaction
stores as it is (``webapp.sessions.record_batch``). Everything else goes on to the app untouched:
what is forged, refused, sent by another site or to another host, what must be retried, what ends a
session. Answers are stored once, so the app may be given one that was stored here. The log and the
counts, which nobody waits for, follow the acknowledgement.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from flask import Flask
from pydantic import ValidationError
from structlog.contextvars import bind_contextvars, clear_contextvars

from webapp.core.metrics import Metrics
from webapp.http.origins import our_hosts
from webapp.http.request_log import log_request, new_request_id
from webapp.http.security_headers import headers_of_programs
from webapp.participant.answers import LARGEST_ANSWER_BYTES, SAVE
from webapp.services import Services
from webapp.sessions.record import GivenAnswer
from webapp.sessions.record_batch import SentAnswer

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_ADDRESS = re.compile(r"/p/([\w.-]+)/answers", re.ASCII)
# How many bytes a body has; Python reads no number of thousands of digits.
_LENGTH = re.compile(r"[0-9]{1,9}", re.ASCII)
_OWN_SITE = ("same-origin", "none")


class _Sent(NamedTuple):
    """A request that may be a plain answer: the session's reference, and the answer's bytes."""

    ref: str
    body: bytes


def answer_the_short_way(app: Flask, services: Services, metrics: Metrics | None) -> None:
    """Store plain answers before the app is asked, and send everything else on to it.

    Args:
        app: The app; its settings for hosts hold here too.
        services: The installation's parts.
        metrics: The process's metrics; None where nobody asks for them.
    """
    inner = app.wsgi_app
    headers = list(headers_of_programs(services.settings.public_url).items())
    is_ours = our_hosts(app)

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        began = perf_counter()
        sent = _read(environ, services, is_ours)
        if sent is None:
            return inner(environ, start)
        request_id = new_request_id(environ)
        clear_contextvars()
        bind_contextvars(request_id=request_id, participant=sent.ref)
        stored = _store(sent, services)
        if stored is None:
            environ["wsgi.input"] = BytesIO(sent.body)
            return inner(environ, start)
        position, remaining = stored
        body = b'{"saved":%d,"remaining":%d}' % (position, remaining)
        start("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return _reply(body, metrics, began)

    app.wsgi_app = answer  # type: ignore[method-assign,assignment]


def _read(
    environ: "WSGIEnvironment", services: Services, is_ours: Callable[[str], bool]
) -> _Sent | None:
    """Return what a request holds; None, with nothing read of its body, where it is another."""
    if environ["REQUEST_METHOD"] != "POST":
        return None
    address = _ADDRESS.fullmatch(environ["PATH_INFO"])
    length = environ.get("CONTENT_LENGTH") or ""
    if address is None or not _LENGTH.fullmatch(length) or int(length) > LARGEST_ANSWER_BYTES:
        return None
    site = environ.get("HTTP_SEC_FETCH_SITE")
    elsewhere = "HTTP_ORIGIN" in environ if site is None else site not in _OWN_SITE
    if elsewhere or "HTTP_TRANSFER_ENCODING" in environ:
        return None
    ref = services.tokens.read_known(address[1])
    if ref is None or not is_ours(environ.get("HTTP_HOST", "")):
        return None
    try:
        body = environ["wsgi.input"].read(int(length))
    except OSError:  # the app says it, in its own way
        return None
    return _Sent(ref, body)


def _store(sent: _Sent, services: Services) -> tuple[int, int] | None:
    """Return the answer's position and how many trials are left; None for what is not plain."""
    try:
        answer = GivenAnswer.model_validate_json(sent.body)
    except ValidationError:
        return None
    remaining = services.answers.submit(SentAnswer(sent.ref, answer, services.now()))
    # The last answer may end the session, which is the app's to do.
    return (answer.position, remaining) if remaining else None


def _reply(body: bytes, metrics: Metrics | None, began: float) -> Iterator[bytes]:
    took_s = perf_counter() - began
    try:
        yield body
    finally:
        log_request(metrics, "POST", SAVE, 200, took_s)
