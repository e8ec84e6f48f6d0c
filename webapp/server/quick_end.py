"""A server's processes end at once, without a last look through all that they had read."""

import atexit
import gc
from logging.config import dictConfig


def end_quickly() -> None:
    """Let this process, and those that are copies of it, end so: that took half a second each."""
    atexit.register(_let_go)


def _let_go() -> None:
    # The log goes first: it would ask for locks that are no more.
    dictConfig({"version": 1})
    gc.freeze()
