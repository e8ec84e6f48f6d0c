"""What goes wrong while somebody takes a session."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from firefox_sessions.browser import Firefox, Window
from firefox_sessions.network import Front
from webapp.core.clock import utc_now

FAULTS = (
    "reload", "way out and back", "new window", "translated", "blocked", "zoomed", "long pause",
    "asleep", "busy", "login page", "lost reply",
)  # fmt: skip
# The end of a session whose place somebody else takes while its computer sleeps.
PLACE_TAKEN = "slept too long"
_OF_REQUESTS = ("busy", "login page", "lost reply")
# Parts that filter lists take out of pages.
_BLOCKED = "for (const id of ['bar', 'count', 'indicator']) document.getElementById(id)?.remove();"
_TRANSLATED = (
    "const text = document.querySelector('#trial [data-field=first] span');"
    "if (!text) return null; text.textContent = 'Die Katzen schlafen.';"
    "return document.getElementById('count')?.textContent ?? '';"
)


class Night:
    """The server's clock, which goes on while somebody's computer sleeps."""

    def __init__(self) -> None:
        self._slept = timedelta()

    def now(self) -> datetime:
        """Return the time."""
        return utc_now() + self._slept

    async def passes(self, browser: Firefox, meanwhile: Callable[[], None] | None = None) -> None:
        """Let a computer sleep for three hours: its browser does nothing, and nothing reaches it.

        The browser stands still for five seconds. Its own monotonic clock does not count a sleep
        on Linux and macOS either.
        """
        self._slept += timedelta(hours=3)
        async with browser.standing_still():
            if meanwhile:
                await asyncio.to_thread(meanwhile)
            await asyncio.sleep(5)


async def happen(
    browser: Firefox, window: Window, front: Front, night: Night, fault: str
) -> Window:
    """Let something go wrong, and return the window in which the session goes on."""
    if fault in _OF_REQUESTS:
        front.failing, front.times = fault, 3
    elif fault == "reload":
        await window.call("browsingContext.reload", wait="complete")
    elif fault == "way out and back":
        await window.click(".way-out a")
        await window.until("document.body.dataset.page === 'withdraw'")
        await window.call("browsingContext.traverseHistory", delta=-1)
    elif fault == "new window":
        here = await window.run("return location.href")
        other = await browser.window()
        await other.go(here)
        await window.call("browsingContext.close")
        window = other
    elif fault == "translated":
        await window.run(_TRANSLATED)
        # Answered at once: where the page is loaded anew before, the text is as it was sent again.
        await window.press("1")
    elif fault == "blocked":
        await window.run(_BLOCKED)
    elif fault == "zoomed":
        await window.call("browsingContext.setViewport", devicePixelRatio=3)
    elif fault == "asleep":
        await night.passes(browser)
    elif fault == PLACE_TAKEN:
        origin = await window.run("return location.origin")
        front.times = 0  # the others are not to fail
        await night.passes(browser, lambda: _others_come(origin, front.run))
    else:
        await asyncio.sleep(8)
    return window


def _others_come(origin: str, run: str) -> None:
    """Let two people agree, one for each place of the run."""
    for _ in range(2):
        form = urlencode({"decision": "accept"}).encode()
        urlopen(Request(f"{origin}/run/{run}", form)).close()
