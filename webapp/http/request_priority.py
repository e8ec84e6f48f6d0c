"""Answers go before arrivals: other requests begin one by one, with a look at what came between.

An arrival takes a process as long as ten answers, and nothing interrupts it. Where a hundred people
come at the same moment, their requests are all there at once, and an answer that comes then would
wait for every one of them.
"""

from collections.abc import Iterable
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

from flask import Flask

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_ANSWERS = "/answers"
# Long enough that the process's loop looks at its connections; with 0 it goes on at once.
_LOOK_AROUND_S = 1e-6


def let_answers_pass(app: Flask) -> None:
    """Let whatever is no answer wait until the process has read what came meanwhile.

    Nothing is held while a request is answered: who waits, for the database or for a platform,
    keeps nobody from beginning.
    """
    inner, beginning = app.wsgi_app, Lock()

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith(_ANSWERS):
            with beginning:
                sleep(_LOOK_AROUND_S)
        return inner(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign,assignment]
