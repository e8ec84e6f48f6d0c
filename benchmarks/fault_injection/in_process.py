"""Stand-ins that answer in the caller's own thread: what httpx and boto3 send never meets a socket.

An answer takes a fraction of the time, and everything else is as over HTTP: the whole request is
written and read, and a connection that the stand-in closes raises what a closed one raises.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import httpx
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError
from botocore.httpsession import URLLib3Session
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder, run_wsgi_app

_FIRST, _LAST = 1, 1023  # where no stand-in listens in earnest
_served = dict[str, WSGIApplication]()
_Answer = tuple[int, Headers, bytes]


class _Connection:
    """What a stand-in hangs up on."""

    closed = False

    def shutdown(self, _how: int) -> None:
        self.closed = True


class _HungUp(Exception):
    """The stand-in closed the connection."""


class _Raw(BytesIO):
    """A body as botocore reads it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


@contextmanager
def in_process(app: WSGIApplication) -> Iterator[str]:
    """Yield the address at which a stand-in answers whatever this process sends there."""
    free = [port for port in range(_FIRST, _LAST) if f"127.0.0.1:{port}" not in _served]
    where = f"127.0.0.1:{random.Random(len(_served)).choice(free)}"
    over_httpx = partial(_over_httpx, httpx.HTTPTransport.handle_request)
    over_boto3 = partial(_over_boto3, URLLib3Session.send)
    _served[where] = app
    try:
        with (
            patch.object(httpx.HTTPTransport, "handle_request", _method(over_httpx)),
            patch.object(URLLib3Session, "send", _method(over_boto3)),
        ):
            yield f"http://{where}"
    finally:
        del _served[where]


def _method(function: Any) -> Any:  # noqa: ANN401 - a partial is no method by itself
    return lambda self, request: function(self, request)


def _over_httpx(real: Any, self: object, request: httpx.Request) -> httpx.Response:  # noqa: ANN401
    app = _served.get(request.url.netloc.decode())
    if app is None:
        return real(self, request)  # type: ignore[no-any-return]
    try:
        status, headers, body = _answered(
            app, request.method, str(request.url), request.headers.multi_items(), request.read()
        )
    except _HungUp as error:
        raise httpx.RemoteProtocolError("Server disconnected", request=request) from error
    return httpx.Response(status, headers=list(headers), content=body, request=request)


def _over_boto3(real: Any, self: object, request: Any) -> AWSResponse:  # noqa: ANN401
    app = _served.get(urlsplit(request.url).netloc)
    if app is None:
        return real(self, request)
    sent = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    body = request.body if isinstance(request.body, bytes) else (request.body or "").encode()
    try:
        status, headers, body = _answered(app, request.method, request.url, sent, body)
    except _HungUp as error:
        raise ConnectionClosedError(endpoint_url=request.url, error=error) from error
    return AWSResponse(request.url, status, dict(headers), _Raw(body))


def _answered(
    app: WSGIApplication,
    method: str,
    url: str,
    headers: Mapping[str, str] | list[tuple[str, str]],
    body: bytes,
) -> _Answer:
    parts, connection = urlsplit(url), _Connection()
    environ = EnvironBuilder(
        path=parts.path,
        query_string=parts.query,
        base_url=f"{parts.scheme}://{parts.netloc}",
        method=method,
        headers=Headers(headers),
        data=body,
        environ_base={"REMOTE_ADDR": "127.0.0.1"},
    ).get_environ()
    environ["werkzeug.socket"] = connection
    chunks, status, answered = run_wsgi_app(app, environ, buffered=True)
    if connection.closed:
        raise _HungUp
    return int(status.split()[0]), answered, b"".join(chunks)
