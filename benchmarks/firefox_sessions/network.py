"""A web server in front of the app that fails when it is told to, and knows what it let through."""

import json
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

# The platform that a last page leads back to.
ELSEWHERE = "/elsewhere"
_Start = Callable[..., Any]


class Front:
    """Stands between the browser and the app.

    Attributes:
        failing: How the next requests fail: "busy", "login page" or "lost reply".
        times: How many of them.
        run: The reference of the run that is taken.
        acknowledged: The positions of the answers whose acknowledgement went out.
    """

    def __init__(self, app: Callable[[Any, _Start], Iterable[bytes]]) -> None:
        self._app = app
        self.failing, self.times, self.run = "", 0, ""
        self.acknowledged: set[int] = set()

    def __call__(self, environ: dict[str, Any], start: _Start) -> Iterable[bytes]:
        """Answer a request, or fail at it."""
        if environ["PATH_INFO"] == ELSEWHERE:
            start("200 OK", [("Content-Type", "text/html")])
            return [b"<h1>The platform</h1>"]
        if environ["PATH_INFO"].startswith("/assets/") or not self.times:
            return self._let_through(environ, start)
        self.times -= 1
        if self.failing == "lost reply":
            list(self._app(environ, lambda *_: None))
        status = "200 OK" if self.failing == "login page" else "503 Service Unavailable"
        start(status, [("Content-Type", "text/html")])
        return [b"<h1>Something else</h1>"]

    def _let_through(self, environ: dict[str, Any], start: _Start) -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith("/answers"):
            return self._app(environ, start)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        status: list[str] = []

        def note(line: str, *rest: Any) -> Any:  # noqa: ANN401 - as WSGI has it
            status.append(line)
            return start(line, *rest)

        reply = list(self._app(environ, note))
        if status[0].startswith("200"):
            self.acknowledged.add(json.loads(body)["position"])
        return reply
