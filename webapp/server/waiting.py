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
from typing import TYPE_CHECKING, cast

from flask import Flask, Response

from webapp import create_app
from webapp.core.i18n import translate_pages
from webapp.core.instance import open_instance
from webapp.database.engine import DatabaseAwayError, failures_in_words
from webapp.database.exclusive_access import hold
from webapp.errors import WebappError
from webapp.http.compression import compress_pages
from webapp.http.error_handlers import away, register_error_handlers
from webapp.http.health import HEALTHZ, no
from webapp.http.request_log import log_requests
from webapp.http.security_headers import add_headers
from webapp.participant.assets import Assets, serve_assets
from webapp.recruiters.settings import load_settings
from webapp.services import EXTENSION, Services

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

# Gunicorn gives up after this exit status; after any other, it restarts the worker for ever.
CANNOT_START = 3
_BETWEEN_TRIES_S = 2.0
# A log line for every attempt could fill a disk over a weekend.
_BETWEEN_LINES_S = 30.0
_LARGEST_BODY_BYTES = 256 * 1024
_USE = "parallax_use"
_LOG = logging.getLogger(__name__)


class Door:
    """The WSGI app of a process: the installation's app, once its database is available.

    Attributes:
        app: The app; None while the database is unavailable.

    Args:
        away: The error of the first attempt to make the app.
    """

    def __init__(self, away: DatabaseAwayError) -> None:
        self.app: Flask | None = None
        self.away = away
        self._meanwhile = waiting_app()

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Handle a request with the app, or ask the visitor to try again."""
        return (self.app or self._meanwhile)(environ, start_response)


def open_door() -> Flask | Door:
    """Return the installation's app, or a placeholder until its database is available.

    Raises:
        WebappError: The folder, a setting, the key or the schema cannot be used.
    """
    try:
        return _held_app()
    except DatabaseAwayError as error:
        return Door(error)


def _held_app(instance: Path | None = None) -> Flask:
    # While this process runs, no command can replace its database.
    app = create_app(instance)
    engine = cast(Services, app.extensions[EXTENSION]).engine
    try:
        with failures_in_words():
            app.extensions[_USE] = hold(engine)
    except BaseException:
        engine.dispose()
        raise
    return app


def wait_for_app(instance: Path) -> Flask:
    """Return an installation's app as soon as its database is available; the wait is logged.

    Raises:
        WebappError: The folder, a setting, the key or the schema cannot be used.
    """
    logged_at = -_BETWEEN_LINES_S
    while True:
        try:
            return _held_app(instance)
        except DatabaseAwayError as error:
            if time.monotonic() - logged_at > _BETWEEN_LINES_S:
                logged_at = time.monotonic()
                _LOG.error("%s Waiting for it", error)
        time.sleep(_BETWEEN_TRIES_S)


def app_of(door: Flask | Door) -> Flask | None:
    """Return the app behind a placeholder; None if there is none yet."""
    return door.app if isinstance(door, Door) else door


def when_open(
    door: Flask | Door,
    begin: Callable[[Flask], None],
    waits: Callable[[], None],
    stopping: Callable[[], bool],
) -> None:
    """Start work that needs the app, now or when the database is available.

    Args:
        door: The result of ``open_door``.
        begin: Starts the work, completely or not at all; repeated if it fails.
        waits: Called before every further attempt.
        stopping: Returns whether the process is about to end, so that nothing may start.
    """
    if isinstance(door, Door):
        _LOG.error("%s Waiting for it", door.away)
    elif _begun(door, begin):
        return
    threading.Thread(
        target=_keep_trying, args=(door, begin, waits, stopping), name="waiting", daemon=True
    ).start()


def _keep_trying(
    door: Flask | Door,
    begin: Callable[[Flask], None],
    waits: Callable[[], None],
    stopping: Callable[[], bool],
) -> None:
    logged_at = time.monotonic()
    while not stopping():
        waits()
        time.sleep(_BETWEEN_TRIES_S)
        app = app_of(door) or _made()
        if app is not None and _begun(app, begin):
            if isinstance(door, Door):
                door.app = app
            _LOG.warning("the database answers again")
            return
        if time.monotonic() - logged_at > _BETWEEN_LINES_S:
            logged_at = time.monotonic()
            _LOG.error("the database is still unavailable. Waiting for it")


def _made() -> Flask | None:
    try:
        return _held_app()
    except DatabaseAwayError:
        return None
    except WebappError as error:
        print(f"Error: {error}", file=sys.stderr, flush=True)
        os._exit(CANNOT_START)  # the only way to exit from a thread


def _begun(app: Flask, begin: Callable[[Flask], None]) -> bool:
    try:
        begin(app)
    except Exception:
        # Requests do not depend on it, and the database is probably unavailable again.
        _LOG.exception("the server's background work could not start; it will be tried again")
        return False
    return True


def waiting_app() -> Flask:
    """Return an app that asks all visitors to try again, and needs no database."""
    folder = open_instance()
    settings = load_settings(folder)
    app = Flask("webapp", instance_path=str(folder))
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    log_requests(app, None)
    translate_pages(app)
    assets = Assets(Path(app.root_path) / "static")
    serve_assets(app, assets)

    def wait(path: str) -> Response:
        return away(for_program=path.endswith("answers"))

    app.add_url_rule(HEALTHZ, "healthz", no)
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
    app.add_url_rule("/", "wait", wait, defaults={"path": ""}, methods=methods)
    app.add_url_rule("/<path:path>", "wait", wait, methods=methods)
    register_error_handlers(app)
    compress_pages(app)
    add_headers(app, settings.frame_ancestors, (), assets.boot_source, settings.public_url)
    return app
