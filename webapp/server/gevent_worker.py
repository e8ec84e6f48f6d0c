"""The gunicorn worker: one thread, in which requests take turns whenever one of them waits.

Gunicorn starts and ends the process; gevent's HTTP server serves requests. This module adds:

- Idle connections are closed.
- A stopping process says so in its last responses, so that the next request goes to another one.
- A client that takes too long over one request is dropped.
- An ambiguous request is refused.
- If no more files can be opened, visitors are asked to try again.
- Connections are shared evenly among the processes.
"""

import gc
import logging
import math
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
from webapp.core.worker_count import RESEARCHER_CONNECTIONS
from webapp.server.headers import Headers
from webapp.server.open_files import SpareDescriptor, is_out_of_files
from webapp.server.researcher_worker import NICE_INCREMENT, ResearcherHandover, ResearcherServer
from webapp.server.service_manager import alive_interval_s, report_alive

if TYPE_CHECKING:
    import socket as plain_socket

    from _typeshed.wsgi import WSGIApplication

    from webapp.server.private_port import PrivatePort

_LOG = logging.getLogger(__name__)
_CHECK_INTERVAL_S = 0.1
# A client with an open connection may be sending a request, unaware of the stop.
_IDLE_GRACE_S = 1.0
# The maximum time from one request until the next one has been received completely.
_REQUEST_TIMEOUT_S = 150.0
# How long a process pauses after accepting a connection, so that others accept the next one.
_PAUSE_PER_CONNECTION_S, _LONGEST_PAUSE_S = 0.0001, 0.002


