"""Who sends hostile input, and what became of it."""

import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import httpx
from werkzeug.datastructures import Headers

sys.path.append(str(Path(__file__).parents[2]))
from hostile_inputs.site import ATTACKED, Installation
from tests.hostile.answers import wrong_with
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import SESSION_COOKIE

TAKEN, REFUSED, FAULT = "taken", "refused", "fault"
_PATIENCE_S = 400.0
_SOUND = "the study can be launched"


class Attacker:
    """A member of a project, and a stranger at its runs.

    Args:
        at: The installation.

    Attributes:
        at: The same.
        home: The address of a session of the run ``typed``.
        problems: What no answer may be, since they were last cleared.
        refused: Whether an answer since then was a refusal.
    """

    def __init__(self, at: Installation) -> None:
        self.at, self.problems, self.refused = at, list[str](), False
        self._address = at.site.host, at.site.port
        url = f"http://{at.site.host}:{at.site.port}"
        self._client = httpx.Client(base_url=url, timeout=_PATIENCE_S)
        self.home = self.ask("POST", f"/run/{at.runs['typed']}", data={"decision": "accept"})[1]

    def outcome(self) -> str:
        """Return what became of everything since the last call, and forget it."""
        outcome = FAULT if self.problems else REFUSED if self.refused else TAKEN
        self.problems, self.refused = [], False
        return outcome

    def place(self, path: str) -> str:
        """Return a path with the names in braces replaced: of runs, ``home`` and ``coder``."""
        return path.format(**self.at.runs, home=self.home, coder=self.at.coder)

    def ask(self, method: str, path: str, **options: object) -> tuple[str, str]:
        """Ask as a stranger; return the text of the answer and where it leads to."""
        reply = self._client.request(method, path, **options)  # type: ignore[arg-type]
        self._client.cookies.clear()
        return self._heard(reply.status_code, Headers(list(reply.headers.items())), reply.content)

    def ask_as_member(self, method: str, path: str, **options: object) -> tuple[str, str]:
        """Ask as a member of the project; return as ``ask`` does."""
        form = {"form_token": self.at.form, "project": ATTACKED}
        if method == "GET":
            options["params"] = options.get("params", {}) | {"project": ATTACKED}
        elif "content" in options:
            options["content"] = f"{urlencode(form)}&".encode() + options["content"]
        else:
            options["data"] = form | options.get("data", {})
        own = {"Cookie": f"{SESSION_COOKIE}={self.at.cookie}", "Origin": str(self._client.base_url)}
        options["headers"] = options.get("headers", {}) | own
        return self.ask(method, f"{RESEARCHER_PATH}{path}", **options)

    def check(self, archive: bytes) -> None:
        """Upload a study and read its checks."""
        _, leads_to = self.ask_as_member(
            "POST", "/launch/upload", files={"file": ("s.zip", archive)}
        )
        if leads_to:
            path, _, query = leads_to.partition("?")
            params = dict(httpx.QueryParams(query))
            page, _ = self.ask_as_member("GET", path.removeprefix(RESEARCHER_PATH), params=params)
            self.refused |= _SOUND not in page

    def send(self, path: str, headers: Mapping[str, bytes]) -> None:
        """Ask as a stranger with headers that no library sends."""
        lines = [f"{name}: ".encode() + value for name, value in headers.items()]
        if "Host" not in headers:
            lines.insert(0, b"Host: %s:%d" % (self._address[0].encode(), self._address[1]))
        head = b"\r\n".join([f"GET {path} HTTP/1.1".encode(), *lines, b"Connection: close"])
        with socket.create_connection(self._address, timeout=_PATIENCE_S) as connection:
            connection.sendall(head + b"\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            reply = b""
            while part := connection.recv(65536):
                reply += part
        status = reply.partition(b" ")[2][:3]
        self._heard(int(status) if status.isdigit() else 400, Headers(), reply or b"hung up")

    def close(self) -> None:
        """End it."""
        self._client.close()

    def _heard(self, status: int, headers: Headers, content: bytes) -> tuple[str, str]:
        problem = wrong_with(status, headers, content, self.at.instance)
        # An address that the server does not read to its end gets a status line alone.
        if not problem and status >= 400 and status != 414 and not content:
            problem = f"status {status} without a sentence"
        if problem:
            self.problems.append(problem)
        self.refused |= status >= 400
        return content.decode("utf-8", "replace"), headers.get("Location", "")
