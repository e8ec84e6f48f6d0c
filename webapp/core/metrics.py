"""What one process of the server counts, for Prometheus."""

import logging
import os
from functools import cache
from pathlib import Path

METRICS = "parallax_metrics"
# The library's own name for it; a folder that the processes of a server share.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# What all endpoints, statuses and buckets need several times over.
_ROOM_BYTES = 1 << 20
_LOG = logging.getLogger(__name__)
_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        # Its import decides whether this process counts into files, so the folder comes first.
        make_room()
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

        Counter(
            "parallax_processes_started",
            "Processes of the server that started; many in a row mean that they die",
            registry=self.registry,
        ).inc()

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


def make_room() -> bool:
    """Give the files into which this process counts their room on the disk.

    The library lets them grow without asking for room, and a process that then writes where the
    full disk has none is ended by the system. Without room the process counts in its memory alone.

    Returns:
        Whether it counts into files.
    """
    if FOLDER_VARIABLE not in os.environ:
        return False
    folder, files = Path(os.environ[FOLDER_VARIABLE]), ("counter", "histogram")
    try:
        for kind in files:
            with (folder / f"{kind}_{os.getpid()}.db").open("ab") as file:
                os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
    except OSError as error:
        _LOG.error(
            "%s: there is no room for the metrics' files (%s), so each process counts for itself"
            " until the server is started again",
            folder,
            error.strerror,
        )
        for kind in files:
            (folder / f"{kind}_{os.getpid()}.db").unlink(missing_ok=True)
        del os.environ[FOLDER_VARIABLE]
        return False
    return True
