"""Serving people: Flask, SQLAlchemy, recruiters."""

from pathlib import Path

from flask import Flask

from webapp.clock import Clock, utc_now
from webapp.db import open_database
from webapp.health import health_address
from webapp.instance import open_instance, secret_key
from webapp.language import translate_pages
from webapp.metrics import METRICS, Metrics
from webapp.participant import register_participant_pages
from webapp.recruiters.mturk.sites import platform_sources
from webapp.refusals import answer_errors
from webapp.request_log import watch_requests
from webapp.retry import repeat_failed_requests
from webapp.security import add_headers
from webapp.services import EXTENSION, Services
from webapp.settings import load_settings
from webapp.tokens import Tokens

# A questionnaire with every field filled to its limit fits several times over.
_LARGEST_BODY_BYTES = 256 * 1024


def create_app(instance: Path | None = None, *, now: Clock = utc_now) -> Flask:
    """Return the server of one installation.

    Args:
        instance: Its folder; by default the one ``PARALLAX_INSTANCE`` names, or ``./instance``.
        now: Its clock.

    Raises:
        WebappError: The folder, a setting, the secret or the database cannot be used.
    """
    folder = open_instance(instance)
    settings = load_settings(folder)
    app = Flask(__name__, instance_path=str(folder))
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    app.logger.setLevel(settings.log_level.upper())
    app.extensions[METRICS] = Metrics() if settings.metrics_port else None
    app.extensions[EXTENSION] = Services(
        settings,
        open_database(settings.database_url),
        Tokens(secret_key(folder, settings.secret_key_file)),
        now,
    )
    watch_requests(app, app.extensions[METRICS])
    translate_pages(app)
    register_participant_pages(app)
    app.register_blueprint(health_address)
    repeat_failed_requests(app)
    answer_errors(app)
    add_headers(app, settings.frame_ancestors, platform_sources(settings))
    return app
