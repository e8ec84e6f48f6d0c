"""A client of OpenAI-compatible servers, with retries and the costs of every attempt."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any
from weakref import finalize

import httpx

from lm.answering.budget import Budget
from lm.answering.spec import ServerModel
from lm.errors import LmError

# Too many requests, and a proxy's errors for a server that is starting or overloaded.
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504}
_TRIES = 8
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_TIMEOUT_S = 600.0
# Errors before the request was sent, so that it cannot have been billed.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)

Reply = dict[str, Any]


class Client:
    """Sends calls to a server, with requests and replies as dictionaries.

    Attributes:
        fingerprint: The model's name and fingerprint in the first reply; empty before.
        take: The name of this run, which distinguishes its calls from equal calls of other runs.

    Args:
        server: The server and its model.
        budget: The ledger of all attempts' costs.
        key: The API key, sent as a bearer token; empty for none.
        wait: Waits for some seconds.
        timeout_s: The longest wait for a reply.
    """

    def __init__(
        self,
        server: ServerModel,
        budget: Budget,
        key: str = "",
        wait: Callable[[float], None] = time.sleep,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(timeout=timeout_s, headers=headers)
        finalize(self, self._http.close)
        self._server, self._budget, self._wait = server, budget, wait
        self._timeout_s = timeout_s
        self.fingerprint = ""
        self.take = secrets.token_hex(8)

    def post(self, path: str, worst: float, /, **body: object) -> Reply:
        """Return the reply to a call.

        Args:
            path: The path of the call, relative to the server's address.
            worst: The highest possible cost of one attempt.
            **body: The request.

        Raises:
            LmError: The server refuses, does not answer despite all retries, or answers with
                another model than at first; or the cap allows no further attempt.
        """
        reply = self._post_with_retries(path, worst, {"model": self._server.model, **body})
        current = f"{reply.get('model', '')} {reply.get('system_fingerprint') or ''}".strip()
        if self.fingerprint and current != self.fingerprint:
            raise LmError(
                f"{self._server.url}: the model has changed in mid-run: it was "
                f'"{self.fingerprint}" and is "{current}". What was answered before is kept apart '
                "from what comes after. Name a new folder with --out to begin again."
            )
        self.fingerprint = current
        return reply

    def _post_with_retries(self, path: str, worst: float, body: Reply) -> Reply:
        reason, wait_s = "", _FIRST_WAIT_S
        # A server that supports this key answers a repeated call as before, and bills it once.
        idempotency_key = hashlib.sha256(json.dumps([self.take, path, body]).encode()).hexdigest()
        for number in range(_TRIES):
            if number:
                self._wait(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            try:
                response, reply = self._attempt(path, worst, body, idempotency_key)
            except httpx.RequestError as error:
                reason = self._explain_lost_reply(error)
                continue
            if response.status_code == httpx.codes.OK:
                if reply is not None:
                    return reply
                reason = "the answer is no JSON object, or was cut off in the middle"
                continue
            reason = f"status {response.status_code}: {response.text[:200].strip()}"
            if response.status_code not in _PASSING:
                break
            wait_s = max(wait_s, _retry_after_s(response))
        raise LmError(
            f"{self._server.url}/{path} gives no answer ({reason}). Expected a server that speaks "
            f"the OpenAI-compatible protocol and has the model {self._server.model}. What was "
            "answered is kept: the same command goes on from there."
        )

    def _attempt(
        self, path: str, worst: float, body: Reply, key: str
    ) -> tuple[httpx.Response, Reply | None]:
        """Make one attempt, and record its cost as reported, or else the highest possible one."""
        reservation = self._budget.reserve(worst)
        try:
            response = self._http.post(
                f"{self._server.url}/{path}",
                json=body,
                headers={"Idempotency-Key": key},
            )
        except _NEVER_SENT:
            self._budget.release(reservation)
            raise
        reply = _json_object(response)
        if reply is not None and "usage" in reply:
            self._budget.settle(reservation, reply["usage"])
        elif _refused_unread(response):
            self._budget.release(reservation)
        return response, reply

    def _explain_lost_reply(self, error: httpx.RequestError) -> str:
        """Return in words why no reply arrived: the library's own messages are about sockets."""
        match error:
            case httpx.TimeoutException():
                return f"nothing came for {self._timeout_s:g} seconds"
            case httpx.ConnectError():
                return "nothing listens at that address, or its name is not known"
            case httpx.UnsupportedProtocol():
                return "the address does not begin with http:// or https://"
        return "the connection broke before the answer was whole"


def _json_object(response: httpx.Response) -> Reply | None:
    try:
        reply = response.json()
    except (ValueError, RecursionError):
        return None
    return reply if isinstance(reply, dict) else None


def _refused_unread(response: httpx.Response) -> bool:
    """Return whether a server refused a call before its model read it.

    A timeout (408) does not qualify: a proxy may send it while the model is working.
    """
    return response.is_client_error and response.status_code != httpx.codes.REQUEST_TIMEOUT


def _retry_after_s(response: httpx.Response) -> float:
    try:
        return min(float(response.headers.get("retry-after", 0)), _LONGEST_WAIT_S)
    except ValueError:
        return 0.0
