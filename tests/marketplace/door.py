"""One address behind which each test opens its own stand-in: servers are slow to start."""

from typing import Any


class Door:
    """What a server in a thread is given to serve; ``app`` is the stand-in behind it today."""

    app: Any = None

    def __call__(self, *request: Any) -> Any:
        return self.app(*request)
