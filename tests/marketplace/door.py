"""One address behind which each test opens its own stand-in: servers are slow to start."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from marketplace.serving import serve_in_thread


class Door:
    """What a server in a thread is given to serve; ``app`` is the stand-in behind it today."""

    app: Any = None

    def __call__(self, *request: Any) -> Any:
        return self.app(*request)


@contextmanager
def served() -> Iterator[tuple[Door, str]]:
    """Serve a door, and yield it with its address."""
    door = Door()
    with serve_in_thread(door) as url:
        yield door, url
