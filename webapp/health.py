"""Whether the server and its database answer."""

from flask import Blueprint
from sqlalchemy import text

from webapp.db import reading
from webapp.services import services

health_address = Blueprint("health", __name__)


@health_address.get("/healthz")
def healthz() -> dict[str, str]:
    """Answer ``{"status": "ok"}`` once the database has answered too."""
    with reading(services().sessions) as session:
        session.execute(text("SELECT 1"))
    return {"status": "ok"}
