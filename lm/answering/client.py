"""A client of OpenAI-compatible servers, with retries and the costs of every attempt."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any, NoReturn
from weakref import finalize

import httpx

from lm.answering.budget import Budget
from lm.answering.replies import (
    NoReplyError,
    ServerReply,
    UnusableReplyError,
    join_stream,
    parse_reply,
)
from lm.answering.spec import ServerModel
from lm.errors import LmError

# Too many requests, and a proxy's errors for a server that is starting or overloaded.
_TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504}
_MOST_ATTEMPTS = 8
# How often a call is repeated whose reply was complete, but not usable.
_UNUSABLE_TRIES = 3
_BAD_REQUEST = {400, 422}
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_TIMEOUT_S = 600.0
# Errors before the request was sent, so that it cannot have been billed.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)

ReplyCheck = Callable[[ServerReply], object]


class Client:
    """Sends calls to a server, and returns replies that fit their schema.

    Attributes:
        fingerprint: The model's name in the first reply, with its fingerprint if that may not
            change; empty before.
        take: The name of this run, which distinguishes its calls from equal calls of other runs.

    Args:
        server: The server and its model.
        budget: The ledger of all attempts' costs.
        key: The API key, sent as a bearer token; empty for none.
        wait: Waits for some seconds.
        timeout_s: The longest wait for a reply.
        varying: Whether the fingerprint may change; the model's name may not.
    """

    def __init__(
        self,
        server: ServerModel,
        budget: Budget,
        key: str = "",
        wait: Callable[[float], None] = time.sleep,
        timeout_s: float = _TIMEOUT_S,
        *,
        varying: bool = False,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(timeout=timeout_s, headers=headers)
        finalize(self, self._http.close)
        self._server, self._budget, self._wait = server, budget, wait
        self._timeout_s, self._varying = timeout_s, varying
        self._streams = False
        self.fingerprint = self._name = ""
        self.take = secrets.token_hex(8)

    def post(
        self, path: str, worst: float, check: ReplyCheck = lambda _: None, /, **body: object
    ) -> ServerReply:
        """Return the reply to a call.

        Args:
            path: The path of the call, relative to the server's address.
            worst: The highest possible cost of one attempt.
            check: Raises an UnusableReplyError if the reply is not what was asked for.
            **body: The request.

        Raises:
            UnusableReplyError: The reply to every attempt is not what was asked for.
            NoReplyError: The server refuses, or does not answer despite all retries.
            LmError: The server answers with another model than at first, or the cap allows no
                further attempt.
        """
        reply = self._post_with_retries(path, worst, {"model": self._server.model, **body}, check)
        name = reply.model or ""
        current = name if self._varying else reply.fingerprint
        if self.fingerprint and current != self.fingerprint:
            self._refuse_change(name, current)
        self._name = name
        self.fingerprint = current
        return reply

    def _refuse_change(self, name: str, fingerprint: str) -> NoReturn:
        before, now = self.fingerprint, fingerprint
        remedy = "with --fingerprints record if copies of one model have different fingerprints"
        if name != self._name:
            before, now = self._name, name
            remedy = "or continue when the server answers with the first model again"
        raise LmError(
            f'{self._server.url}: the model has changed in mid-run: it was "{before}" and is '
            f'"{now}". Answers from before and after the change are kept apart. Name a new folder '
            f"with --out to begin again; {remedy}."
        )

    def _post_with_retries(
        self, path: str, worst: float, body: dict[str, Any], check: ReplyCheck
    ) -> ServerReply:
        reason, wait_s, unusable = "", _FIRST_WAIT_S, list[UnusableReplyError]()
        is_refusal = False
        for number in range(_MOST_ATTEMPTS):
            if number:
                self._wait(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            try:
                response, payload = self._attempt(path, worst, body, len(unusable))
            except httpx.RequestError as error:
                reason = self._explain_lost_reply(error)
                continue
            if response.status_code == httpx.codes.OK:
                if payload is None:
                    reason = "the answer is not a JSON object, or was cut off in the middle"
                    continue
                try:
                    reply = parse_reply(payload)
                    check(reply)
                except UnusableReplyError as error:
                    unusable.append(error)
                    reason = str(error)
                    if len(unusable) > _UNUSABLE_TRIES:
                        break
                    continue
                return reply
            reason = f"status {response.status_code}: {response.text[:200].strip()}"
            if _asks_for_stream(response) and not self._streams:
                self._streams = True
                continue
            if is_refusal := response.status_code not in _TRANSIENT:
                break
            wait_s = max(wait_s, _retry_after_s(response))
        message = (
            f"{self._server.url}/{path} gives no answer ({reason}). Expected a server that speaks "
            f"the OpenAI-compatible protocol and has the model {self._server.model}. The "
            "answers so far are kept: the same command continues from there."
        )
        if unusable:
            raise UnusableReplyError(message)
        raise NoReplyError(message, is_refusal=is_refusal)

    def _attempt(
        self, path: str, worst: float, body: dict[str, Any], n_unusable: int
    ) -> tuple[httpx.Response, object]:
        """Make one attempt, and record its cost as reported, or else the highest possible one."""
        # A server that supports this key answers a repeated call as before, and bills it once.
        # After an unusable reply the key is another one: that reply would be repeated, too.
        parts = [self.take, path, body, *([n_unusable] if n_unusable else [])]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        if self._streams:
            body = {**body, "stream": True, "stream_options": {"include_usage": True}}
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
        payload = _decode(response)
        if isinstance(payload, dict) and "usage" in payload:
            self._budget.settle(reservation, payload["usage"])
        elif _refused_unread(response):
            self._budget.release(reservation)
        return response, payload

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


def _decode(response: httpx.Response) -> object:
    """Return the decoded reply; None if it is neither a JSON object nor a whole stream."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return join_stream(response.text)
    try:
        payload = response.json()
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _asks_for_stream(response: httpx.Response) -> bool:
    """Return whether a server refused a call because it only answers in streams."""
    return response.status_code in _BAD_REQUEST and "stream" in response.text[:1000].lower()


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
