"""Handle the lack of file descriptors for further connections."""

import errno
import logging
import os
import socket
import time
from contextlib import suppress
from io import FileIO

from gevent.monkey import get_original

from experiment.machine import allow_open_files, most_open_files

_LOG = logging.getLogger(__name__)
_OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
# Descriptors for the database, the log, the locks and the periodic jobs.
OTHER_OPEN_FILES = 200
_LOG_INTERVAL_S = 30.0
_REQUEST_BYTES = 65536
_PAGE = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">'
    b"<title>Please wait</title><p>Many people are taking part right now. Your answers so"
    b" far are safe. This page tries again every few seconds."
)
_REPLY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html; charset=utf-8\r\n"
    b"Cache-Control: no-store\r\nRetry-After: 5\r\nConnection: close\r\n"
    b"Content-Length: " + str(len(_PAGE)).encode() + b"\r\n\r\n" + _PAGE
)


def raise_open_file_limit(connections: int) -> None:
    """Raise this process's own limit of open files to the number its connections need.

    The usual limit in a shell is 1,024; every process may raise it up to a hard limit.

    Args:
        connections: The maximum number of open connections per process.
    """
    soft, hard = most_open_files()
    needed = connections + OTHER_OPEN_FILES
    limit = needed if hard is None else min(needed, hard)
    if soft is not None and soft < limit:
        allow_open_files(limit)


def is_out_of_files(error: OSError) -> bool:
    """Return whether the error means that too many files are open."""
    return error.errno in _OUT_OF_FILES


class SpareDescriptor:
    """A reserved file descriptor, with which a visitor can be refused when no other is left.

    Without it, visitors whose connections cannot be accepted would wait without a response.

    Args:
        listening: The socket that accepts connections.
    """

    def __init__(self, listening: socket.socket) -> None:
        # A plain socket: gevent's own would wait, which the event loop must not.
        self._listening = get_original("socket", "socket")(fileno=os.dup(listening.fileno()))
        self._listening.setblocking(False)
        self._reserved: FileIO | None = None
        self._logged_at = -_LOG_INTERVAL_S
        self._reserve()

    def refuse_visitor(self) -> None:
        """Refuse the next waiting connection with a request to try again; do not wait for one."""
        now = time.monotonic()
        if now - self._logged_at > _LOG_INTERVAL_S:
            self._logged_at = now
            _LOG.warning("too many open files, so visitors are asked to try again; raise the limit")
        if self._reserved is not None:
            # Closes at once; gevent's os.close would only schedule it.
            self._reserved.close()
            self._reserved = None
        with suppress(OSError):
            connection, _ = self._listening.accept()
            with connection:
                connection.setblocking(False)
                with suppress(OSError):
                    # Unread data would reset the connection before the response arrives.
                    connection.recv(_REQUEST_BYTES)
                connection.send(_REPLY)
                connection.shutdown(socket.SHUT_WR)
        self._reserve()

    def _reserve(self) -> None:
        with suppress(OSError):
            self._reserved = FileIO(os.devnull)
