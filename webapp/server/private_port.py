"""The private port: metrics for Prometheus, and whether a server should get participants, and why.

It is open as long as a process lives, also while the database is away. The processes of one server
count into files of one folder, so whichever of them is asked answers for all of them. What the
database holds is the same on every machine that asks it.
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
from typing import TYPE_CHECKING, NamedTuple, cast

from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from experiment.machine import files_to_spare
from experiment.participation import State
from webapp.core.clock import utc_now
from webapp.core.metrics import FOLDER_VARIABLE, METRICS, Metrics
from webapp.database.backup.routine import age_s, last_backup
from webapp.database.engine import Sessions, reading
from webapp.database.models import Run, RunCount
from webapp.database.row_counts import PLACES, RESPONSES, TAKEN, participants_in
from webapp.database.schema import revision_of, revisions
from webapp.database.write_trial import of_others
from webapp.gate.gate import blockers
from webapp.services import EXTENSION, Services

READYZ = "/readyz"
# With less than this an answer or a log line may soon find no room any more.
_ROOM_BYTES = 16 * 1024 * 1024
# Who falls silent in the middle of a question must not keep a process from ending.
_PATIENCE_S = 5.0


class _Answer(NamedTuple):
    status: HTTPStatus
    content_type: str
    body: bytes


class PrivatePort(ThreadingHTTPServer):
    """Answers requests at a socket, from its own threads.

    Args:
        listening: A socket that listens; several processes may share it.
        instance: The instance folder.
        app: Gives the app; None while the database is waited for.
    """

    # An accepted request is answered before the process ends.
    daemon_threads = False

    def __init__(
        self, listening: socket.socket, instance: Path, app: Callable[[], Flask | None]
    ) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self._instance, self._app = instance, app
        self.socket.close()
        # A socket of this process, so that its threads take turns at it as at any other.
        self.socket = socket.socket(fileno=os.dup(listening.fileno()))
        # Every process wakes when somebody asks, and one answers: the others must not wait in
        # ``accept`` for the next one, or they would not end before that one came.
        self.socket.setblocking(False)
        threading.Thread(target=self.serve_forever, name="private port", daemon=True).start()

    def stop(self) -> None:
        """Let nobody in any more, and return once the others are answered."""
        self.shutdown()
        self.server_close()

    def answer(self, path: str) -> _Answer:
        """Return what is answered at an address."""
        app = self._app()
        if path == READYZ:
            state = readiness(self._instance, app)
            ready = HTTPStatus.SERVICE_UNAVAILABLE if state["problems"] else HTTPStatus.OK
            return _Answer(ready, "application/json", json.dumps(state).encode() + b"\n")
        if path not in ("/", "/metrics"):
            return _Answer(HTTPStatus.NOT_FOUND, "text/plain", b"/metrics or /readyz\n")
        # Imported once the folder of the counts is known: see ``webapp.core.metrics``.
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        sessions = None if app is None else _services(app).sessions
        metrics = None if app is None else app.extensions[METRICS]
        text = generate_latest(collect_registry(metrics, sessions, self._instance))
        return _Answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, text)


class _Handler(BaseHTTPRequestHandler):
    server: PrivatePort
    timeout = _PATIENCE_S

    def do_GET(self) -> None:
        status, content_type, body = self.server.answer(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a balancer asks every few seconds."""


def readiness(instance: Path, app: Flask | None) -> dict[str, object]:
    """Return whether a server should get participants, the reasons against it, and other facts.

    What is written to try it is taken back.

    Args:
        instance: The instance folder.
        app: The app; None while the database is waited for.
    """
    problems = list(_problems(instance, app))
    last = last_backup(instance)
    return {
        "status": "not ready" if problems else "ready",
        "problems": problems,
        "schema": revisions()[-1],
        "backup_age_s": round(age_s(last, utc_now())) if last else None,
    }


