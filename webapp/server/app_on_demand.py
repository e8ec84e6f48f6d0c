"""The app of the process for researcher pages: made at the first request, gone after idle time.

An app takes as much memory again as all that a process shares with the others, and most of the time
no researcher has a page open.
"""

import gc
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from flask import Flask
from gevent.lock import BoundedSemaphore

from webapp.http.health import STOPPING_KEY
from webapp.server.waiting import AppWhenAvailable, make_app, run_when_available

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class AppOnDemand:
    """A WSGI app that makes the installation's app at its first request.

    Args:
        stopping: Returns whether this process is about to end.
    """

    def __init__(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._making = BoundedSemaphore()
        self._app: Flask | AppWhenAvailable | None = None

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Handle a request with the app, or ask the visitor to wait for the database.

        Raises:
            WebappError: The app cannot be made now; the next request tries again.
        """
        with self._making:
            if self._app is None:
                self._app = self._make()
        return self._app(environ, start_response)

    def _make(self) -> Flask | AppWhenAvailable:
        app_source = make_app()
        run_when_available(app_source, self._set_stopping, lambda: None, self._stopping)
        # Objects loaded for the app live until the end, so the garbage collector can skip them.
        gc.freeze()
        return app_source

    def _set_stopping(self, app: Flask) -> None:
        app.extensions[STOPPING_KEY] = self._stopping
