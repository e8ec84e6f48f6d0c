"""What one process of the server counts, for Prometheus."""

from functools import cache

METRICS = "parallax_metrics"
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
