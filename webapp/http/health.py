"""Whether the server is alive, and whether it should be sent participants."""

import os
import shutil
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from flask import Blueprint, current_app
from flask.typing import ResponseReturnValue
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from webapp.database.engine import reading
from webapp.database.schema import revision_of, revisions
from webapp.services import current_services

# Under this name the app keeps the question whether its process is about to end.
STOPPING = "parallax_stopping"
health_address = Blueprint("health", __name__)

# With less than this an answer or a log line may soon find no room any more.
_ROOM_BYTES = 16 * 1024 * 1024


@health_address.get("/healthz")
def healthz() -> dict[str, str]:
    """Answer ``{"status": "ok"}`` once the database has answered too."""
    with reading(current_services().sessions) as session:
        session.execute(text("SELECT 1"))
    return {"status": "ok"}


@health_address.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Answer ``{"status": "ready"}``, or with the status 503 that it is not; the log says why.

    Anybody may ask, so nothing is written and nothing is said of the inside.
    """
    problems = list(_problems())
    if problems:
        current_app.logger.warning("not ready: %s", "; ".join(problems))
        return {"status": "not ready"}, HTTPStatus.SERVICE_UNAVAILABLE
    return {"status": "ready"}


def _problems() -> Iterator[str]:
    if STOPPING in current_app.extensions and current_app.extensions[STOPPING]():
        yield "the server is stopping"
    folder = Path(current_app.instance_path)
    if not os.access(folder, os.W_OK | os.X_OK):
        yield "the instance folder cannot be written to"
    elif shutil.disk_usage(folder).free < _ROOM_BYTES:
        yield "the instance folder's disk is full"
    try:
        with reading(current_services().sessions) as session:
            revision = revision_of(session.connection())
    except SQLAlchemyError:
        yield "the database does not answer"
    else:
        if revision != revisions()[-1]:
            yield f"the database's schema is {revision}, this code works with {revisions()[-1]}"
