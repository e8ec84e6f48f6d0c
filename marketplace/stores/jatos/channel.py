"""JATOS's batch channel, a web socket: of several patches to one version, only the first applies.

Messages have the format of ``BatchActionMsgBuilder.scala`` of JATOS/JATOS: the sender of a patch
learns whether it was applied, and all listeners receive the applied patch.
"""

import base64
import hashlib
import json
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from flask import Request, abort

from marketplace.stores.faults import Faults
from marketplace.stores.jatos.held import Jatos, Study

_WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def serve_channel(request: Request, held: Jatos, study: Study, faults: Faults) -> None:
    """Open a batch channel, and answer on it until it is closed."""
    connection = _accepted(request)

    def say(message: dict[str, Any]) -> None:
        with suppress(OSError):
            _send(connection, message)

    with held.lock:
        study.listening.append(say)
        say({"action": "OPENED", "data": study.batch, "version": study.version})
    try:
        for text in _heard(connection):
            message = json.loads(text)
            if message.get("heartbeat") == "ping":
                say({"heartbeat": "pong"})
            elif message.get("action") == "SESSION":
                kind = faults.next()
                if kind in ("refused_before", "lost_before"):
                    # The connection breaks, and the message on its way is lost.
                    return
                answer = _patched(held, study, message)
                if kind:
                    return
                say(answer)
            else:
                say({"action": "ERROR", "errorMsg": "Unknown action"})
    finally:
        with held.lock:
            study.listening.remove(say)
        connection.close()


def _accepted(request: Request) -> Any:  # noqa: ANN401 - a socket
    connection = request.environ.get("werkzeug.socket") or request.environ.get("gunicorn.socket")
    if connection is None or "Sec-WebSocket-Key" not in request.headers:
        abort(400)
    key = request.headers["Sec-WebSocket-Key"] + _WEB_SOCKET
    accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    connection.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + f"Sec-WebSocket-Accept: {accepted}\r\n\r\n".encode()
    )
    return connection


def _patched(held: Jatos, study: Study, message: dict[str, Any]) -> dict[str, Any]:
    """Apply a patch if it is based on the newest version; return the answer to its sender."""
    with held.lock:
        fits = message["version"] == study.version or not message.get("versioning", True)
        if fits:
            patches = message["patches"]
            _apply(study, patches)
            told = {"action": "SESSION", "patches": patches, "version": study.version}
            for tell in study.listening:
                tell(told)
        action = "SESSION_ACK" if fits else "SESSION_FAIL"
        return {"action": action, "id": message["id"], "version": study.version}


def _apply(study: Study, patches: list[dict[str, Any]]) -> None:
    for patch in patches:
        name = patch["path"].removeprefix("/")
        if patch["op"] in ("add", "replace"):
            study.batch[name] = patch["value"]
        else:
            study.batch.pop(name, None)
    study.version += 1


def _heard(connection: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the text messages of a web socket (RFC 6455) until it closes."""
    stream = connection.makefile("rb")
    while head := stream.read(2):
        kind, length = head[0] & 0x0F, head[1] & 0x7F
        if length == 126:
            [length] = struct.unpack(">H", stream.read(2))
        elif length == 127:
            [length] = struct.unpack(">Q", stream.read(8))
        mask, body = stream.read(4), stream.read(length)
        if kind == 8 or len(body) < length:
            return
        if kind == 1:
            yield bytes(byte ^ mask[at % 4] for at, byte in enumerate(body)).decode()


def _send(connection: Any, message: dict[str, Any]) -> None:  # noqa: ANN401
    body = json.dumps(message).encode()
    if len(body) < 126:
        size = bytes([len(body)])
    elif len(body) < 65_536:
        size = b"\x7e" + struct.pack(">H", len(body))
    else:
        size = b"\x7f" + struct.pack(">Q", len(body))
    connection.sendall(b"\x81" + size + body)
