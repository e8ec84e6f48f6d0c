"""A single-process server with threads for systems without gunicorn (a classroom on Windows)."""

import socket
from contextlib import suppress
from pathlib import Path

import waitress  # type: ignore[import-untyped]

from webapp import create_app
from webapp.server import background

_THREADS = 16


def serve_in_this_process(instance: Path, listening: socket.socket) -> None:
    """Serve requests and run the periodic jobs until interrupted.

    Args:
        instance: The instance folder.
        listening: A listening socket; it is closed at the end.
    """
    app = create_app(instance)
    stopping = False
    background.start(app, lambda: stopping)
    try:
        with suppress(KeyboardInterrupt):
            waitress.serve(app, sockets=[listening], threads=_THREADS)
    finally:
        stopping = True
        background.stop(app)
        listening.close()
