"""Whether the server is alive, and whether it should be sent participants."""

import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from flask import Blueprint, current_app
from flask.typing import ResponseReturnValue
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from webapp.db import reading
from webapp.schema import revision_of, revisions
from webapp.services import services

# Under this name the app keeps the question whether its process is about to end.
STOPPING = "parallax_stopping"
health_address = Blueprint("health", __name__)

# Less than this and an answer or a log line may not find room any more.
_ROOM_BYTES = 1024 * 1024


@health_address.get("/healthz")
def healthz() -> dict[str, str]:
    """Answer ``{"status": "ok"}`` once the database has answered too."""
    with reading(services().sessions) as session:
        session.execute(text("SELECT 1"))
    return {"status": "ok"}


@health_address.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Answer ``{"status": "ready"}``, or with the status 503 what stands against it."""
    problems = list(_problems())
    if problems:
        return {"status": "not ready", "problems": problems}, HTTPStatus.SERVICE_UNAVAILABLE
    return {"status": "ready"}


def _problems() -> Iterator[str]:
    if STOPPING in current_app.extensions and current_app.extensions[STOPPING]():
        yield "the server is stopping"
    try:
        # As large as what must find room; gone again with the block.
        with tempfile.TemporaryFile(dir=Path(current_app.instance_path)) as file:
            file.write(bytes(_ROOM_BYTES))
    except OSError as error:
        yield f"the instance folder cannot be written to: {error.strerror}"
    try:
        with reading(services().sessions) as session:
            revision = revision_of(session.connection())
    except SQLAlchemyError:
        yield "the database does not answer"
    else:
        if revision != revisions()[-1]:
            yield f"the database's schema is {revision}, this code works with {revisions()[-1]}"
