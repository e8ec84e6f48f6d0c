"""Researcher pages have a process of their own: no participant waits for what a page computes.

A process answers one request at a time while it computes, so participants' answers would wait for
the pages that researchers open. Where there are several, gunicorn starts one more, of lower
priority and with few connections to the database. The others let participants in, and hand on to
it requests for researcher pages: each with a connection of its own, by the one pair of sockets
that all of them inherit. So no port and no file leads there, and what is asked while the process
begins anew waits for it.

Both sides speak in pieces: the request's environment as JSON, its body and an empty piece; then
status and headers as JSON, the reply's body and an empty piece.
"""

import errno
import json
import logging
import socket as plain_socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, Any, cast

import gevent
from gevent.exceptions import ConcurrentObjectUseError
from gevent.pool import Pool
from gevent.server import StreamServer
from gevent.socket import socket

from webapp.core.urls import is_researcher_path

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# Below what a process of participants has; whatever it starts is as patient. Not before it answers:
# where many programs want a processor, its beginning would take a minute.
NICER = 5
_GONE = b"This page could not be made. Open it again in a few seconds.\n"
_LOG = logging.getLogger(__name__)


class ResearcherPagesElsewhere:
    """What a process of participants answers with: researcher requests go to their process.

    Args:
        app: Answers everything else, and researcher requests too once this process is to end: then
            their process ends as well.
        door: The end of the pair at which requests are handed on.
        is_staying: Whether this process is not to end.
    """

    def __init__(
        self, app: "WSGIApplication", door: socket, is_staying: Callable[[], bool]
    ) -> None:
        self._app, self._door, self._is_staying = app, door, is_staying

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer a request, or have it answered."""
        path = environ["PATH_INFO"]
        if not is_researcher_path(path) or not self._is_staying():
            return self._app(environ, start_response)
        try:
            reply = _Reply(self._door, environ)
            status, headers = reply.head()
        except (OSError, ConcurrentObjectUseError) as error:
            # It ended, more ask than it can take, or no file can be opened any more.
            _LOG.warning("the process of researcher pages did not answer: %s", error)
            start_response("503 Service Unavailable", [
                ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
                ("Content-Length", str(len(_GONE))), ("Retry-After", "5"),
                ("X-Content-Type-Options", "nosniff"),
            ])  # fmt: skip
            return [_GONE]
        start_response(status, headers)
        return reply


class _Reply:
    """A request that was handed on, and what comes back."""

    def __init__(self, door: socket, environ: "WSGIEnvironment") -> None:
        here, there = plain_socket.socketpair()
        with there:
            plain_socket.send_fds(door, [b"\n"], [there.fileno()])
        self._connection = socket(fileno=here.detach())
        self._read = self._connection.makefile("rb")
        request = {name: value for name, value in environ.items() if isinstance(value, (str, bool))}
        # The body goes while the reply comes: neither waits for the other to be whole.
        self._sending = gevent.spawn(
            self._send, json.dumps(request).encode(), environ["wsgi.input"]
        )

    def _send(self, request: bytes, body: IO[bytes]) -> None:
        # Who refuses a long body does not read it; who sends half of one has it refused.
        with suppress(OSError):
            try:
                send_pieces(self._connection, request)
                while piece := body.read(PIECE_BYTES):
                    send_pieces(self._connection, piece)
                send_pieces(self._connection, b"")
            finally:
                self._connection.shutdown(plain_socket.SHUT_WR)

    def head(self) -> tuple[str, list[tuple[str, str]]]:
        """Return status and headers; raise ``OSError`` where the other side ended before them."""
        try:
            status, headers = json.loads(read_piece(self._read))
        except OSError:
            self.close()
            raise
        return status, [(name, value) for name, value in headers]

    def __iter__(self) -> Iterator[bytes]:
        while piece := read_piece(self._read):
            yield piece

    def close(self) -> None:
        """Let the other side know that nobody waits any more."""
        with suppress(OSError):
            self._connection.shutdown(plain_socket.SHUT_RDWR)
        # Never killed: what it had read of the body would be missing, and the server would take as
        # much of the next request on that connection for the rest of this one.
        self._sending.join()
        self._read.close()
        self._connection.close()


class ResearcherServer(StreamServer):
    """Answers what the other processes hand on.

    Args:
        app: The server's whole app.
        door: The end of the pair at which requests arrive.
        most: How many may be answered at a time.
    """

    def __init__(self, app: "WSGIApplication", door: socket, most: int) -> None:
        super().__init__(door, spawn=Pool(most))
        self._app = app

    def do_read(self) -> Any:  # noqa: ANN401 - gevent's own
        """Take the connection of a request, unless another process was faster."""
        try:
            _, descriptors, _, _ = plain_socket.recv_fds(self.socket, 1, 1)
        except BlockingIOError:
            return None
        # Without one no file could be opened any more; the other side sees that it was dropped.
        return (socket(fileno=descriptors[0]), None) if descriptors else None

    def handle(self, connection: socket, _address: object) -> None:
        """Answer one request."""
        # The client may be gone.
        with suppress(ConnectionError), connection.makefile("rb") as asked:
            environ = json.loads(read_piece(asked)) | {
                "wsgi.version": (1, 0),
                "wsgi.input": BufferedReader(Body(asked)),
                "wsgi.input_terminated": True,
                "wsgi.errors": sys.stderr,
                "wsgi.run_once": False,
            }
            self._answer(environ, connection)

    def hang_up(self) -> None:
        """Do nothing: no connection is kept for another request."""

    def _answer(self, environ: "WSGIEnvironment", connection: socket) -> None:
        head: list[bytes] = []

        def start(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Any:  # noqa: ANN401 - WSGI
            head[:] = [json.dumps([status, headers]).encode()]

        body = self._app(environ, cast("StartResponse", start))
        try:
            for piece in body:
                if piece:
                    send_pieces(connection, *head, piece)
                    head.clear()
            send_pieces(connection, *head, b"")
        finally:
            if close := getattr(body, "close", None):
                close()


if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LENGTH = struct.Struct("!I")
PIECE_BYTES = 65_536


class Body(RawIOBase):
    """A request's body, from the pieces in which it comes."""

    def __init__(self, asked: IO[bytes]) -> None:
        self._asked: IO[bytes] | None = asked
        self._left = b""

    def readable(self) -> bool:
        """Return whether it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer, or a part of it; raise ``OSError`` where the body ends too early."""
        if not self._left and self._asked is not None:
            self._left = read_piece(self._asked)
            if not self._left:
                self._asked = None
        view = memoryview(buffer)
        given, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(given)] = given
        return len(given)


def send_pieces(connection: socket, *pieces: bytes) -> None:
    """Send pieces, each after its length."""
    connection.sendall(b"".join(_LENGTH.pack(len(piece)) + piece for piece in pieces))


def read_piece(file: IO[bytes]) -> bytes:
    """Return the next piece.

    Raises:
        ConnectionResetError: The other side ended before it, or in it.
    """
    length = file.read(_LENGTH.size)
    if len(length) == _LENGTH.size:
        (n,) = _LENGTH.unpack(length)
        if len(piece := file.read(n)) == n:
            return piece
    raise ConnectionResetError(errno.ECONNRESET, "the other side ended")
