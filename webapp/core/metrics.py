"""The Prometheus metrics of one server process."""

import logging
import os
from functools import cache
from pathlib import Path

METRICS = "parallax_metrics"
# The library's environment variable for the folder that the processes of a server share.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# Several times the size that all endpoints, statuses and buckets need.
_FILE_BYTES = 1 << 20
_LOG = logging.getLogger(__name__)
_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        # Importing the library decides whether this process counts into files, so the folder must
        # be set before.
        reserve_metrics_space()
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
            "Completed periodic jobs, by outcome",
            ("job", "outcome"),
            registry=self.registry,
        )

        Counter(
            "parallax_processes_started",
            "Started server processes; many in a row mean that processes keep dying",
            registry=self.registry,
        ).inc()

        # Cached for each endpoint and status, because every answer is counted.
        self._request = cache(requests.labels)
        self._duration = cache(seconds.labels)

    def count_request(self, endpoint: str, status: int, took_s: float) -> None:
        """Count a completed request."""
        self._request(endpoint, status).inc()
        self._duration(endpoint).observe(took_s)

    def count_job(self, job: str, *, done: bool) -> None:
        """Count a periodic job that succeeded or failed."""
        self._jobs.labels(job, "done" if done else "failed").inc()


def reserve_metrics_space() -> bool:
    """Reserve disk space for the files into which this process counts.

    The library lets the files grow without reserving space, and the system kills a process that
    writes to such a file on a full disk. Without space, the process counts in memory only.

    Returns:
        Whether the process counts into files.
    """
    if FOLDER_VARIABLE not in os.environ:
        return False
    folder, files = Path(os.environ[FOLDER_VARIABLE]), ("counter", "histogram")
    try:
        for kind in files:
            with (folder / f"{kind}_{os.getpid()}.db").open("ab") as file:
                os.posix_fallocate(file.fileno(), 0, _FILE_BYTES)
    except OSError as error:
        _LOG.error(
            "%s: there is no space for the metrics files (%s), so each process counts for itself"
            " until the server is restarted",
            folder,
            error.strerror,
        )
        for kind in files:
            (folder / f"{kind}_{os.getpid()}.db").unlink(missing_ok=True)
        del os.environ[FOLDER_VARIABLE]
        return False
    return True
