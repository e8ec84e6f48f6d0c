"""The short way of the pages that everybody sees once, without Flask.

The consent page, the first one at work, the last questions and the closing page are the same for
all who come to a run, but for a random mark, the trials and a code. The app makes each once in a
process (``webapp.http.kept_pages``); after that only what may change is asked: whether the run
still takes newcomers, how far the participant is, and what their trials are. Everything else goes
on to the app untouched. Nothing is stored on either way.
"""

import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from flask import Flask, g, request
from jinja2.utils import htmlsafe_json_dumps
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from structlog.contextvars import bind_contextvars, clear_contextvars

from experiment.errors import ParallaxError
from experiment.studies.study import Study
from webapp.core.metrics import Metrics
from webapp.core.tokens import new_reference
from webapp.database.engine import FAILURES
from webapp.database.models import Participant, Run
from webapp.database.retry import PATIENCE_S
from webapp.http.kept_pages import KeptPage, KeptPages, keep_page
from webapp.http.origins import our_hosts
from webapp.http.request_log import REQUEST_ID, log_request, new_request_id
from webapp.participant.assets import takes_gzip
from webapp.services import Services
from webapp.sessions.first_page import RunOfPage, find_plain_page
from webapp.sessions.open_link import of_link, takes_whoever_comes
from webapp.sessions.session_payload import Work

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_LINK = re.compile(r"/run/(\w+)", re.ASCII)
_HOME = re.compile(r"/p/([\w.-]+)/", re.ASCII)
_FAILED = "parallax.failed"
_SHOW_LINK, _SHOW_HOME = "consent.show", "session.show"


class _Found(NamedTuple):
    """A page for somebody: their own part of it, the endpoint, and what the log says of them."""

    page: KeptPage
    part: str
    endpoint: str
    said: dict[str, str]


def show_the_short_way(app: Flask, services: Services, metrics: Metrics | None) -> None:
    """Show these pages before the app is asked, and send everything else on to it.

    Args:
        app: The app; what is added to its replies later stands in these too.
        services: The installation's parts.
        metrics: The process's metrics; None where nobody asks for them.
    """
    inner, pages, is_ours = app.wsgi_app, KeptPages(app), our_hosts(app)

    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        began = perf_counter()
        plain = environ["REQUEST_METHOD"] == "GET" and not environ.get("QUERY_STRING")
        find = _asked(environ["PATH_INFO"], services, pages) if plain else None
        if find is None or not is_ours(environ.get("HTTP_HOST", "")):
            return inner(environ, start)
        try:
            found = _found(services, find)
        except FAILURES as error:
            if perf_counter() - began > PATIENCE_S:
                environ[_FAILED] = error
            found = None
        if found is None:
            return inner(environ, start)
        request_id = new_request_id(environ)
        clear_contextvars()
        bind_contextvars(request_id=request_id, **found.said)
        packed = takes_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
        headers, body = found.page.with_part(found.part.encode(), packed=packed)
        start("200 OK", [*headers, (REQUEST_ID, request_id)])
        log_request(metrics, "GET", found.endpoint, HTTPStatus.OK, perf_counter() - began)
        return (body,)

    app.wsgi_app = answer  # type: ignore[method-assign,assignment]
    app.before_request(_fail_once)


def _fail_once() -> None:
    """Say in the app's way what failed on the short one, where it was waited for long enough."""
    if (error := request.environ.get(_FAILED)) is not None:
        raise error


def keep_first_page(run: Run, study: Study, list_: int | None, work: Work) -> None:
    """Let the page of somebody whom no platform named be kept, if they are at the beginning.

    Args:
        run: Their run.
        study: Its study, as they meet it.
        list_: Their list.
        work: What the page shows.
    """
    if list_ is None or work["answered"] or work["device_known"]:
        return
    page = RunOfPage(run.id, run.ref, run.lease_minutes)
    trials = htmlsafe_json_dumps(work["trials"], sort_keys=True)
    keep_page(page.page_key(study, list_, len(work["trials"])), str(trials))


def keep_last_page(run: Run, study: Study, participant: Participant, part: str) -> None:
    """Let the page of somebody at the end be kept, unless it is one for them alone.

    Args:
        run: Their run.
        study: Its study, as they meet it.
        participant: Who is asked the last questions, or has finished.
        part: What is their own on it.
    """
    # Whoever shows a code, or sits at a shared computer, is shown another.
    alone = g.get("by_code") is not None or study.privacy.shared_device
    if participant.list is not None and not alone:
        page = RunOfPage(run.id, run.ref, run.lease_minutes)
        keep_page(page.end_key(study, participant.list, participant.state), part)


def _asked(
    path: str, services: Services, pages: KeptPages
) -> Callable[[Connection], _Found | None] | None:
    """Return what finds the page at a path; None where it is another one, or none was kept."""
    if (link := _LINK.fullmatch(path)) is not None:
        ref, page = link[1], pages.get(of_link(link[1]))
        return None if page is None else lambda connection: _of_link(connection, ref, page)
    home = _HOME.fullmatch(path)
    who = None if home is None else services.tokens.read_known(home[1])
    if who is None:
        return None
    return lambda connection: _of_home(connection, who, services, pages)


def _found(services: Services, find: Callable[[Connection], _Found | None]) -> _Found | None:
    """Return what is found in a transaction that reads; None where that fails.

    Raises:
        FAILURES: The database failed.
    """
    try:
        with services.engine.connect() as connection:
            connection.execution_options(reading=True).begin()
            return find(connection)
    except FAILURES:
        raise
    except (SQLAlchemyError, ParallaxError, OSError):  # the app says it, in its own way
        return None


def _of_link(connection: Connection, ref: str, page: KeptPage) -> _Found | None:
    if not takes_whoever_comes(connection, ref):
        return None
    return _Found(page, new_reference(), _SHOW_LINK, {"run": ref})


def _of_home(
    connection: Connection, who: str, services: Services, pages: KeptPages
) -> _Found | None:
    now, days = services.now(), services.settings.session_days
    plain = find_plain_page(connection, who, now, days, services.known_study)
    page = None if plain is None else pages.get(plain.page_key)
    if plain is None or page is None:
        return None
    said = {"run": plain.run.ref, "participant": who}
    return _Found(page, plain.part, _SHOW_HOME, said)
