"""A server of one process with threads, where gunicorn does not run: for a classroom on Windows."""

import socket
from contextlib import suppress
from pathlib import Path

import waitress  # type: ignore[import-untyped]

from webapp import create_app
from webapp.server import background

_THREADS = 16


def serve_in_this_process(instance: Path, listening: socket.socket) -> None:
    """Answer until interrupted, and do the periodic jobs meanwhile.

    Args:
        instance: The instance folder.
        listening: A socket that listens; it is closed at the end.
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
