"""The app of one installation: its settings, its database, its pages."""

import importlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flask import Flask
from flask.typing import ResponseReturnValue

from experiment.plugins import is_here
from webapp.core.clock import Clock, utc_now
from webapp.core.i18n import translate_pages
from webapp.core.instance import open_instance
from webapp.core.metrics import METRICS, Metrics
from webapp.core.tokens import Tokens
from webapp.database.pool import set_up_for_serving
from webapp.database.retry import retry_transient
from webapp.errors import SettingError
from webapp.http.compression import compress_pages
from webapp.http.error_handlers import register_error_handlers
from webapp.http.health import health_routes
from webapp.http.platform_hooks import platform_hooks
from webapp.http.request_guards import (
    LARGEST_FORM_BYTES,
    MOST_FORM_PARTS,
    guard_origins,
    replace_nul_characters,
)
from webapp.http.request_log import log_requests
from webapp.http.security_headers import add_headers
from webapp.opening import installation_keys, open_installation
from webapp.participant.answers import prioritise_answers
from webapp.participant.assets import Assets, serve_assets
from webapp.participant.trial_page import add_response_templates, list_response_scripts
from webapp.recruiters.registry import RECRUITERS
from webapp.recruiters.settings import load_settings
from webapp.services import EXTENSION, Services

# The functions that register pages; an installation may lack those for researchers and coders. A
# server's processes for participants register the first only (``gevent_worker``).
PARTICIPANT_PAGES = ("webapp.participant:register_participant_pages",)
ALL_PAGES = (
    *PARTICIPANT_PAGES,
    "webapp.researcher:register_researcher_pages",
    "webapp.coding_pages:register_coding_pages",
)


class _App(Flask):
    """A Flask app without coroutines that repeats requests after temporary database errors."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged; Flask would look for a coroutine at each call."""
        return func

    def dispatch_request(self) -> ResponseReturnValue:
        """Handle the request; repeat it after a temporary database error."""
        return retry_transient(super().dispatch_request)


def create_app(
    instance: Path | None = None, *, now: Clock = utc_now, pages: tuple[str, ...] = ALL_PAGES
) -> Flask:
    """Return the server of one installation.

    Args:
        instance: The instance folder; by default the one in ``PARALLAX_INSTANCE``, or
            ``./instance``.
        now: The installation's clock.
        pages: The pages to serve: ``ALL_PAGES`` or ``PARTICIPANT_PAGES``.

    Raises:
        WebappError: The folder, a setting, the secret or the database cannot be used.
    """
    folder = open_instance(instance)
    settings = load_settings(folder)
    app = _App("webapp", instance_path=str(folder))
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_FORM_BYTES
    app.config["MAX_FORM_PARTS"] = MOST_FORM_PARTS
    app.logger.setLevel(settings.log_level.upper())
    app.extensions[METRICS] = Metrics() if settings.metrics_port else None
    keys = installation_keys(folder, settings)
    engine = open_installation(folder, settings, keys, now())
    set_up_for_serving(engine)
    services = app.extensions[EXTENSION] = Services(
        settings, engine, Tokens.from_keys(keys), now, folder
    )
    log_requests(app, app.extensions[METRICS])
    replace_nul_characters(app)
    prioritise_answers(app)
    guard_origins(app, settings)
    translate_pages(app)
    add_response_templates(app)
    assets = Assets(Path(app.root_path) / "static", list_response_scripts())
    serve_assets(app, assets)
    for registration in filter(is_here, pages):
        module, _, register = registration.partition(":")
        getattr(importlib.import_module(module), register)(app)
    app.register_blueprint(health_routes)
    app.register_blueprint(platform_hooks)
    register_error_handlers(app)
    compress_pages(app)
    add_headers(
        app,
        settings.frame_ancestors,
        _list_platform_sites(services),
        assets.boot_source,
        settings.public_url,
    )
    return app


def _list_platform_sites(services: Services) -> Iterator[str]:
    """Yield the sites of every platform; loading a recruiter also hides its ids in the log."""
    for name in RECRUITERS:
        try:
            yield from services.recruiter(name).sites(None)
        except SettingError as error:
            # Runs of this recruiter cannot be shown; all others can.
            logging.getLogger(__name__).warning("%s", error)
