"""A separate process for researcher pages, so that their computations never delay participants.

A process handles one request at a time while it computes, so participants' answers would wait for
researcher pages. If the server has several processes, gunicorn starts one more, with lower priority
and few database connections. The other processes serve participants, and hand over requests for
pages of researchers and coders, which their apps lack: each request with a connection of its own,
through a socket pair that all processes inherit. No port or file gives access to it, and requests
wait while the process restarts. It makes its app at the first request, and a new process without
one follows it when nobody opens pages for ten minutes.

Both sides send chunks: the request's environment as JSON, its body and an empty chunk; then status
and headers as JSON, the response body and an empty chunk.
"""

import errno
import json
import logging
import socket as plain_socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, Any, cast

import gevent
from gevent.exceptions import ConcurrentObjectUseError
from gevent.pool import Pool
from gevent.server import StreamServer
from gevent.socket import socket

from webapp.core.addresses import needs_researcher_process
from webapp.errors import WebappError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# A lower priority than that of participant processes; child processes inherit it. It is set only
# after the start, which would otherwise take a minute on a busy machine.
NICE_INCREMENT = 5
# After this time without a request, the process ends, and one without an app takes its place.
IDLE_LIMIT_S = 600.0
_UNAVAILABLE_TEXT = b"This page could not be created. Open it again in a few seconds.\n"
_LOG = logging.getLogger(__name__)


class ResearcherHandover:
    """The WSGI app of participant processes: it hands over researcher requests.

    Args:
        app: Handles all other requests.
        complete_app: Handles researcher requests once this process is ending, because the process
            for researchers ends as well.
        handover_socket: The sending end of the socket pair.
        is_staying: Returns whether this process is not about to end.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        complete_app: "WSGIApplication",
        handover_socket: socket,
        is_staying: Callable[[], bool],
    ) -> None:
        self._app, self._complete_app = app, complete_app
        self._handover_socket, self._is_staying = handover_socket, is_staying

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Handle a request, or hand it over."""
        if not needs_researcher_process(environ["PATH_INFO"]):
            return self._app(environ, start_response)
        if not self._is_staying():
            return self._complete_app(environ, start_response)
        try:
            reply = _Reply(self._handover_socket, environ)
            status, headers = reply.head()
        except (OSError, ConcurrentObjectUseError) as error:
            # The process ended, is overloaded, or cannot open more files.
            _LOG.warning("the process for researcher pages did not respond: %s", error)
            start_response("503 Service Unavailable", [
                ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
                ("Content-Length", str(len(_UNAVAILABLE_TEXT))), ("Retry-After", "5"),
                ("X-Content-Type-Options", "nosniff"),
            ])  # fmt: skip
            return [_UNAVAILABLE_TEXT]
        start_response(status, headers)
        return reply


class _Reply:
    """The response to a request that was handed over."""

    def __init__(self, handover_socket: socket, environ: "WSGIEnvironment") -> None:
        own_end, other_end = plain_socket.socketpair()
        with other_end:
            plain_socket.send_fds(handover_socket, [b"\n"], [other_end.fileno()])
        self._connection = socket(fileno=own_end.detach())
        self._read = self._connection.makefile("rb")
        request = {name: value for name, value in environ.items() if isinstance(value, (str, bool))}
        # Send the body while receiving the response, so that neither waits for the other.
        self._sending = gevent.spawn(
            self._send, json.dumps(request).encode(), environ["wsgi.input"]
        )

    def _send(self, request: bytes, body: IO[bytes]) -> None:
        # The other side may refuse a body without reading it, or refuse an incomplete one.
        with suppress(OSError):
            try:
                send_chunks(self._connection, request)
                while chunk := body.read(CHUNK_BYTES):
                    send_chunks(self._connection, chunk)
                send_chunks(self._connection, b"")
            finally:
                self._connection.shutdown(plain_socket.SHUT_WR)

    def head(self) -> tuple[str, list[tuple[str, str]]]:
        """Return status and headers.

        Raises:
            OSError: The other side ended before sending them.
        """
        try:
            status, headers = json.loads(read_chunk(self._read))
        except OSError:
            self.close()
            raise
        return status, [(name, value) for name, value in headers]

    def __iter__(self) -> Iterator[bytes]:
        while chunk := read_chunk(self._read):
            yield chunk

    def close(self) -> None:
        """Tell the other side that the response is no longer needed."""
        with suppress(OSError):
            self._connection.shutdown(plain_socket.SHUT_RDWR)
        # Not killed: the part of the body that it had read would be missing, and the server would
        # take part of the next request on the connection for the rest of this one.
        self._sending.join()
        self._read.close()
        self._connection.close()


