"""JATOS: an imported study's run, its results and its batch session, in its own protocol.

Sources: the documentation at https://www.jatos.org, and publix.routes and jatos.js of JATOS/JATOS.
"""

import base64
import hashlib
import io
import json
import secrets
import struct
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, jsonify, make_response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from marketplace.stores.faults import Faults, after, before

_WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class _StudyRun:
    """One participant's run of the study: what JATOS calls a study result."""

    number: int
    data: str = ""
    finished: bool = False


@dataclass
class _Study:
    """An imported study archive."""

    component: str
    page: str
    assets: dict[str, bytes]
    runs: dict[str, _StudyRun] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=dict)
    version: int = 1


class ArchiveError(Exception):
    """A file is no study archive that JATOS imports."""


class Jatos:
    """What a JATOS holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.studies: dict[str, _Study] = {}
        self.lock = threading.Lock()

    def bring_in(self, archive: bytes) -> str:
        """Import a study archive, and return the code of its link.

        Raises:
            ArchiveError: It holds not exactly one .jas file of version 3 and one folder.
        """
        with zipfile.ZipFile(io.BytesIO(archive)) as found:
            named = [name for name in found.namelist() if name.endswith(".jas")]
            folders = {name.split("/")[0] for name in found.namelist() if "/" in name}
            if len(named) != 1 or "/" in named[0] or len(folders) != 1:
                raise ArchiveError("expected one .jas file and one folder")
            about = json.loads(found.read(named[0]))
            if int(about["version"]) != 3:
                raise ArchiveError("unsupported study version")
            study, [top] = about["data"], folders
            [component] = study["componentList"]
            assets = {
                name.removeprefix(f"{top}/"): found.read(name)
                for name in found.namelist()
                if name.startswith(f"{top}/") and not name.endswith("/")
            }
        if component["htmlFilePath"] not in assets or not study["uuid"] or not study["title"]:
            raise ArchiveError("the component's page is not in the folder")
        code = secrets.token_hex(6)
        self.studies[code] = _Study(component["uuid"], component["htmlFilePath"], assets)
        return code

    def results(self, code: str) -> bytes:
        """Return the archive of a study's results, as JATOS exports it."""
        study, made = self.studies[code], io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for run in study.runs.values():
                at = f"study_result_{run.number}/comp-result_{run.number}"
                archive.writestr(f"{at}/data.txt", run.data)
            archive.writestr("metadata.json", json.dumps({"apiVersion": "1.0.1", "data": []}))
        return made.getvalue()


class _Doors:
    """JATOS's addresses.

    Args:
        held: What it holds.
        faults: What goes wrong.
    """

    def __init__(self, held: Jatos, faults: Faults) -> None:
        self._held, self._faults = held, faults

    def _run_of(self, result: str) -> tuple[_Study, _StudyRun]:
        found = next((each for each in self._held.studies.values() if result in each.runs), None)
        if found is None:
            abort(404)
        return found, found.runs[result]

    def bring_in(self) -> Response:
        """Import a study archive, and answer with its link."""
        try:
            code = self._held.bring_in(request.get_data())
        except (ArchiveError, zipfile.BadZipFile, KeyError, ValueError) as error:
            return Response(f"{error}\n", 400)
        return Response(f"{request.host_url}publix/{code}\n", 201)

    def results(self, code: str) -> Response:
        """Give out a study's results."""
        if code not in self._held.studies:
            abort(404)
        return Response(self._held.results(code), mimetype="application/zip")

    def begin(self, code: str) -> AnyResponse:
        """Begin a run of the study."""
        if code not in self._held.studies:
            abort(404)
        study, result = self._held.studies[code], secrets.token_hex(16)
        with self._held.lock:
            study.runs[result] = _StudyRun(len(study.runs) + 1)
        query = request.query_string.decode()
        answer = redirect(f"/publix/{result}/{study.component}/start?{query}")
        cookie = f"studyResultUuid={result}&componentPos=1&workerType=GeneralMultiple&urlBasePath=/"
        answer.set_cookie(f"JATOS_ID_{study.runs[result].number}", cookie)
        return answer

    def start(self, result: str, component: str) -> Response:
        """Show the study's page."""
        study, _ = self._run_of(result)
        kind = self._faults.next()
        return before(kind) or after(kind, Response(study.assets[study.page], mimetype="text/html"))

    def begin_data(self, result: str, component: str) -> Response:
        """Tell jatos.js what it asks for first."""
        self._run_of(result)
        return jsonify(
            studySessionData="{}",
            studyProperties={},
            componentProperties={},
            batchProperties={},
            componentList=[{"uuid": component}],
            urlQueryParameters=dict(request.args),
            studyCode="",
        )

    def take(self, result: str, component: str) -> Response:
        """Take results, to append or in the place of others."""
        kind = self._faults.next()
        if (failed := before(kind)) is not None:
            return failed
        _, run = self._run_of(result)
        if run.finished:
            return Response("study run already finished", 403)
        with self._held.lock:
            sent = request.get_data(as_text=True)
            run.data = sent if request.method == "PUT" else run.data + sent
        return after(kind, Response(""))

    def end(self, result: str) -> Response:
        """End a run."""
        kind = self._faults.next()
        if (failed := before(kind)) is not None:
            return failed
        self._run_of(result)[1].finished = True
        return after(kind, Response(""))

    def channel(self, result: str) -> Response:
        """Open the batch channel."""
        study, _ = self._run_of(result)
        connection = request.environ.get("werkzeug.socket") or request.environ.get(
            "gunicorn.socket"
        )
        if connection is None or "Sec-WebSocket-Key" not in request.headers:
            abort(400)
        key = request.headers["Sec-WebSocket-Key"] + _WEB_SOCKET
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {accepted}\r\n\r\n".encode()
        )
        _serve(connection, self._held, study)
        connection.close()
        return make_response("")

    def program(self, result: str, component: str) -> Response:
        """Send jatos.js."""
        kind = self._faults.next()
        text = (files("marketplace.stores") / "jatos.js").read_text(encoding="utf-8")
        return before(kind) or after(kind, Response(text, mimetype="text/javascript"))

    def asset(self, result: str, component: str, file: str) -> Response:
        """Send a file of the study."""
        kind = self._faults.next()
        study, _ = self._run_of(result)
        if file not in study.assets:
            abort(404)
        return before(kind) or after(kind, Response(study.assets[file]))


