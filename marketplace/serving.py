"""Running a stand-in: its options, its socket, and the server in a process or in a thread."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

from flask import Flask
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from werkzeug.serving import WSGIRequestHandler, make_server

from marketplace.errors import MarketplaceError

_THREADS = 16
_BACKLOG = 1024
_POLL_S = 0.02  # seconds between checks of a server in a thread whether to stop


def open_socket(host: str, port: int, *, public: bool) -> socket.socket:
    """Return a listening socket.

    Args:
        host: The address.
        port: The port; 0 takes any free one.
        public: Whether the address may be reached from other machines.

    Raises:
        MarketplaceError: Other machines could reach the address although ``public`` is false,
            or the address cannot be listened on.
    """
    if not public and not is_loopback(build_url(host, port)):
        raise MarketplaceError(
            "the marketplace would be open to other machines, and anyone who reaches it can "
            "act as any worker",
            where=host,
            expected="an address of this machine alone, e.g. 127.0.0.1 or localhost",
            remedy="To allow other machines, add --public",
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise MarketplaceError(
            f"nothing can listen there: {error.strerror}",
            where=f"{host}:{port}",
            expected="an address of this machine and a free port",
            remedy="Stop what listens there, or take any free port with --port 0",
        ) from error


def build_url(host: str, port: int) -> str:
    """Return the URL of a host and port for a browser."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class StandInServer(BaseApplication):  # type: ignore[misc]
    """Runs the stand-in in one process with many threads, until interrupted.

    Args:
        app: The stand-in's app.
        listening: The listening socket; gunicorn closes it.
        before_fork: Called before gunicorn forks, for example to close connections.
    """

    def __init__(
        self, app: Flask, listening: socket.socket, before_fork: Callable[[], None]
    ) -> None:
        self._app = app
        listening.set_inheritable(True)
        self._file = listening.detach()
        # gunicorn forks, and a connection to SQLite must not survive a fork.
        before_fork()
        super().__init__()

    def load_config(self) -> None:
        """Set gunicorn's address and number of processes and threads."""
        chosen: dict[str, Any] = {
            "bind": f"fd://{self._file}",
            # One process, because the planned faults are in its memory.
            "workers": 1,
            "worker_class": "gthread",
            "threads": _THREADS,
            "loglevel": "warning",
            "control_socket_disable": True,
        }
        for name, value in chosen.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Return the app."""
        return self._app


class _QuietRequestHandler(WSGIRequestHandler):
    def log_request(self, *_: object) -> None:
        """Log nothing: the program that runs the stand-in in a thread has its own log."""


@contextmanager
def serve_in_thread(app: WSGIApplication, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Yield the stand-in's address while it answers from a thread.

    Args:
        app: The stand-in's app.
        host: The address.
        port: The port; 0 takes any free one.
    """
    server = make_server(host, port, app, threaded=True, request_handler=_QuietRequestHandler)
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,))
    thread.start()
    try:
        yield build_url(host, server.port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True, slots=True)
class StandInOptions:
    """Start-up options of a stand-in.

    Attributes:
        folder: Folder of its state.
        url: Its address.
        balance: The play money, in minor units.
        currency: Its currency.
        keys: The accepted API keys; empty accepts any caller.
        public: Whether users of other machines can reach it.
    """

    folder: Path
    url: str
    balance: int
    currency: str
    keys: tuple[str, ...]
    public: bool


@dataclass(frozen=True, slots=True)
class RunningStandIn:
    """A started stand-in.

    Attributes:
        app: The WSGI application.
        instructions: Lines that explain how researchers and participants reach it.
        keeps_state: Whether its state is saved in its folder; otherwise it is in memory only.
        dispose: Closes its resources, such as database connections.
    """

    app: Flask
    instructions: tuple[str, ...]
    keeps_state: bool
    dispose: Callable[[], object]


def is_loopback(url: str) -> bool:
    """Return whether an address leads to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_secure(url: str) -> bool:
    """Return whether traffic to an address is safe from third parties: https or this machine."""
    return urlsplit(url).scheme == "https" or is_loopback(url)
