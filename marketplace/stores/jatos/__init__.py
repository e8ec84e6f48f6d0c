"""JATOS: runs of imported studies, their results and batch sessions, in JATOS's own protocol.

Sources: the documentation at https://www.jatos.org, and publix.routes, ``Publix.java`` and jatos.js
of JATOS/JATOS. Its own jatos.js runs against these addresses: benchmarks/store_clients.py.
"""

import mimetypes
import secrets
import zipfile
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, jsonify, make_response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from marketplace.stores.host import Faults, answer_instead, answer_or_fail
from marketplace.stores.jatos.data import ArchiveError, Jatos, Study, StudyRun, serve_channel


class _Handlers:
    """The handlers of JATOS's routes.

    Args:
        data: JATOS's data.
        faults: The planned failures.
        programs: The folder of JATOS's own jatos.js and the files that it loads; without it, a
            short replacement is served.
    """

    def __init__(self, data: Jatos, faults: Faults, programs: Path | None) -> None:
        self._held, self._faults, self._programs = data, faults, programs

    def _run_of(self, result: str) -> tuple[Study, StudyRun]:
        return self._held.run_of(result) or abort(404)

    def import_archive(self) -> Response:
        """Import a study archive, and answer with the study link."""
        try:
            code = self._held.import_archive(request.get_data())
        except (ArchiveError, zipfile.BadZipFile, KeyError, ValueError) as error:
            return Response(f"{error}\n", 400)
        return Response(f"{request.host_url}publix/{code}\n", 201)

    def results(self, code: str) -> Response:
        """Send a study's results."""
        if code not in self._held.studies:
            abort(404)
        return Response(self._held.results(code), mimetype="application/zip")

    def begin(self, code: str) -> AnyResponse:
        """Begin a run of the study."""
        if code not in self._held.studies:
            abort(404)
        study, result = self._held.studies[code], secrets.token_hex(16)
        with self._held.lock:
            run = StudyRun(len(study.runs) + 1, request.args.to_dict())
            study.runs[result] = run
        # The link's query arguments are not passed on in the address; jatos.js gets them as data.
        answer = redirect(f"/publix/{result}/{study.component}/start")
        about = {
            "studyResultUuid": result,
            "studyResultId": run.number,
            "componentPos": 1,
            "workerType": "GeneralMultiple",
            "urlBasePath": "/",
        }
        answer.set_cookie(f"JATOS_ID_{run.number}", urlencode(about))
        return answer

    def start(self, result: str, component: str) -> Response:
        """Show the study's page; each time starts a new component result."""
        study, run = self._run_of(result)
        kind = self._faults.next()
        if (failed := answer_instead(kind)) is not None:
            return failed
        if run.finished:
            return Response("This study run is finished", 403)
        with self._held.lock:
            run.data.append("")
        return answer_or_fail(kind, Response(study.assets[study.page], mimetype="text/html"))

    def begin_data(self, result: str, component: str) -> Response:
        """Send the initial data that jatos.js requests."""
        _, run = self._run_of(result)
        return jsonify(
            studySessionData="{}",
            studyProperties={},
            componentProperties={"reloadable": True},
            batchProperties={},
            componentList=[{"uuid": component}],
            urlQueryParameters=run.arguments,
            studyCode="",
        )

    def take(self, result: str, component: str) -> Response:
        """Store results: append to the earlier ones, or replace them."""
        kind = self._faults.next()
        if (failed := answer_instead(kind)) is not None:
            return failed
        study, run = self._run_of(result)
        if run.finished or not run.data:
            return Response("Impossible to put result data to component result", 403)
        with self._held.lock:
            body = request.get_data(as_text=True)
            results = body if request.method == "PUT" else run.data[-1] + body
            if len(results.encode()) > study.largest_bytes:
                return Response("Result data size exceeds allowed", 413)
            run.data[-1] = results
        return answer_or_fail(kind, Response(""))

    def alive(self, result: str) -> Response:
        """Accept a heartbeat: the page of a run is still open."""
        self._run_of(result)
        return Response("")

    def note(self, result: str, component: str) -> Response:
        """Accept a page's entry for JATOS's log."""
        self._run_of(result)
        return Response("")

    def end(self, result: str) -> Response:
        """End a run."""
        kind = self._faults.next()
        if (failed := answer_instead(kind)) is not None:
            return failed
        self._run_of(result)[1].finished = True
        return answer_or_fail(kind, Response(""))

    def channel(self, result: str) -> Response:
        """Open the batch channel (a web socket)."""
        study, _ = self._run_of(result)
        serve_channel(request, self._held, study, self._faults)
        return make_response("")

    def program(self, result: str, component: str) -> Response:
        """Send jatos.js."""
        kind = self._faults.next()
        folder = self._programs or files("marketplace.stores.jatos")
        text = (folder / ("jatos.js" if self._programs else "program.js")).read_text("utf-8")
        return answer_instead(kind) or answer_or_fail(
            kind, Response(text, mimetype="text/javascript")
        )

    def library(self, result: str, component: str, file: str) -> Response:
        """Send a library that jatos.js loads."""
        path = self._programs / file if self._programs and "/" not in file else None
        if path is None or not path.is_file():
            abort(404)
        return Response(path.read_bytes(), mimetype="text/javascript")

    def asset(self, result: str, component: str, file: str) -> Response:
        """Send a file of the study."""
        kind = self._faults.next()
        study, _ = self._run_of(result)
        if file not in study.assets:
            abort(404)
        mimetype = mimetypes.guess_type(file)[0]
        return answer_instead(kind) or answer_or_fail(
            kind, Response(study.assets[file], mimetype=mimetype)
        )


_RUN = "/publix/<result>"
_COMPONENT = f"{_RUN}/<component>"
_RULES = (
    ("/jatos/archives", "import_archive", "POST"),
    ("/jatos/results/<code>", "results", "GET"),
    ("/publix/<code>", "begin", "GET"),
    (f"{_RUN}/heartbeat", "alive", "POST"),
    (f"{_RUN}/end", "end", "GET"),
    (f"{_RUN}/batch/open", "channel", "GET"),
    (f"{_COMPONENT}/start", "start", "GET"),
    (f"{_COMPONENT}/initData", "begin_data", "GET"),
    (f"{_COMPONENT}/resultData", "take", "POST", "PUT"),
    (f"{_COMPONENT}/log", "note", "POST"),
    (f"{_COMPONENT}/jatos.js", "program", "GET"),
    (f"{_COMPONENT}/jatos-publix/javascripts/<file>", "library", "GET"),
    (f"{_COMPONENT}/<path:file>", "asset", "GET"),
)


def create_jatos(faults: Faults, programs: Path | None = None) -> Blueprint:
    """Return the JATOS blueprint; ``programs`` is the folder of JATOS's own jatos.js, if served."""
    pages, data = Blueprint("jatos", __name__), Jatos()
    handlers = _Handlers(data, faults, programs)
    pages.jatos = data  # type: ignore[attr-defined]
    for rule, handler, *methods in _RULES:
        # Werkzeug separates web socket rules from HTTP rules.
        socket = handler == "channel"
        pages.add_url_rule(
            rule, view_func=getattr(handlers, handler), methods=methods, websocket=socket
        )
    return pages
