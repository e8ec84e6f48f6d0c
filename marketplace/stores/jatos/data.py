"""JATOS's data: imported studies, runs and results; and the batch channel, a web socket.

Of several patches to one version of the batch session, only the first applies. Messages have the
format of ``BatchActionMsgBuilder.scala`` of JATOS/JATOS: the sender of a patch learns whether it
was applied, and all listeners receive the applied patch.
"""

import base64
import hashlib
import io
import json
import secrets
import struct
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from flask import Request, abort

from marketplace.stores.host import Faults

# The most result data of one component in one run, by JATOS's default.
LARGEST_RESULT_BYTES = 5 * 1024 * 1024


@dataclass
class StudyRun:
    """One participant's run of the study; JATOS calls it a study result.

    Attributes:
        number: The run's number, from 1.
        arguments: The query arguments of the link that started the run.
        data: The results of each start of the component.
        finished: Whether the run has ended.
    """

    number: int
    arguments: dict[str, str] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)
    finished: bool = False


@dataclass
class Study:
    """An imported study archive.

    Attributes:
        component: The id of its only component.
        page: The component's page.
        assets: The study's files, by name.
        runs: The runs, by id.
        batch: The batch session.
        version: The batch session's version; every change increases it.
        listeners: Called with every change of the batch session.
        largest_bytes: The most result data of one component start, in bytes.
    """

    component: str
    page: str
    assets: dict[str, bytes]
    runs: dict[str, StudyRun] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    listeners: list[Callable[[dict[str, Any]], None]] = field(default_factory=list)
    largest_bytes: int = LARGEST_RESULT_BYTES


class ArchiveError(Exception):
    """A file is not a study archive that JATOS can import."""


class JatosData:
    """All data of a JATOS server."""

    def __init__(self) -> None:
        self.studies: dict[str, Study] = {}
        self.lock = threading.RLock()

    def import_archive(self, archive: bytes) -> str:
        """Import a study archive, and return the code of its study link.

        Raises:
            ArchiveError: It does not contain exactly one .jas file of version 3 and one folder.
        """
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            study_files = [name for name in files.namelist() if name.endswith(".jas")]
            folders = {name.split("/")[0] for name in files.namelist() if "/" in name}
            if len(study_files) != 1 or "/" in study_files[0] or len(folders) != 1:
                raise ArchiveError("expected one .jas file and one folder")
            about = json.loads(files.read(study_files[0]))
            if int(about["version"]) != 3:
                raise ArchiveError("unsupported study version")
            study, [top] = about["data"], folders
            [component] = study["componentList"]
            assets = {
                name.removeprefix(f"{top}/"): files.read(name)
                for name in files.namelist()
                if name.startswith(f"{top}/") and not name.endswith("/")
            }
        if component["htmlFilePath"] not in assets or not study["uuid"] or not study["title"]:
            raise ArchiveError("the component's page is not in the folder")
        code = secrets.token_hex(6)
        self.studies[code] = Study(component["uuid"], component["htmlFilePath"], assets)
        return code

    def find_run(self, result: str) -> tuple[Study, StudyRun] | None:
        """Return a run and its study."""
        study = next((study for study in self.studies.values() if result in study.runs), None)
        return (study, study.runs[result]) if study else None

    def results(self, code: str) -> bytes:
        """Return the archive of a study's results, as JATOS exports it."""
        study, buffer, number = self.studies[code], io.BytesIO(), 0
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for run in study.runs.values():
                for data in run.data:
                    number += 1
                    at = f"study_result_{run.number}/comp-result_{number}"
                    archive.writestr(f"{at}/data.txt", data)
            archive.writestr("metadata.json", json.dumps({"apiVersion": "1.0.1", "data": []}))
        return buffer.getvalue()


_WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def serve_channel(request: Request, data: JatosData, study: Study, faults: Faults) -> None:
    """Open a batch channel, and answer on it until it is closed."""
    connection = _accept_socket(request)

    def reply(message: dict[str, Any]) -> None:
        with suppress(OSError):
            _send_message(connection, message)

    with data.lock:
        study.listeners.append(reply)
        reply({"action": "OPENED", "data": study.batch, "version": study.version})
    try:
        for text in _receive_messages(connection):
            message = json.loads(text)
            if message.get("heartbeat") == "ping":
                reply({"heartbeat": "pong"})
            elif message.get("action") == "SESSION":
                kind = faults.next_failure()
                if kind in ("refused_before", "lost_before"):
                    # The connection breaks, and the message on its way is lost.
                    return
                answer = _apply_message(data, study, message)
                if kind:
                    return
                reply(answer)
            else:
                reply({"action": "ERROR", "errorMsg": "Unknown action"})
    finally:
        with data.lock:
            study.listeners.remove(reply)
        connection.close()


def _accept_socket(request: Request) -> Any:  # noqa: ANN401 - a socket
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


def _apply_message(data: JatosData, study: Study, message: dict[str, Any]) -> dict[str, Any]:
    """Apply a patch if it is based on the newest version; return the answer to its sender."""
    with data.lock:
        fits = message["version"] == study.version or not message.get("versioning", True)
        if fits:
            patches = message["patches"]
            _apply_patches(study, patches)
            change = {"action": "SESSION", "patches": patches, "version": study.version}
            for send_change in study.listeners:
                send_change(change)
        action = "SESSION_ACK" if fits else "SESSION_FAIL"
        return {"action": action, "id": message["id"], "version": study.version}


def _apply_patches(study: Study, patches: list[dict[str, Any]]) -> None:
    for patch in patches:
        name = patch["path"].removeprefix("/")
        if patch["op"] in ("add", "replace"):
            study.batch[name] = patch["value"]
        else:
            study.batch.pop(name, None)
    study.version += 1


def _receive_messages(connection: Any) -> Iterator[str]:  # noqa: ANN401
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


def _send_message(connection: Any, message: dict[str, Any]) -> None:  # noqa: ANN401
    body = json.dumps(message).encode()
    if len(body) < 126:
        size = bytes([len(body)])
    elif len(body) < 65_536:
        size = b"\x7e" + struct.pack(">H", len(body))
    else:
        size = b"\x7f" + struct.pack(">Q", len(body))
    connection.sendall(b"\x81" + size + body)