class _Handler(PyWSGIHandler):  # type: ignore[misc]
    """The handler of one client connection."""

    server: "_Server"
    headers_sent: bool

    def handle_one_request(self) -> Any:  # noqa: ANN401 - gevent's own
        # Only reading is stopped: a response that takes long to send is not affected.
        deadline = self.server.loop.timer(_REQUEST_TIMEOUT_S)
        deadline.start(self._stop_reading)
        try:
            return super().handle_one_request()
        finally:
            deadline.stop()
            deadline.close()

    def _stop_reading(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(SHUT_RD)

    def MessageClass(self, file: IO[bytes], *_: Any) -> Headers:  # noqa: ANN401 - gevent's own
        try:
            headers = Headers(file)
        except OSError as error:
            raise ValueError("the headers are incomplete") from error
        # No other protocol is supported; gevent would wait for the body of an upgrade for ever.
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

    def write(self, data: bytes) -> None:
        """Send part of a response's body; the head goes out with the first part, in one call."""
        if self.headers_sent or not (data and self.status and self.provided_content_length):
            super().write(data)
            return
        self.headers_sent = True
        self.finalize_headers()
        fields = (b": ".join(field) for field in self.response_headers)
        reply = b"\r\n".join((b"HTTP/1.1 " + self.status, *fields, b"", data))
        self.socket.sendall(reply)
        self.response_length += len(reply)

    def log_error(self, _message: str, *_args: object) -> None:
        """Log that a request was refused, without its URL, which may contain a token."""
        _LOG.info("a request that is not valid HTTP was refused")

    def log_request(self) -> None:
        """Do nothing: Parallax logs its requests itself, without their URLs."""


class _Server(PyWSGIServer):  # type: ignore[misc]
    """All connections of a listening socket.

    Attributes:
        worker: The worker.
        idle: The connections without a request in progress.
    """

    worker: "Worker"

    def __init__(self, worker: "Worker", listening: socket, app: "WSGIApplication") -> None:
        cfg = worker.cfg
        name, port = listening.getsockname()[:2]
        environ = {
            **base_environ(cfg),
            # Set explicitly, to avoid a DNS lookup.
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
        self._idle_timeout_s = cfg.keepalive

    def handle(self, connection: socket, address: Any) -> None:  # noqa: ANN401 - of any family
        connection.settimeout(self._idle_timeout_s)
        super().handle(connection, address)

    def do_read(self) -> Any:  # noqa: ANN401 - gevent's own
        """Accept the next connection, or refuse it if no more files can be opened."""
        try:
            accepted = super().do_read()
        except OSError as error:
            if not is_out_of_files(error):
                raise
            self._spare.refuse_visitor()
            return None
        if accepted and self.worker.cfg.workers > 1:
            self._pause_accepting()
        return accepted

    def _pause_accepting(self) -> None:
        """Accept no connection for a moment, so that a process with fewer of them is faster.

        A connection stays with its process for a whole session. Without this pause, the process
        that happens to run when a class arrives would get nearly all of its connections.
        """
        self.stop_accepting()
        pause_s = min(len(self.pool) * _PAUSE_PER_CONNECTION_S, _LONGEST_PAUSE_S)
        self._pause = self.loop.timer(pause_s)
        self._pause.start(self._resume_accepting)

    def _resume_accepting(self) -> None:
        self._pause.close()
        if self.started:
            self.start_accepting()

    def close_idle_connections(self) -> None:
        """Close the connections without a request in progress."""
        for connection in self.idle:
            with suppress(OSError):
                connection.shutdown(SHUT_RD)


class Worker(GeventPyWSGIWorker):  # type: ignore[misc]
    """A worker process of the server.

    Attributes:
        wsgi: The app, as gunicorn calls it.
        alive: Whether the process goes on: gunicorn sets it to False at a signal.
        managed: Whether a service manager expects notifications.
        private_port: The port for metrics and readiness; None if it is not used.
        serves_researchers: Whether this process serves researcher pages.
        handover_sockets: The socket pair for handing over researcher requests, receiving end
            first; None if each process serves them itself.
    """

    wsgi: Any
    alive: bool
    managed = False
    private_port: "PrivatePort | None" = None
    serves_researchers = False
    handover_sockets: "tuple[plain_socket.socket, plain_socket.socket] | None" = None
    _reported_at = -math.inf

    def load_wsgi(self) -> None:
        """Make the app, and meanwhile report that the process is alive.

        The database may be unavailable for long. The process for researcher pages makes its app
        when it is first needed; the app of the others lacks those pages.
        """
        if self.serves_researchers:
            # Imported late, like the app, after the process has its own copies of the modules.
            from webapp.database.pool import CountedPool
            from webapp.server.app_on_demand import AppOnDemand

            CountedPool.most = RESEARCHER_CONNECTIONS
            self.wsgi = AppOnDemand(stopping=lambda: not self.alive)
            return
        shares_work = self.handover_sockets is not None
        loading = gevent.spawn(self._load_participant_app if shares_work else super().load_wsgi)
        while not loading.ready():
            self._report_and_wait()
        # Objects loaded for the app live until the end, so the garbage collector can skip them.
        gc.freeze()
        loading.get()

    def _load_participant_app(self) -> None:
        from webapp.app import PARTICIPANT_PAGES
        from webapp.server.waiting import make_app_or_exit

        self.wsgi = make_app_or_exit(PARTICIPANT_PAGES)

    def run(self) -> None:
        """Serve requests until the process is asked to stop, then finish those in progress."""
        servers = self._make_servers()
        if self.serves_researchers:
            os.nice(NICE_INCREMENT)
        for server in servers:
            server.start()
        while self.alive:
            self._report_and_wait()
            if any(isinstance(server, ResearcherServer) and server.is_idle() for server in servers):
                self.alive = False  # gunicorn starts the next process, without an app
        for server in servers:
            server.close()
        if self.private_port is not None:
            # From here on, other processes respond on the private port.
            gevent.spawn(self.private_port.stop)
        stopped = time.monotonic()
        while any(server.pool for server in servers):
            waited_s = time.monotonic() - stopped
            if waited_s > self.cfg.graceful_timeout:
                _LOG.warning("requests did not finish in time and were dropped")
                break
            if waited_s > _IDLE_GRACE_S:
                for server in servers:
                    server.close_idle_connections()
            self._report_and_wait()

    def _make_servers(self) -> "Sequence[_Server | ResearcherServer]":
        if self.handover_sockets is None:
            return [_Server(self, listening, self.wsgi) for listening in self.sockets]
        receiving_end, sending_end = self.handover_sockets
        handover_socket = socket(
            fileno=os.dup((receiving_end if self.serves_researchers else sending_end).fileno())
        )
        if self.serves_researchers:
            for listening in self.sockets:  # stop accepting requests
                listening.close()
            return [ResearcherServer(self.wsgi, handover_socket, self.worker_connections)]
        from webapp.server.app_on_demand import AppOnDemand

        complete_app = AppOnDemand(stopping=lambda: not self.alive)
        app = ResearcherHandover(self.wsgi, complete_app, handover_socket, lambda: self.alive)
        return [_Server(self, listening, app) for listening in self.sockets]

    def _report_and_wait(self) -> None:
        self.notify()
        # Also without requests: another process may store times of a wrong clock.
        clock_watch.check()
        if self.managed and time.monotonic() - self._reported_at > alive_interval_s():
            self._reported_at = time.monotonic()
            report_alive(self.ppid)
        gevent.sleep(_CHECK_INTERVAL_S)
