"""The live part of a run's page, by server-sent events.

A watching browser holds one connection and no database session: the part is made anew every few
seconds, once for all who watch the same run in the same language, and once for each who opens the
page. There is room for few watchers, so that they never take the connections that participants
need; who finds no room gets the page as it is.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from threading import BoundedSemaphore

from flask import Blueprint, Response, copy_current_request_context, current_app
from flask.typing import ResponseReturnValue

from webapp.core.i18n import gettext
from webapp.errors import RequestError
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, may_still_see
from webapp.researcher.language import present
from webapp.researcher.overview_page import live_part

live_pages = Blueprint("live", __name__)

# Of the one process that answers for the room.
WATCHERS = 40
_EVERY_S = 3.0
# By writing alone a server learns that a browser has gone: so seldom a place is kept for nobody.
_BREATH_S = 1.0
_NOTHING_NEW = ":\n\n"  # a comment, which a browser passes over
# The browser connects again by itself; a worker that is to end never waits long for a watcher.
_ROUNDS = 7
_PARTS = "parallax_live_parts"
_room = BoundedSemaphore(WATCHERS)
# Of a run in a language: when it was made, and what it says.
_Parts = dict[tuple[str, str], tuple[float, str]]


@live_pages.get("/runs/<ref>/live")
@allowed(Right.SEE)
def watch(ref: str) -> ResponseReturnValue:
    """Send the live part now, and again whenever it has changed."""
    if not _room.acquire(blocking=False):
        raise RequestError(
            gettext(
                "Too many pages are watching runs at the moment, so this page does not update by "
                "itself."
            ),
            status=503,
            code="too_many_watchers",
        )
    try:
        first = live_part(ref)  # what goes wrong is told before the stream begins
    except BaseException:
        _room.release()
        raise
    parts: _Parts = current_app.extensions.setdefault(_PARTS, {})
    # Every part is made in a request of its own, so none stays open while nothing is sent.
    still_in = copy_current_request_context(may_still_see)
    made = copy_current_request_context(partial(live_part, language=present().language))
    watched = (ref, present().language)
    # Whoever opens the page after an act must not be shown what was made before it.
    parts[watched] = time.monotonic(), first
    events = _events(watched, parts, made, still_in)
    response = Response(events, mimetype="text/event-stream")
    # Called also where the browser went away before the first event.
    response.call_on_close(_room.release)
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _events(
    watched: tuple[str, str],
    parts: _Parts,
    make: Callable[[str], str],
    still_in: Callable[[], bool],
) -> Iterator[str]:
    sent = ""
    for round_ in range(_ROUNDS):
        if round_:
            until = time.monotonic() + _EVERY_S
            while time.monotonic() < until:
                time.sleep(_BREATH_S)
                yield _NOTHING_NEW
            if not still_in():
                return
        made_at, part = parts.get(watched, (float("-inf"), ""))
        if time.monotonic() - made_at >= _EVERY_S:
            part = make(watched[0])
            parts[watched] = time.monotonic(), part
        if part != sent:
            sent = part
            yield _event(part)


def _event(part: str) -> str:
    lines = "".join(f"data: {line}\n" for line in part.splitlines())
    return f"event: overview\n{lines}\n"
