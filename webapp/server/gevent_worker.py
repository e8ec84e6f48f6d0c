"""The process that answers: one thread, in which requests take turns whenever one of them waits.

Gunicorn starts and ends it; gevent's HTTP server answers. To these it adds: idle connections are
closed; a process that stops says so to everybody whom it still answers, so that the next request
goes elsewhere; a client that takes too long over one request is dropped; a request that could be
read in two ways is refused; and when no more files can be opened, visitors are asked to try again.
"""

import gc
import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from socket import SHUT_RD
from typing import IO, TYPE_CHECKING, Any

import gevent
from gevent.pool import Pool
from gevent.socket import socket
from gunicorn.http.wsgi import base_environ  # type: ignore[import-untyped]
from gunicorn.workers.ggevent import (  # type: ignore[import-untyped]
    GeventPyWSGIWorker,
    PyWSGIHandler,
    PyWSGIServer,
)

from webapp.core.clock import clock_watch
from webapp.core.worker_count import OF_RESEARCHERS
from webapp.server.headers import Headers
from webapp.server.open_files import SpareDescriptor, is_out_of_files
from webapp.server.researcher_worker import NICER, ResearcherPagesElsewhere, ResearcherServer
from webapp.server.service_manager import tell_alive

if TYPE_CHECKING:
    import socket as plain_socket

    from _typeshed.wsgi import WSGIApplication

    from webapp.server.private_port import PrivatePort

_LOG = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.1
# A client with an open connection may not know of the stop, and just be sending a request.
_LAST_REQUESTS_S = 1.0
# A whole request must have arrived that long after the one before it, however it trickles in.
_ARRIVED_WITHIN_S = 150.0
# Several times within the unit's WatchdogSec=.
_ALIVE_EVERY_S = 10.0


