"""The background work of a server process: periodic jobs."""

from collections.abc import Callable
from pathlib import Path

from flask import Flask

from webapp.core.metrics import METRICS
from webapp.http.health import STOPPING_KEY
from webapp.jobs.long_job_queue import open_long_queue, server_stops
from webapp.jobs.periodic_queue import EmbeddedQueue, open_queue
from webapp.services import services_of

_JOBS_EXTENSION = "parallax_jobs"
_LONG_JOBS_EXTENSION = "parallax_long_jobs_at_work"


def start_jobs(app: Flask, stopping: Callable[[], bool]) -> None:
    """Start the jobs that the settings ask for.

    Args:
        app: The installation's app.
        stopping: Returns whether this process is about to end.
    """
    services = services_of(app)
    app.extensions[STOPPING_KEY] = stopping
    if services.settings.jobs_in_server:
        queue = open_queue(services, Path(app.instance_path), app.extensions[METRICS])
        app.extensions[_JOBS_EXTENSION] = EmbeddedQueue(queue)
        app.extensions[_LONG_JOBS_EXTENSION] = EmbeddedQueue(
            open_long_queue(services, Path(app.instance_path)).huey
        )


def stop_jobs(app: Flask) -> None:
    """Stop the jobs, and return once none is running."""
    server_stops.set()
    for name in (_JOBS_EXTENSION, _LONG_JOBS_EXTENSION):
        if name in app.extensions:
            app.extensions[name].stop()
