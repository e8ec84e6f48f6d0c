"""The private port: Prometheus metrics, and whether this server is ready for participants.

It is open for as long as the process runs, also while the database is unavailable. The processes of
one server count into files in one folder, so any of them can respond for all. Figures from the
database are the same on every machine.
"""

import json
import os
import shutil
import socket
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from experiment.machine import files_to_spare
from experiment.participation import State
from webapp.core.clock import utc_now
from webapp.core.metrics import FOLDER_VARIABLE, METRICS, Metrics
from webapp.database.backup.routine import age_s, read_last_backup
from webapp.database.engine import Sessions, reading
from webapp.database.file_systems import list_foreign_files
from webapp.database.models import Run, RunCount
from webapp.database.row_counts import PLACES, RESPONSES, TAKEN, participants_in
from webapp.database.schema import revision_of, revisions
from webapp.gate.gate import find_blockers
from webapp.services import services_of

READYZ = "/readyz"
# With less free space, answers or log lines may soon fail.
_LEAST_FREE_BYTES = 16 * 1024 * 1024
# A client that stops in the middle of a request must not keep a process from ending.
_CLIENT_TIMEOUT_S = 5.0


class _Response(NamedTuple):
    status: HTTPStatus
    content_type: str
    body: bytes


class PrivatePort(ThreadingHTTPServer):
    """Serves requests on a socket, in its own threads.

    Args:
        listening: A listening socket; several processes may share it.
        instance: The instance folder.
        app: Returns the app; None while the database is unavailable.
    """

    # Finish accepted requests before the process ends.
    daemon_threads = False

    def __init__(
        self, listening: socket.socket, instance: Path, app: Callable[[], Flask | None]
    ) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self._instance, self._app = instance, app
        self.socket.close()
        # A socket object of this process, so that its threads switch as with any other socket.
        self.socket = socket.socket(fileno=os.dup(listening.fileno()))
        # A request wakes every process, and one accepts it: the others must not block in
        # ``accept``, or they could not end before the next request.
        self.socket.setblocking(False)
        threading.Thread(target=self.serve_forever, name="private port", daemon=True).start()

    def stop(self) -> None:
        """Stop accepting connections, and return once the open requests are finished."""
        self.shutdown()
        self.server_close()

    def answer(self, path: str) -> _Response:
        """Return the response for a path."""
        app = self._app()
        if path == READYZ:
            state = check_readiness(self._instance, app)
            ready = HTTPStatus.SERVICE_UNAVAILABLE if state["problems"] else HTTPStatus.OK
            return _Response(ready, "application/json", json.dumps(state).encode() + b"\n")
        if path not in ("/", "/metrics"):
            return _Response(HTTPStatus.NOT_FOUND, "text/plain", b"/metrics or /readyz\n")
        # Imported after the metrics folder is set: see ``webapp.core.metrics``.
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        sessions = None if app is None else services_of(app).sessions
        metrics = None if app is None else app.extensions[METRICS]
        text = generate_latest(collect_registry(metrics, sessions, self._instance))
        return _Response(HTTPStatus.OK, CONTENT_TYPE_LATEST, text)


