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
from marketplace.stores.jatos.data import ArchiveError, JatosData, Study, StudyRun, serve_channel


class _Handlers:
    """The handlers of JATOS's routes.

    Args:
        data: JATOS's data.
        faults: The planned failures.
        programs: The folder of JATOS's own jatos.js and the files that it loads; without it, a
            short replacement is served.
    """

    def __init__(self, data: JatosData, faults: Faults, programs: Path | None) -> None:
        self._data, self._faults, self._programs = data, faults, programs

    def _find_run(self, result: str) -> tuple[Study, StudyRun]:
        return self._data.find_run(result) or abort(404)

    def import_archive(self) -> Response:
        """Import a study archive, and answer with the study link."""
        try:
            code = self._data.import_archive(request.get_data())
        except (ArchiveError, zipfile.BadZipFile, KeyError, ValueError) as error:
            return Response(f"{error}\n", 400)
        return Response(f"{request.host_url}publix/{code}\n", 201)

    def send_results(self, code: str) -> Response:
        """Send a study's results."""
        if code not in self._data.studies:
            abort(404)
        return Response(self._data.results(code), mimetype="application/zip")

    def begin_run(self, code: str) -> AnyResponse:
        """Begin a run of the study."""
        if code not in self._data.studies:
            abort(404)
        study, result = self._data.studies[code], secrets.token_hex(16)
        with self._data.lock:
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

    def show_page(self, result: str, component: str) -> Response:
        """Show the study's page; each time starts a new component result."""
        study, run = self._find_run(result)
        kind = self._faults.next_failure()
        if (failed := answer_instead(kind)) is not None:
            return failed
        if run.finished:
            return Response("This study run is finished", 403)
        with self._data.lock:
            run.data.append("")
        return answer_or_fail(kind, Response(study.assets[study.page], mimetype="text/html"))

    def send_initial_data(self, result: str, component: str) -> Response:
        """Send the initial data that jatos.js requests."""
        _, run = self._find_run(result)
        return jsonify(
            studySessionData="{}",
            studyProperties={},
            componentProperties={"reloadable": True},
            batchProperties={},
            componentList=[{"uuid": component}],
            urlQueryParameters=run.arguments,
            studyCode="",
        )

    def store_results(self, result: str, component: str) -> Response:
        """Store results: append to the earlier ones, or replace them."""
        kind = self._faults.next_failure()
        if (failed := answer_instead(kind)) is not None:
            return failed
        study, run = self._find_run(result)
        if run.finished or not run.data:
            return Response("Impossible to put result data to component result", 403)
        with self._data.lock:
            body = request.get_data(as_text=True)
            results = body if request.method == "PUT" else run.data[-1] + body
            if len(results.encode()) > study.largest_bytes:
                return Response("Result data size exceeds allowed", 413)
            run.data[-1] = results
        return answer_or_fail(kind, Response(""))

    def accept_heartbeat(self, result: str) -> Response:
        """Accept a heartbeat: the page of a run is still open."""
        self._find_run(result)
        return Response("")

    def log_entry(self, result: str, component: str) -> Response:
        """Accept a page's entry for JATOS's log."""
        self._find_run(result)
        return Response("")

    def end_run(self, result: str) -> Response:
        """End a run."""
        kind = self._faults.next_failure()
        if (failed := answer_instead(kind)) is not None:
            return failed
        self._find_run(result)[1].finished = True
        return answer_or_fail(kind, Response(""))

    def open_channel(self, result: str) -> Response:
        """Open the batch channel (a web socket)."""
        study, _ = self._find_run(result)
        serve_channel(request, self._data, study, self._faults)
        return make_response("")

    def send_jatos_js(self, result: str, component: str) -> Response:
        """Send jatos.js."""
        kind = self._faults.next_failure()
        folder = self._programs or files("marketplace.stores.jatos")
        text = (folder / ("jatos.js" if self._programs else "program.js")).read_text("utf-8")
        return answer_instead(kind) or answer_or_fail(
            kind, Response(text, mimetype="text/javascript")
        )

    def send_library(self, result: str, component: str, file: str) -> Response:
        """Send a library that jatos.js loads."""
        path = self._programs / file if self._programs and "/" not in file else None
        if path is None or not path.is_file():
            abort(404)
        return Response(path.read_bytes(), mimetype="text/javascript")

    def send_study_file(self, result: str, component: str, file: str) -> Response:
        """Send a file of the study."""
        kind = self._faults.next_failure()
        study, _ = self._find_run(result)
        if file not in study.assets:
            abort(404)
        mimetype = mimetypes.guess_type(file)[0]
        return answer_instead(kind) or answer_or_fail(
            kind, Response(study.assets[file], mimetype=mimetype)
        )


_RUN_PATH = "/publix/<result>"
_COMPONENT_PATH = f"{_RUN_PATH}/<component>"
_ROUTES = (
    ("/jatos/archives", "import_archive", "POST"),
    ("/jatos/results/<code>", "send_results", "GET"),
    ("/publix/<code>", "begin_run", "GET"),
    (f"{_RUN_PATH}/heartbeat", "accept_heartbeat", "POST"),
    (f"{_RUN_PATH}/end", "end_run", "GET"),
    (f"{_RUN_PATH}/batch/open", "open_channel", "GET"),
    (f"{_COMPONENT_PATH}/start", "show_page", "GET"),
    (f"{_COMPONENT_PATH}/initData", "send_initial_data", "GET"),
    (f"{_COMPONENT_PATH}/resultData", "store_results", "POST", "PUT"),
    (f"{_COMPONENT_PATH}/log", "log_entry", "POST"),
    (f"{_COMPONENT_PATH}/jatos.js", "send_jatos_js", "GET"),
    (f"{_COMPONENT_PATH}/jatos-publix/javascripts/<file>", "send_library", "GET"),
    (f"{_COMPONENT_PATH}/<path:file>", "send_study_file", "GET"),
)


def create_jatos(faults: Faults, programs: Path | None = None) -> Blueprint:
    """Return the JATOS blueprint; ``programs`` is the folder of JATOS's own jatos.js, if served."""
    pages, data = Blueprint("jatos", __name__), JatosData()
    handlers = _Handlers(data, faults, programs)
    pages.jatos = data  # type: ignore[attr-defined]
    for rule, handler, *methods in _ROUTES:
        # Werkzeug separates web socket rules from HTTP rules.
        socket = handler == "open_channel"
        pages.add_url_rule(
            rule, view_func=getattr(handlers, handler), methods=methods, websocket=socket
        )
    return pages
