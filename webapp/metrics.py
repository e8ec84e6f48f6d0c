"""Figures for Prometheus: what this installation's processes counted, and what the database holds.

The processes of one server count into files of one folder, so whichever of them is asked answers
for all of them. What the database holds is the same on every machine that asks it.
"""

import os
import socket
import threading
from collections.abc import Iterator
from functools import cache
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from webapp.db import Sessions, reading
from webapp.models import Participant, Place, Response, Run

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily

METRICS = "parallax_metrics"
# The library's own name for it; a folder that the processes of a server share.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        # Its import decides whether this process counts into files, so the folder comes first.
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self.registry = CollectorRegistry()
        requests = Counter(
            "parallax_requests",
            "Requests answered",
            ("endpoint", "status"),
            registry=self.registry,
        )
        seconds = Histogram(
            "parallax_request_seconds",
            "Time to answer a request; the endpoint answers.save stores an answer",
            ("endpoint",),
            registry=self.registry,
            buckets=_BUCKETS_S,
        )
        self._jobs = Counter(
            "parallax_jobs",
            "Periodic jobs that ended, by how they ended",
            ("job", "outcome"),
            registry=self.registry,
        )

        # Looked up once for each endpoint and status: every answer is counted.
        self._request = cache(requests.labels)
        self._duration = cache(seconds.labels)

    def count_request(self, endpoint: str, status: int, took_s: float) -> None:
        """Count a request that was answered."""
        self._request(endpoint, status).inc()
        self._duration(endpoint).observe(took_s)

    def count_job(self, job: str, *, done: bool) -> None:
        """Count a periodic job that was done or failed."""
        self._jobs.labels(job, "done" if done else "failed").inc()


class MetricsDoor(ThreadingHTTPServer):
    """Answers with all figures whoever asks at a socket, from threads of its own.

    Args:
        listening: A socket that listens; several processes may share it.
        metrics: What this process counts.
        sessions: The database's sessions.
    """

    # Whoever was let in is answered before the process ends.
    daemon_threads = False

    def __init__(self, listening: socket.socket, metrics: Metrics, sessions: Sessions) -> None:
        from prometheus_client import MetricsHandler

        handler = MetricsHandler.factory(all_figures(metrics, sessions))
        super().__init__(listening.getsockname()[:2], handler, bind_and_activate=False)
        self.socket.close()
        # A socket of this process, so that its threads take turns at it as at any other.
        self.socket = socket.socket(fileno=os.dup(listening.fileno()))
        threading.Thread(target=self.serve_forever, name="metrics", daemon=True).start()

    def end(self) -> None:
        """Let nobody in any more, and return once the others are answered."""
        self.shutdown()
        self.server_close()


def all_figures(metrics: Metrics, sessions: Sessions) -> "CollectorRegistry":
    """Return what the server's processes counted, and what the database holds when it is asked."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    if FOLDER_VARIABLE not in os.environ:
        registry = metrics.registry
    else:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(_Stored(sessions))
    return registry


class _Stored:
    """What the database holds, asked for whenever somebody wants the figures."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def describe(self) -> list["GaugeMetricFamily"]:
        """Return nothing: the figures' names need no look into the database."""
        return []

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        """Yield the figures; of a database that cannot be asked, only that it cannot."""
        from prometheus_client.core import GaugeMetricFamily

        try:
            with reading(self._sessions) as session:
                found = list(_figures(session))
        except SQLAlchemyError:
            found = []
        answers = float(bool(found))
        yield GaugeMetricFamily("parallax_database_up", "Whether the database answers", answers)
        yield from found


def _figures(session: Session) -> Iterator["GaugeMetricFamily"]:
    from prometheus_client.core import GaugeMetricFamily

    responses = session.scalar(select(func.count(Response.id))) or 0
    yield GaugeMetricFamily("parallax_responses_stored", "Responses in the database", responses)
    people = GaugeMetricFamily(
        "parallax_participants", "Participants of the open runs", labels=("run", "state")
    )
    of_open = select(Run.ref, Participant.state, func.count()).join_from(Participant, Run)
    for ref, state, n in session.execute(
        of_open.where(Run.closed_at.is_(None)).group_by(Run.ref, Participant.state)
    ):
        people.add_metric((ref, state), n)
    yield people
    places = GaugeMetricFamily(
        "parallax_places_free", "Places of the open runs that nobody holds", labels=("run",)
    )
    free = select(Run.ref, func.count()).join_from(Place, Run)
    for ref, n in session.execute(
        free.where(Run.closed_at.is_(None), Place.participant_id.is_(None)).group_by(Run.ref)
    ):
        places.add_metric((ref,), n)
    yield places