class _Handler(BaseHTTPRequestHandler):
    server: PrivatePort
    timeout = _CLIENT_TIMEOUT_S

    def do_GET(self) -> None:
        status, content_type, body = self.server.answer(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because load balancers send a request every few seconds."""


def check_readiness(instance: Path, app: Flask | None) -> dict[str, object]:
    """Return whether this server is ready for participants, the problems, and further facts.

    The check writes trial data and undoes the write.

    Args:
        instance: The instance folder.
        app: The app; None while the database is unavailable.
    """
    problems = list(_find_problems(instance, app))
    last = read_last_backup(instance)
    return {
        "status": "not ready" if problems else "ready",
        "problems": problems,
        "schema": revisions()[-1],
        "backup_age_s": round(age_s(last, utc_now())) if last else None,
    }


def _find_problems(instance: Path, app: Flask | None) -> Iterator[str]:
    if not os.access(instance, os.W_OK | os.X_OK):
        yield "the instance folder cannot be written to"
    elif files_to_spare(instance) == 0:
        yield "no more files can be created in the instance folder (see df -i)"
    elif shutil.disk_usage(instance).free < _LEAST_FREE_BYTES:
        yield "the instance folder's disk is full"
    if app is None:
        yield "the server is waiting for the database"
        return
    try:
        with reading(services_of(app).sessions) as session:
            revision = revision_of(session.connection())
            if revision == revisions()[-1]:
                for _, blocker in find_blockers(session.connection()):
                    yield blocker.problem
                if problem := services_of(app).write_trial.problem():
                    yield problem
                engine = services_of(app).engine
                data = engine.url.database if engine.dialect.name == "sqlite" else None
                for path in list_foreign_files(instance, Path(data).resolve() if data else None):
                    yield f"{path} belongs to another user, so the server cannot write to it"
    except SQLAlchemyError:
        yield "the database does not answer"
    else:
        if revision != revisions()[-1]:
            yield (
                f"the database's schema is {revision}, but this version works with "
                f"{revisions()[-1]}"
            )


if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily


def collect_registry(
    metrics: Metrics | None, sessions: Sessions | None, instance: Path
) -> "CollectorRegistry":
    """Return the metrics of the server's processes and those read from the database.

    Args:
        metrics: This process's metrics, if they are not counted into files.
        sessions: The database's sessions; None while it is unavailable.
        instance: The instance folder.
    """
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if FOLDER_VARIABLE in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    elif metrics is not None:
        registry.register(metrics.registry)
    registry.register(_DatabaseMetrics(sessions, instance))
    return registry


class _DatabaseMetrics:
    """Metrics read from the database at every scrape."""

    def __init__(self, sessions: Sessions | None, instance: Path) -> None:
        self._sessions, self._instance = sessions, instance

    def describe(self) -> list["GaugeMetricFamily"]:
        """Return nothing, so that registering the metrics requires no database query."""
        return []

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        """Yield the metrics; if the database fails, only the metric that says so."""
        from prometheus_client.core import GaugeMetricFamily

        stored = []
        if self._sessions is not None:
            with suppress(SQLAlchemyError), reading(self._sessions) as session:
                stored = list(_run_metrics(session))
        is_up = float(bool(stored))
        yield GaugeMetricFamily("parallax_database_up", "Whether the database answers", is_up)
        yield from _disk_metrics(self._instance)
        if last := read_last_backup(self._instance):
            age = age_s(last, utc_now())
            yield GaugeMetricFamily(
                "parallax_backup_age_seconds", "Age of the newest sound backup", age
            )
        yield from stored


def _disk_metrics(instance: Path) -> Iterator["GaugeMetricFamily"]:
    """Yield the free space on the disk of the instance folder."""
    from prometheus_client.core import GaugeMetricFamily

    free = float(shutil.disk_usage(instance).free)
    yield GaugeMetricFamily("parallax_disk_free_bytes", "Free space at the instance folder", free)
    if (n_free_files := files_to_spare(instance)) is not None:
        names = "Files that can still be created at the instance folder"
        yield GaugeMetricFamily("parallax_disk_free_files", names, float(n_free_files))


def _run_metrics(session: Session) -> Iterator["GaugeMetricFamily"]:
    from prometheus_client.core import GaugeMetricFamily

    # Maintained by the database, so that a scrape costs the same for any number of rows.
    stored = select(func.sum(RunCount.n)).where(RunCount.subject == RESPONSES)
    responses = session.scalar(stored) or 0
    yield GaugeMetricFamily("parallax_responses_stored", "Responses in the database", responses)
    participants = GaugeMetricFamily(
        "parallax_participants", "Participants of the open runs", labels=("run", "state")
    )
    free = GaugeMetricFamily(
        "parallax_places_free", "Free places of the open runs", labels=("run",)
    )
    for ref, counts in _count_open_runs(session).items():
        for state in State:
            if n := counts[participants_in(state)]:
                participants.add_metric((ref, state), n)
        free.add_metric((ref,), counts[PLACES] - counts[TAKEN])
    yield participants
    yield free


def _count_open_runs(session: Session) -> dict[str, Counter[str]]:
    """Return the counts of each open run by subject."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref, subject, n in session.execute(
        select(Run.ref, RunCount.subject, func.sum(RunCount.n))
        .join_from(RunCount, Run)
        .where(Run.closed_at.is_(None))
        .group_by(Run.ref, RunCount.subject)
    ):
        counts[ref][subject] = n
    return counts
