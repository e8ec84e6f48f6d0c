"""A server's processes end at once: as soon as they are told, and without a last look at it all."""

import atexit
import gc
import signal
import sys
from logging.config import dictConfig
from queue import SimpleQueue

_ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}


def end_quickly() -> None:
    """Let this process and its copies end without that look, which took half a second each."""
    atexit.register(_let_go)


def end_when_told(noted: SimpleQueue[int]) -> None:
    """Let a copy of the first process, which has only just begun, end at a signal.

    Until gunicorn gives it handlers of its own it has those of the first process, which note a
    signal for that one alone to read: a server stopped as it began anew waited half a minute.

    Args:
        noted: The copy's own notes, with what came before this call.
    """
    for each in _ENDING:
        signal.signal(each, lambda *_: sys.exit(0))
    while not noted.empty():
        if noted.get() in _ENDING:
            sys.exit(0)


def _let_go() -> None:
    # The log goes first: it would ask for locks that are no more.
    dictConfig({"version": 1})
    gc.freeze()
