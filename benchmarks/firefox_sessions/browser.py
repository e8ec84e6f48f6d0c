"""Firefox, driven by its own socket (W3C WebDriver BiDi): no other program is between."""

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

_PATIENCE_S = 60
# What a script is told that ran while one page gave way to the next.
_GONE = ("discarded", "destroyed", "no such frame", "no such handle")


class Stuck(Exception):
    """Something that should have come never did."""


@contextmanager
def _started(program: str) -> Iterator[tuple[str, int]]:
    """Yield the socket's address and the group of a Firefox without a window, in a new profile."""
    with TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-remote", "--remote-debugging-port=0"]
        process = subprocess.Popen(
            [*command, "--profile", profile],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            for line in process.stderr or ():
                if found := re.search(r"BiDi listening on (ws://\S+)", line):
                    yield f"{found[1]}/session", process.pid
                    return
            raise Stuck(f"{program} says no address of a WebDriver BiDi socket")
        finally:
            process.terminate()
            process.wait()


class Window:
    """One window of the browser.

    Args:
        socket: The connection.
        numbers: The numbers of commands.
        name: What the browser calls it.
    """

    def __init__(self, socket: ClientConnection, numbers: Iterator[int], name: str) -> None:
        self._socket, self._numbers, self._name = socket, numbers, name

    async def call(self, method: str, **params: object) -> Any:  # noqa: ANN401 - what BiDi says
        """Return what the browser answers to a command."""
        return await _call(self._socket, self._numbers, method, {"context": self._name, **params})

    async def go(self, url: str) -> None:
        """Open an address."""
        await self.call("browsingContext.navigate", url=url, wait="complete")

    async def run(self, code: str) -> Any:  # noqa: ANN401 - what the page says
        """Return the value of a function's body in the page; None where the page went meanwhile."""
        try:
            found = await _call(
                self._socket, self._numbers, "script.evaluate",
                {
                    "expression": f"(async () => {{{code}}})()",
                    "target": {"context": self._name},
                    "awaitPromise": True,
                    "userActivation": True,
                },
            )  # fmt: skip
        except Stuck as error:
            if any(word in str(error) for word in _GONE):
                return None
            raise
        return found.get("result", {}).get("value")

    async def until(self, condition: str) -> None:
        """Wait until a condition holds in the page.

        Raises:
            Stuck: It never does.
        """
        for _ in range(10 * _PATIENCE_S):
            if await self.run(f"return Boolean({condition})"):
                return
            await asyncio.sleep(0.1)
        shown = await self.run("return document.body.innerText.slice(0, 300)")
        raise Stuck(f"never {condition}; the page says: {shown}")

    async def press(self, key: str) -> None:
        """Press a key for as long as people do."""
        down = {"type": "keyDown", "value": key}
        up = {"type": "keyUp", "value": key}
        actions = [down, {"type": "pause", "duration": 60}, up]
        await self.call(
            "input.performActions", actions=[{"type": "key", "id": "keys", "actions": actions}]
        )

    async def click(self, selector: str) -> None:
        """Click the middle of an element."""
        place = await self.run(
            f"const one = document.querySelector({json.dumps(selector)});"
            "if (!one) return null;"
            "one.scrollIntoView({ block: 'center' });"
            "const box = one.getBoundingClientRect();"
            "return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]);"
        )
        if place is None:
            return
        x, y = json.loads(place)
        actions = [
            {"type": "pointerMove", "x": int(x), "y": int(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pause", "duration": 60},
            {"type": "pointerUp", "button": 0},
        ]
        await self.call(
            "input.performActions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}]
        )


async def _call(
    socket: ClientConnection, numbers: Iterator[int], method: str, params: dict[str, object]
) -> Any:  # noqa: ANN401 - what BiDi says
    number = next(numbers)
    await socket.send(json.dumps({"id": number, "method": method, "params": params}))
    while True:
        said = json.loads(await asyncio.wait_for(socket.recv(), 2 * _PATIENCE_S))
        if said.get("id") == number:
            if said["type"] == "error":
                raise Stuck(f"{method}: {said['message']}")
            return said["result"]


class Firefox:
    """A running Firefox, with the profile that all its windows share."""

    def __init__(self, socket: ClientConnection, version: str, group: int) -> None:
        self._socket, self.version, self._group = socket, version, group
        self._numbers = itertools.count(2)

    @asynccontextmanager
    async def standing_still(self) -> AsyncIterator[None]:
        """Stop all its processes meanwhile, as a computer that sleeps does."""
        os.killpg(self._group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._group, signal.SIGCONT)

    async def before_pages(self, function: str) -> None:
        """Have every page to come run a function before its own scripts."""
        given = {"functionDeclaration": function}
        await _call(self._socket, self._numbers, "script.addPreloadScript", given)

    async def window(self) -> Window:
        """Return a new window."""
        made = await _call(self._socket, self._numbers, "browsingContext.create", {"type": "tab"})
        return Window(self._socket, self._numbers, made["context"])


@asynccontextmanager
async def firefox(program: str) -> AsyncIterator[Firefox]:
    """Yield a Firefox with a profile of its own."""
    with _started(program) as (address, group):
        async with connect(address, max_size=None) as socket:
            begun = await _call(socket, iter([1]), "session.new", {"capabilities": {}})
            yield Firefox(socket, begun["capabilities"]["browserVersion"], group)