class _Handler(PyWSGIHandler):  # type: ignore[misc]
    """One connection."""

    server: "_Server"

    def handle_one_request(self) -> Any:  # noqa: ANN401 - gevent's own
        # Only reading ends then: an answer that takes long to send is not touched.
        deadline = self.server.loop.timer(_ARRIVED_WITHIN_S)
        deadline.start(self._read_no_more)
        try:
            return super().handle_one_request()
        finally:
            deadline.stop()
            deadline.close()

    def _read_no_more(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(SHUT_RD)

    def MessageClass(self, file: IO[bytes], *_: Any) -> Headers:  # noqa: ANN401 - gevent's own
        try:
            headers = Headers(file)
        except OSError as error:
            raise ValueError("the headers did not come to their end") from error
        # Nothing here speaks another protocol; a body that waited for one would wait for ever.
        del headers["upgrade"]
        if (headers.get("connection") or "").lower() == "upgrade":
            del headers["connection"]
        return headers

    def read_requestline(self) -> str:
        self.server.idle.add(self.socket)
        try:
            return str(super().read_requestline())
        finally:
            self.server.idle.discard(self.socket)

    def start_response(
        self,
        status: str,
        headers: list[tuple[str, str]],
        exc_info: Any = None,  # noqa: ANN401 - WSGI
    ) -> Any:  # noqa: ANN401 - WSGI
        if not self.server.worker.alive:
            headers = [*headers, ("Connection", "close")]
        return super().start_response(status, headers, exc_info)

    def log_error(self, _message: str, *_args: object) -> None:
        """Say that a request was refused, without its address, which may hold a token."""
        _LOG.info("a request that is no HTTP was refused")

    def log_request(self) -> None:
        """Do nothing: Parallax logs its requests itself, without their addresses."""


class _Server(PyWSGIServer):  # type: ignore[misc]
    """All connections of a listening socket.

    Attributes:
        worker: The process.
        idle: The connections on which no request has begun.
    """

    worker: "Worker"

    def __init__(self, worker: "Worker", listening: socket, app: "WSGIApplication") -> None:
        cfg = worker.cfg
        name, port = listening.getsockname()[:2]
        environ = {
            **base_environ(cfg),
            # Given, so that nobody asks a name server.
            "SERVER_NAME": str(name),
            "SERVER_PORT": str(port),
            "wsgi.multithread": True,
            "wsgi.multiprocess": cfg.workers > 1,
        }
        super().__init__(
            listening,
            application=app,
            spawn=Pool(worker.worker_connections),
            handler_class=_Handler,
            environ=environ,
            error_log=_LOG,
        )
        self.worker = worker
        self._spare = SpareDescriptor(listening)
        self.idle = set[socket]()
        self._patience_s = cfg.keepalive

    def handle(self, connection: socket, address: Any) -> None:  # noqa: ANN401 - of any family
        connection.settimeout(self._patience_s)
        super().handle(connection, address)

    def do_read(self) -> Any:  # noqa: ANN401 - gevent's own
        """Let the next visitor in, or turn them away where no file can be opened any more."""
        try:
            return super().do_read()
        except OSError as error:
            if not is_out_of_files(error):
                raise
        self._spare.turn_away()
        return None

    def hang_up(self) -> None:
        """End the connections on which no request is under way."""
        for connection in self.idle:
            with suppress(OSError):
                connection.shutdown(SHUT_RD)


class Worker(GeventPyWSGIWorker):  # type: ignore[misc]
    """A process of the server.

    Attributes:
        managed: Whether a service manager wants to hear of it.
        private_port: Where it is asked for metrics and readiness; None where nobody asks.
        serves_researchers: Whether it is the one that answers researchers.
        doors: The pair by which researcher requests are handed on, inside first; None where each
            process answers them itself.
    """

    managed = False
    private_port: "PrivatePort | None" = None
    serves_researchers = False
    doors: "tuple[plain_socket.socket, plain_socket.socket] | None" = None
    _told = -_ALIVE_EVERY_S

    def load_wsgi(self) -> None:
        """Make the app, with signs of life: a database that is away may be asked for long."""
        if self.serves_researchers:
            # Imported when the process has modules of its own, as the app is.
            from webapp.database.pool import CountedPool

            CountedPool.most = OF_RESEARCHERS
        making = gevent.spawn(super().load_wsgi)
        while not making.ready():
            self._go_on()
        # What was read for the app stays until the end, so nobody need look there for garbage.
        gc.freeze()
        making.get()

    def run(self) -> None:
        """Answer until the process is told to stop, and then what it was asked before."""
        servers = self._servers()
        if self.serves_researchers:
            os.nice(NICER)
        for server in servers:
            server.start()
        while self.alive:
            self._go_on()
        for server in servers:
            server.close()
        if self.private_port is not None:
            # From here on its questions are for the processes that stay.
            gevent.spawn(self.private_port.stop)
        stopped = time.monotonic()
        while any(server.pool for server in servers):
            waited_s = time.monotonic() - stopped
            if waited_s > self.cfg.graceful_timeout:
                _LOG.warning("requests took too long and were dropped")
                break
            if waited_s > _LAST_REQUESTS_S:
                for server in servers:
                    server.hang_up()
            self._go_on()

    def _servers(self) -> "Sequence[_Server | ResearcherServer]":
        if self.doors is None:
            return [_Server(self, listening, self.wsgi) for listening in self.sockets]
        inside, outside = self.doors
        door = socket(fileno=os.dup((inside if self.serves_researchers else outside).fileno()))
        if self.serves_researchers:
            for listening in self.sockets:  # else it would take requests once others have ended
                listening.close()
            return [ResearcherServer(self.wsgi, door, self.worker_connections)]
        app = ResearcherPagesElsewhere(self.wsgi, door, lambda: self.alive)
        return [_Server(self, listening, app) for listening in self.sockets]

    def _go_on(self) -> None:
        self.notify()
        # Also while nobody asks for anything: another process may store what a wrong clock says.
        clock_watch.look()
        if self.managed and time.monotonic() - self._told > _ALIVE_EVERY_S:
            self._told = time.monotonic()
            tell_alive(self.ppid)
        gevent.sleep(_LOOK_EVERY_S)
