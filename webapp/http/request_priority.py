"""Prioritise answers: other requests start one at a time, and let pending answers go first.

An arrival occupies a process for as long as ten answers, and nothing interrupts it. If a hundred
participants arrive at the same moment, an answer that comes then would wait for all of them.
"""

from collections.abc import Iterable
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

from flask import Flask

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_ANSWERS = "/answers"
# Long enough for the event loop to read its connections; with 0, it would continue at once.
_LOOK_AROUND_S = 1e-6


def let_answers_pass(app: Flask) -> None:
    """Delay requests other than answers until the process has read newly received requests.

    No lock is held while a request is processed: a request that waits for the database or a
    platform does not keep others from starting.
    """
    inner, beginning = app.wsgi_app, Lock()

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith(_ANSWERS):
            with beginning:
                sleep(_LOOK_AROUND_S)
        return inner(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign,assignment]
