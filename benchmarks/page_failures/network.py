"""A network that fails when it is told to."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Route

Failure = Callable[[Route], Awaitable[None]]


async def no_connection(route: Route) -> None:
    """Send nothing."""
    await route.abort()


async def lost_reply(route: Route) -> None:
    """Let the server do what is asked, and lose what it says."""
    await route.fetch(max_redirects=0)
    await route.abort()


async def in_trouble(route: Route) -> None:
    """Reply as a server does that is too busy."""
    await route.fulfill(status=503, body="<h1>Busy</h1>")


async def login_page(route: Route) -> None:
    """Reply as a hotel's network does."""
    await route.fulfill(status=200, content_type="text/html", body="<h1>Please log in</h1>")


def slow_reply(seconds: float) -> Failure:
    """Return what lets the server do what is asked, and hold its reply up for so long."""

    async def fail(route: Route) -> None:
        response = await route.fetch(max_redirects=0)
        await asyncio.sleep(seconds)
        await route.fulfill(response=response)

    return fail


FAILURES: dict[str, Failure] = {
    "no connection": no_connection,
    "lost reply": lost_reply,
    "server in trouble": in_trouble,
    "login page": login_page,
}


class Network:
    """Lets some of a browser's next requests fail, and the others pass.

    Attributes:
        hit: The kinds of failure that met a request, and what each asked for.
    """

    def __init__(self) -> None:
        self._next: list[tuple[str, Failure | None]] = []
        self.hit: list[tuple[str, str]] = []

    def fail(self, kind: str, failure: Failure, *, times: int = 1, after: int = 0) -> None:
        """Let some of the next requests fail, after others that pass."""
        self._next += [("", None)] * after + [(kind, failure)] * times

    async def __call__(self, route: Route) -> None:
        """Answer a request."""
        kind, failure = self._next.pop(0) if self._next else ("", None)
        # Who asked may be gone before the reply is.
        with suppress(PlaywrightError):
            if failure is None:
                await route.continue_()
                return
            self.hit.append((kind, f"{route.request.method} {_what(route.request.url)}"))
            await failure(route)


def _what(url: str) -> str:
    last = url.partition("?")[0].rpartition("/")[2]
    return "page" if not last or "/run/" in url else last
