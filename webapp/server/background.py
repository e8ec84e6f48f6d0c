"""The background work of a server process: periodic jobs."""

from collections.abc import Callable
from pathlib import Path

from flask import Flask

from webapp.core.metrics import METRICS
from webapp.http.health import STOPPING
from webapp.jobs.long_job_queue import leaving, open_long_queue
from webapp.jobs.periodic_queue import EmbeddedQueue, open_queue
from webapp.services import services_of

_JOBS = "parallax_jobs"
_LONG_JOBS = "parallax_long_jobs_at_work"


def start_jobs(app: Flask, stopping: Callable[[], bool]) -> None:
    """Start the jobs that the settings ask for.

    Args:
        app: The installation's app.
        stopping: Returns whether this process is about to end.
    """
    services = services_of(app)
    app.extensions[STOPPING] = stopping
    if services.settings.jobs_in_server:
        queue = open_queue(services, Path(app.instance_path), app.extensions[METRICS])
        app.extensions[_JOBS] = EmbeddedQueue(queue)
        app.extensions[_LONG_JOBS] = EmbeddedQueue(
            open_long_queue(services, Path(app.instance_path)).huey
        )


def stop_jobs(app: Flask) -> None:
    """Stop the jobs, and return once none is running."""
    leaving.set()
    for name in (_JOBS, _LONG_JOBS):
        if name in app.extensions:
            app.extensions[name].stop()
