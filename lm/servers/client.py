"""Calls of an OpenAI-compatible server: repeated where that can help, checked as they come."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any
from weakref import finalize

import httpx

from lm.errors import LmError
from lm.servers.spec import ServerModel

# Too many requests, and what a proxy says of a server that is starting or overloaded.
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504}
_TRIES = 8
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_TIMEOUT_S = 600.0

Call = dict[str, Any]


class Client:
    """The server's calls as dictionaries.

    Attributes:
        fingerprint: The model's name and fingerprint as the first answer gave them; empty before.
        take: What tells this take's calls from those of others, which may ask the same.

    Args:
        server: The server and its model.
        key: Sent as a bearer token; empty for none.
        wait: Waits so many seconds.
    """

    def __init__(
        self, server: ServerModel, key: str = "", wait: Callable[[float], None] = time.sleep
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(timeout=_TIMEOUT_S, headers=headers)
        finalize(self, self._http.close)
        self._server, self._wait = server, wait
        self.fingerprint = ""
        self.take = secrets.token_hex(8)

    def post(self, path: str, **body: object) -> Call:
        """Return a call's answer.

        Raises:
            LmError: The server refuses, does not answer however often it is asked, or answers
                with another model than at first.
        """
        found = self._tried(path, {"model": self._server.model, **body})
        seen = f"{found.get('model', '')} {found.get('system_fingerprint') or ''}".strip()
        if self.fingerprint and seen != self.fingerprint:
            raise LmError(
                f"{self._server.url}: the model has changed in mid-run: it was "
                f'"{self.fingerprint}" and is "{seen}". What was answered before is kept apart '
                "from what comes after. Name a new folder with --out to begin again."
            )
        self.fingerprint = seen
        return found

    def _tried(self, path: str, body: Call) -> Call:
        reason, wait_s = "", _FIRST_WAIT_S
        # A server that honours it answers a call that is repeated as it did before, and bills once.
        same = hashlib.sha256(json.dumps([self.take, path, body]).encode()).hexdigest()
        for number in range(_TRIES):
            if number:
                self._wait(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            try:
                response = self._http.post(
                    f"{self._server.url}/{path}", json=body, headers={"Idempotency-Key": same}
                )
                if response.status_code == httpx.codes.OK:
                    answer = response.json()
                    if isinstance(answer, dict):
                        return answer
                    reason = "an answer that is no JSON object"
                    continue
            except (httpx.TransportError, ValueError) as error:
                reason = _why_lost(error)
                continue
            reason = f"status {response.status_code}: {response.text[:200].strip()}"
            if response.status_code not in _PASSING:
                break
            wait_s = max(wait_s, _asked_to_wait(response))
        raise LmError(
            f"{self._server.url}/{path} gives no answer ({reason}). Expected a server that speaks "
            f"the OpenAI-compatible protocol and has the model {self._server.model}. What was "
            "answered is kept: the same command goes on from there."
        )


def _why_lost(error: Exception) -> str:
    """Return why no answer came, in words: the library's own are about sockets and characters."""
    match error:
        case httpx.TimeoutException():
            return f"nothing came for {_TIMEOUT_S:.0f} seconds"
        case httpx.ConnectError():
            return "nothing listens at that address, or its name is not known"
        case httpx.UnsupportedProtocol():
            return "the address does not begin with http:// or https://"
        case httpx.TransportError():
            return "the connection broke before the answer was whole"
    return "the answer is no JSON, or was cut off in the middle"


def _asked_to_wait(response: httpx.Response) -> float:
    try:
        return min(float(response.headers.get("retry-after", 0)), _LONGEST_WAIT_S)
    except ValueError:
        return 0.0