class ResearcherServer(StreamServer):
    """Handles the requests that other processes hand over.

    Args:
        app: The server's complete app.
        handover_socket: The receiving end of the socket pair.
        max_requests: The maximum number of simultaneous requests.
    """

    def __init__(self, app: "WSGIApplication", handover_socket: socket, max_requests: int) -> None:
        super().__init__(handover_socket, spawn=Pool(max_requests))
        self._app = app
        self._used_at: float | None = None

    def is_idle(self, limit_s: float = IDLE_LIMIT_S) -> bool:
        """Return whether requests were handled, but none for a while."""
        if self._used_at is None or self.pool:
            return False
        return time.monotonic() - self._used_at > limit_s

    def do_read(self) -> Any:  # noqa: ANN401 - gevent's own
        """Receive the connection of a request, unless another process was faster."""
        try:
            _, descriptors, _, _ = plain_socket.recv_fds(self.socket, 1, 1)
        except BlockingIOError:
            return None
        # No descriptor means that no more files can be opened; the other side notices the loss.
        return (socket(fileno=descriptors[0]), None) if descriptors else None

    def handle(self, connection: socket, _address: object) -> None:
        """Handle one request."""
        try:
            self._respond(connection)
        except ConnectionError:
            pass  # the client may have disconnected
        except WebappError as error:
            # The other side responds that the page could not be created.
            _LOG.error("%s", error)
        finally:
            self._used_at = time.monotonic()

    def _respond(self, connection: socket) -> None:
        with connection.makefile("rb") as request_stream:
            environ = json.loads(read_chunk(request_stream)) | {
                "wsgi.version": (1, 0),
                "wsgi.input": BufferedReader(ChunkedBody(request_stream)),
                "wsgi.input_terminated": True,
                "wsgi.errors": sys.stderr,
                "wsgi.run_once": False,
            }
            self._answer(environ, connection)

    def close_idle_connections(self) -> None:
        """Do nothing: no connection is kept open for another request."""

    def _answer(self, environ: "WSGIEnvironment", connection: socket) -> None:
        head: list[bytes] = []

        def start(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Any:  # noqa: ANN401 - WSGI
            head[:] = [json.dumps([status, headers]).encode()]

        body = self._app(environ, cast("StartResponse", start))
        try:
            for chunk in body:
                if chunk:
                    send_chunks(connection, *head, chunk)
                    head.clear()
            send_chunks(connection, *head, b"")
        finally:
            if close := getattr(body, "close", None):
                close()


if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LENGTH = struct.Struct("!I")
CHUNK_BYTES = 65_536


class ChunkedBody(RawIOBase):
    """A request body, read from its chunks."""

    def __init__(self, request_stream: IO[bytes]) -> None:
        self._stream: IO[bytes] | None = request_stream
        self._buffered = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer, completely or in part.

        Raises:
            OSError: The body ends too early.
        """
        if not self._buffered and self._stream is not None:
            self._buffered = read_chunk(self._stream)
            if not self._buffered:
                self._stream = None
        view = memoryview(buffer)
        filled, self._buffered = self._buffered[: len(view)], self._buffered[len(view) :]
        view[: len(filled)] = filled
        return len(filled)


def send_chunks(connection: socket, *chunks: bytes) -> None:
    """Send chunks, each prefixed with its length."""
    connection.sendall(b"".join(_LENGTH.pack(len(chunk)) + chunk for chunk in chunks))


def read_chunk(file: IO[bytes]) -> bytes:
    """Return the next chunk.

    Raises:
        ConnectionResetError: The other side ended before or in the middle of the chunk.
    """
    length = file.read(_LENGTH.size)
    if len(length) == _LENGTH.size:
        (n,) = _LENGTH.unpack(length)
        if len(chunk := file.read(n)) == n:
            return chunk
    raise ConnectionResetError(errno.ECONNRESET, "the other side ended")
