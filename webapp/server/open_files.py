"""What to do when a process has no descriptor left for one more connection."""

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
_NONE_LEFT = frozenset({errno.EMFILE, errno.ENFILE})
# Of the database, the log, the locks, the periodic jobs.
FILES_BESIDES = 200
_BETWEEN_LINES_S = 30.0
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


def allow_as_many_as_needed(connections: int) -> None:
    """Raise this process's own limit of open files to what its connections need.

    A shell's usual limit is 1,024; the system lets every process raise it up to a hard limit.

    Args:
        connections: How many connections each process may have open.
    """
    soft, hard = most_open_files()
    needed = connections + FILES_BESIDES
    wanted = needed if hard is None else min(needed, hard)
    if soft is not None and soft < wanted:
        allow_open_files(wanted)


def is_out_of_files(error: OSError) -> bool:
    """Return whether no file can be opened because too many are."""
    return error.errno in _NONE_LEFT


class SpareDescriptor:
    """A descriptor kept for the moment when no other is left: by it somebody can be turned away.

    Otherwise visitors who cannot be accepted would wait without an answer until others leave.

    Args:
        listening: The socket at which they arrive.
    """

    def __init__(self, listening: socket.socket) -> None:
        # One that gevent does not know: its own waits, which the loop must not.
        self._listening = get_original("socket", "socket")(fileno=os.dup(listening.fileno()))
        self._listening.setblocking(False)
        self._kept: FileIO | None = None
        self._said = -_BETWEEN_LINES_S
        self._keep()

    def turn_away(self) -> None:
        """Ask the next visitor who waits to come again; nobody is waited for."""
        now = time.monotonic()
        if now - self._said > _BETWEEN_LINES_S:
            self._said = now
            _LOG.warning("too many open files, so visitors are asked to try again: raise the limit")
        if self._kept is not None:
            # At once, where gevent's os.close only promises it.
            self._kept.close()
            self._kept = None
        with suppress(OSError):
            connection, _ = self._listening.accept()
            with connection:
                connection.setblocking(False)
                with suppress(OSError):
                    # What was sent and never read would take the reply away again.
                    connection.recv(_REQUEST_BYTES)
                connection.send(_REPLY)
                connection.shutdown(socket.SHUT_WR)
        self._keep()

    def _keep(self) -> None:
        with suppress(OSError):
            self._kept = FileIO(os.devnull)
