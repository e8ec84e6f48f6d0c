"""What a process of the server does besides answering: it sends metrics and does periodic jobs."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import cast

from flask import Flask

from webapp.core.metrics import METRICS
from webapp.http.health import STOPPING
from webapp.jobs.consume import Embedded
from webapp.jobs.queue import open_queue
from webapp.server.metrics_endpoint import MetricsServer
from webapp.services import EXTENSION, Services

_DOOR, _JOBS = "parallax_metrics_door", "parallax_jobs"


def start(app: Flask, listening: socket.socket | None, stopping: Callable[[], bool]) -> None:
    """Begin what the settings ask for.

    Args:
        app: The server of the installation.
        listening: Where Prometheus asks for metrics; None where it does not.
        stopping: Whether this process is about to end.
    """
    services = cast(Services, app.extensions[EXTENSION])
    app.extensions[STOPPING] = stopping
    metrics = app.extensions[METRICS]
    queue = None
    if services.settings.jobs_in_server:
        # First what may fail, because the database is away, so that all begins or nothing.
        queue = open_queue(services, Path(app.instance_path), metrics)
    if listening is not None and metrics is not None:
        app.extensions[_DOOR] = MetricsServer(
            listening, metrics, services.sessions, Path(app.instance_path)
        )
    if queue is not None:
        app.extensions[_JOBS] = Embedded(queue)


def stop(app: Flask) -> None:
    """End it, and return once nothing is half done."""
    for name in (_DOOR, _JOBS):
        if name in app.extensions:
            app.extensions[name].stop()