_RULES = (
    ("/jatos/archives", "bring_in", "POST"),
    ("/jatos/results/<code>", "results", "GET"),
    ("/publix/<code>", "begin", "GET"),
    ("/publix/<result>/<component>/start", "start", "GET"),
    ("/publix/<result>/end", "end", "GET"),
    ("/publix/<result>/batch/open", "channel", "GET"),
)


def jatos(folder: Path, faults: Faults) -> Blueprint:
    """Return JATOS."""
    pages, held = Blueprint("jatos", __name__), Jatos(folder)
    doors = _Doors(held, faults)
    pages.jatos = held  # type: ignore[attr-defined]
    for rule, door, *methods in _RULES:
        # Werkzeug keeps web sockets apart from what is asked for by HTTP.
        socket = door == "channel"
        pages.add_url_rule(rule, view_func=getattr(doors, door), methods=methods, websocket=socket)
    pages.add_url_rule(
        "/publix/<result>/<component>/initData", view_func=doors.begin_data, methods=["GET"]
    )
    pages.add_url_rule(
        "/publix/<result>/<component>/resultData", view_func=doors.take, methods=["POST", "PUT"]
    )
    pages.add_url_rule("/publix/<result>/end", view_func=doors.end, methods=["GET"])
    pages.add_url_rule("/publix/<result>/batch/open", view_func=doors.channel, methods=["GET"])
    pages.add_url_rule(
        "/publix/<result>/<component>/jatos.js", view_func=doors.program, methods=["GET"]
    )
    pages.add_url_rule(
        "/publix/<result>/<component>/<path:file>", view_func=doors.asset, methods=["GET"]
    )
    return pages


def _serve(connection: Any, held: Jatos, study: _Study) -> None:  # noqa: ANN401 - a socket
    """Answer on a batch channel until it is closed: of patches of one version the first applies."""
    with held.lock:
        _say(connection, {"data": study.batch, "version": study.version})
    for text in _heard(connection):
        message = json.loads(text)
        if message.get("heartbeat") == "ping":
            _say(connection, {"heartbeat": "pong"})
        if message.get("action") != "SESSION":
            continue
        with held.lock:
            fits = message.get("version") == study.version or not message.get("versioning", True)
            if fits:
                _apply(study, message["patches"])
            answer = {
                "action": "SESSION_ACK" if fits else "SESSION_FAIL",
                "id": message.get("id"),
                "data": study.batch,
                "version": study.version,
            }
        _say(connection, answer)


def _apply(study: _Study, patches: list[dict[str, Any]]) -> None:
    for patch in patches:
        name = patch["path"].removeprefix("/")
        if patch["op"] in ("add", "replace"):
            study.batch[name] = patch["value"]
        else:
            study.batch.pop(name, None)
    study.version += 1


def _heard(connection: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the texts of a web socket (RFC 6455) until it ends."""
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


def _say(connection: Any, message: dict[str, Any]) -> None:  # noqa: ANN401
    body = json.dumps(message).encode()
    size = bytes([len(body)]) if len(body) < 126 else b"\x7e" + struct.pack(">H", len(body))
    connection.sendall(b"\x81" + size + body)
