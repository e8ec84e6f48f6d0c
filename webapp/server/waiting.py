"""A server whose database is unavailable: it waits, logs that, and asks participants to wait.

An unavailable database may return by itself, so no process ends because of it. Unusable settings,
keys or schemas need a person, so only these end the server.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask, Response

from webapp.app import ALL_PAGES, create_app
from webapp.core.i18n import translate_pages
from webapp.core.instance import open_instance
from webapp.database.engine import DatabaseUnavailableError, report_database_failures
from webapp.database.exclusive_access import take_shared_lock
from webapp.errors import WebappError
from webapp.http.compression import compress_pages
from webapp.http.error_handlers import database_away_response, register_error_handlers
from webapp.http.health import HEALTHZ_PATH, not_ready_response
from webapp.http.request_guards import LARGEST_FORM_BYTES
from webapp.http.request_log import log_requests
from webapp.http.security_headers import add_headers
from webapp.participant.assets import Assets, serve_assets
from webapp.recruiters.settings import load_settings
from webapp.services import services_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

# Gunicorn gives up after this exit status; after any other, it restarts the worker for ever.
CANNOT_START_STATUS = 3
_RETRY_INTERVAL_S = 2.0
# A log line for every attempt could fill a disk over a weekend.
_LOG_INTERVAL_S = 30.0
_DATABASE_LOCK = "parallax_use"
_LOG = logging.getLogger(__name__)


class AppWhenAvailable:
    """The WSGI app of a process: the installation's app, once its database is available.

    Attributes:
        app: The app; None while the database is unavailable.

    Args:
        error: The error of the first attempt to make the app.
        pages: The pages that the app will serve.
    """

    def __init__(self, error: DatabaseUnavailableError, pages: tuple[str, ...]) -> None:
        self.app: Flask | None = None
        self.error, self.pages = error, pages
        self._waiting_app = make_waiting_app()

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Handle a request with the app, or ask the visitor to try again."""
        return (self.app or self._waiting_app)(environ, start_response)


def make_app(pages: tuple[str, ...] = ALL_PAGES) -> Flask | AppWhenAvailable:
    """Return the installation's app, or an app that asks visitors to wait for the database.

    Args:
        pages: The pages to serve.

    Raises:
        WebappError: The folder, a setting, the key or the schema cannot be used.
    """
    try:
        return _make_locked_app(pages=pages)
    except DatabaseUnavailableError as error:
        return AppWhenAvailable(error, pages)


def make_app_or_exit(pages: tuple[str, ...] = ALL_PAGES) -> Flask | AppWhenAvailable:
    """Return what ``make_app`` returns; print its error and end the process if it cannot."""
    try:
        return make_app(pages)
    except WebappError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(CANNOT_START_STATUS)


def _make_locked_app(instance: Path | None = None, *, pages: tuple[str, ...] = ALL_PAGES) -> Flask:
    # While this process runs, no command can replace its database.
    app = create_app(instance, pages=pages)
    engine = services_of(app).engine
    try:
        with report_database_failures():
            app.extensions[_DATABASE_LOCK] = take_shared_lock(engine)
    except BaseException:
        engine.dispose()
        raise
    return app


def wait_for_app(instance: Path) -> Flask:
    """Return an installation's app as soon as its database is available; the wait is logged.

    Raises:
        WebappError: The folder, a setting, the key or the schema cannot be used.
    """
    logged_at = -_LOG_INTERVAL_S
    while True:
        try:
            return _make_locked_app(instance)
        except DatabaseUnavailableError as error:
            if time.monotonic() - logged_at > _LOG_INTERVAL_S:
                logged_at = time.monotonic()
                _LOG.error("%s Waiting for the database", error)
        time.sleep(_RETRY_INTERVAL_S)


def available_app(app_source: Flask | AppWhenAvailable) -> Flask | None:
    """Return the app that a placeholder waits for; None if there is none yet."""
    return app_source.app if isinstance(app_source, AppWhenAvailable) else app_source


def run_when_available(
    app_source: Flask | AppWhenAvailable,
    begin: Callable[[Flask], None],
    before_retry: Callable[[], None],
    stopping: Callable[[], bool],
) -> None:
    """Start work that needs the app, now or when the database is available.

    Args:
        app_source: The result of ``make_app``.
        begin: Starts the work, completely or not at all; repeated if it fails.
        before_retry: Called before every further attempt.
        stopping: Returns whether the process is about to end, so that nothing may start.
    """
    if isinstance(app_source, AppWhenAvailable):
        _LOG.error("%s Waiting for the database", app_source.error)
    elif _try_begin(app_source, begin):
        return
    threading.Thread(
        target=_keep_trying,
        args=(app_source, begin, before_retry, stopping),
        name="waiting",
        daemon=True,
    ).start()


def _keep_trying(
    app_source: Flask | AppWhenAvailable,
    begin: Callable[[Flask], None],
    before_retry: Callable[[], None],
    stopping: Callable[[], bool],
) -> None:
    logged_at = time.monotonic()
    while not stopping():
        before_retry()
        time.sleep(_RETRY_INTERVAL_S)
        if isinstance(app_source, Flask):
            app: Flask | None = app_source
        else:
            app = app_source.app or _try_make_app(app_source.pages)
        if app is not None and _try_begin(app, begin):
            if isinstance(app_source, AppWhenAvailable):
                app_source.app = app
            _LOG.warning("the database answers again")
            return
        if time.monotonic() - logged_at > _LOG_INTERVAL_S:
            logged_at = time.monotonic()
            _LOG.error("still waiting for the database")


def _try_make_app(pages: tuple[str, ...]) -> Flask | None:
    try:
        return _make_locked_app(pages=pages)
    except DatabaseUnavailableError:
        return None
    except WebappError as error:
        print(f"Error: {error}", file=sys.stderr, flush=True)
        os._exit(CANNOT_START_STATUS)  # the only way to exit from a thread


def _try_begin(app: Flask, begin: Callable[[Flask], None]) -> bool:
    try:
        begin(app)
    except Exception:
        # Requests do not depend on it, and the database is probably unavailable again.
        _LOG.exception("the background jobs could not start; they will be tried again")
        return False
    return True


def make_waiting_app() -> Flask:
    """Return an app that asks all visitors to try again, and needs no database."""
    folder = open_instance()
    settings = load_settings(folder)
    app = Flask("webapp", instance_path=str(folder))
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_FORM_BYTES
    log_requests(app, None)
    translate_pages(app)
    assets = Assets(Path(app.root_path) / "static")
    serve_assets(app, assets)

    def ask_to_wait(path: str) -> Response:
        return database_away_response(for_program=path.endswith("answers"))

    app.add_url_rule(HEALTHZ_PATH, "healthz", not_ready_response)
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
    app.add_url_rule("/", "wait", ask_to_wait, defaults={"path": ""}, methods=methods)
    app.add_url_rule("/<path:path>", "wait", ask_to_wait, methods=methods)
    register_error_handlers(app)
    compress_pages(app)
    add_headers(app, settings.frame_ancestors, (), assets.boot_source, settings.public_url)
    return app
