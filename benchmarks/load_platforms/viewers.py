"""Researchers who watch a run while people take part."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from load_platforms.platform import Site

# As browsers do when a stream of events ends.
_AGAIN_AFTER_S = 3.0
_PATIENCE_S = 10.0


@dataclass
class Viewers:
    """Browsers on a run's live page.

    Attributes:
        path: The address of its events.
        cookie: The session of a user who may see it.
        number: How many watch.
        updates: How many events they were sent.
        problems: What kept one from watching.
    """

    path: str
    cookie: str
    number: int
    updates: int = 0
    problems: list[str] = field(default_factory=list)

    @contextmanager
    def watching(self, site: Site) -> Iterator[None]:
        """Let them watch as long as the context lasts."""
        over = threading.Event()
        threads = [
            threading.Thread(target=self._watch, args=(site, over), daemon=True)
            for _ in range(self.number)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join(2 * _PATIENCE_S)

    def _watch(self, site: Site, over: threading.Event) -> None:
        while not over.is_set():
            connection = http.client.HTTPConnection(site.host, site.port, timeout=_PATIENCE_S)
            try:
                connection.request("GET", self.path, headers={"Cookie": self.cookie})
                response = connection.getresponse()
                if response.status != http.client.OK:
                    self.problems.append(f"a viewer got {response.status}")
                    return
                while not over.is_set() and (line := response.readline()):
                    self.updates += line.startswith(b"event:")
            except OSError:
                continue  # nothing changed for so long, or the server is about to end
            finally:
                connection.close()
            over.wait(_AGAIN_AFTER_S)