def _problems(instance: Path, app: Flask | None) -> Iterator[str]:
    if not os.access(instance, os.W_OK | os.X_OK):
        yield "the instance folder cannot be written to"
    elif files_to_spare(instance) == 0:
        yield "no more files can be created in the instance folder (df -i)"
    elif shutil.disk_usage(instance).free < _ROOM_BYTES:
        yield "the instance folder's disk is full"
    if app is None:
        yield "the server is waiting for the database"
        return
    try:
        with reading(_services(app).sessions) as session:
            revision = revision_of(session.connection())
            if revision == revisions()[-1]:
                for _, each in blockers(session.connection()):
                    yield each.says
                if problem := _services(app).write_trial.problem():
                    yield problem
                engine = _services(app).engine
                data = engine.url.database if engine.dialect.name == "sqlite" else None
                for path in of_others(instance, Path(data).resolve() if data else None):
                    yield f"{path} belongs to another user, so the server cannot write to it"
    except SQLAlchemyError:
        yield "the database does not answer"
    else:
        if revision != revisions()[-1]:
            yield (
                f"the database's schema is {revision}, but this version works with "
                f"{revisions()[-1]}"
            )


def _services(app: Flask) -> Services:
    return cast(Services, app.extensions[EXTENSION])


if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily


def collect_registry(
    metrics: Metrics | None, sessions: Sessions | None, instance: Path
) -> "CollectorRegistry":
    """Return what the server's processes counted, and what the database holds when it is asked.

    Args:
        metrics: What this process counts, if nothing is counted into files.
        sessions: The database's sessions; None while it is waited for.
        instance: The instance folder.
    """
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if FOLDER_VARIABLE in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    elif metrics is not None:
        registry.register(metrics.registry)
    registry.register(_Stored(sessions, instance))
    return registry


class _Stored:
    """What the database holds, asked for whenever somebody wants the metrics."""

    def __init__(self, sessions: Sessions | None, instance: Path) -> None:
        self._sessions, self._instance = sessions, instance

    def describe(self) -> list["GaugeMetricFamily"]:
        """Return nothing: the metrics' names need no look into the database."""
        return []

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        """Yield the metrics; of a database that cannot be asked, only that it cannot."""
        from prometheus_client.core import GaugeMetricFamily

        stored = []
        if self._sessions is not None:
            with suppress(SQLAlchemyError), reading(self._sessions) as session:
                stored = list(_metrics(session))
        answers = float(bool(stored))
        yield GaugeMetricFamily("parallax_database_up", "Whether the database answers", answers)
        yield from _room(self._instance)
        if last := last_backup(self._instance):
            age = age_s(last, utc_now())
            yield GaugeMetricFamily(
                "parallax_backup_age_seconds", "Age of the newest sound backup", age
            )
        yield from stored


def _room(instance: Path) -> Iterator["GaugeMetricFamily"]:
    """Yield what is left on the disk of the instance folder."""
    from prometheus_client.core import GaugeMetricFamily

    free = float(shutil.disk_usage(instance).free)
    yield GaugeMetricFamily("parallax_disk_free_bytes", "Room at the instance folder", free)
    if (spare := files_to_spare(instance)) is not None:
        names = "Files that can still be made at the instance folder"
        yield GaugeMetricFamily("parallax_disk_free_files", names, float(spare))


def _metrics(session: Session) -> Iterator["GaugeMetricFamily"]:
    from prometheus_client.core import GaugeMetricFamily

    # Kept by the database, so that a scrape costs the same however many rows there are.
    stored = select(func.sum(RunCount.n)).where(RunCount.subject == RESPONSES)
    responses = session.scalar(stored) or 0
    yield GaugeMetricFamily("parallax_responses_stored", "Responses in the database", responses)
    people = GaugeMetricFamily(
        "parallax_participants", "Participants of the open runs", labels=("run", "state")
    )
    free = GaugeMetricFamily(
        "parallax_places_free", "Free places of the open runs", labels=("run",)
    )
    for ref, counts in _open_runs(session).items():
        for state in State:
            if n := counts[participants_in(state)]:
                people.add_metric((ref, state), n)
        free.add_metric((ref,), counts[PLACES] - counts[TAKEN])
    yield people
    yield free


def _open_runs(session: Session) -> dict[str, Counter[str]]:
    """Return the counts of each open run by their subjects."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref, subject, n in session.execute(
        select(Run.ref, RunCount.subject, func.sum(RunCount.n))
        .join_from(RunCount, Run)
        .where(Run.closed_at.is_(None))
        .group_by(Run.ref, RunCount.subject)
    ):
        counts[ref][subject] = n
    return counts
