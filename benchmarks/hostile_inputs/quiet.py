"""The quiet client: it reads a page and stores an answer in turn, one request every 50 ms."""

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable
from math import inf
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Self

from load_platforms.answer import answer, new_uuid
from load_platforms.browser import Browser, Reply, UnexpectedAnswer
from load_platforms.platform import Site

EVERY_S = 0.05
_SESSION = re.compile(rb'id="session">(.*?)</script>', re.DOTALL)
_MARK = re.compile(rb'name="visit" value="(\w+)"')
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


class Quiet:
    """The client in a process of its own, and how long its requests took.

    Args:
        site: The server.
        run: The run in which it takes part, again and again.
        path: Where the process writes when each request began, how long it took, and whether it
            failed.
    """

    def __init__(self, site: Site, run: str, path: Path) -> None:
        self._path, self._read = path, 0
        self._took: list[tuple[float, float]] = []
        self.failed = 0
        path.touch()
        start = get_context("spawn").Process
        self._process = start(target=_take_part, args=(site, run, path), daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._process.start()
        self.slowest_s(-inf, time.monotonic())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Stop."""
        self._process.terminate()
        self._process.join()

    @property
    def requests(self) -> int:
        """How many requests it made."""
        return len(self._took)

    def slowest_s(self, begun: float, ended: float) -> float:
        """Return the longest that a request took that was under way between two times.

        Requests that began before the end are waited for.
        """
        while not self._took or self._took[-1][0] <= ended:
            time.sleep(EVERY_S)
            self._read_more()
            if not self._process.is_alive():
                raise RuntimeError("the quiet client has ended")
        return max((s for at, s in self._took if at < ended and at + s > begun), default=0.0)

    def _read_more(self) -> None:
        with self._path.open(encoding="utf-8") as file:
            file.seek(self._read)
            while (line := file.readline()).endswith("\n"):
                self._read = file.tell()
                at, seconds, failed = line.split()
                self._took.append((float(at), float(seconds)))
                self.failed += int(failed)


def _take_part(site: Site, run: str, path: Path) -> None:
    asyncio.run(_take_part_again_and_again(site, run, path))


async def _take_part_again_and_again(site: Site, run: str, path: Path) -> None:
    rng = random.Random(1)
    with path.open("a", encoding="utf-8", buffering=1) as file:

        async def timed(request: Awaitable[Reply]) -> Reply:
            begun, failed = time.monotonic(), 1
            try:
                reply = await request
                failed = 0
            finally:
                took = time.monotonic() - begun
                file.write(f"{begun} {took} {failed}\n")
                await asyncio.sleep(EVERY_S - took)
            return reply

        while True:
            browser = Browser(site.host, site.port)
            try:
                consent = await timed(browser.get(f"/run/{run}"))
                mark = _MARK.search(consent.content)
                form = b"decision=accept&visit=" + (mark[1] if mark else b"")
                home = (await timed(browser.post(f"/run/{run}", form, _FORM, 303))).location
                page = _SESSION.search((await timed(browser.get(home))).content)
                for trial in json.loads(page[1])["trials"] if page else ():
                    await timed(browser.get(f"/run/{run}"))
                    side = rng.choice(("first", "second"))
                    body = answer(trial["position"], new_uuid(rng), side)
                    await timed(browser.post(f"{home}answers", body, _JSON))
            except (UnexpectedAnswer, ConnectionError):
                continue
            finally:
                browser.close()
