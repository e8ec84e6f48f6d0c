"""Planned failures of numbered requests from a page to a store, before or after the work."""

import threading
from dataclasses import dataclass, field

from flask import Response

KINDS = ("refused_before", "lost_before", "lost_after", "error_after")


@dataclass
class Faults:
    """A plan of failures; each occurs once.

    Attributes:
        plan: Number of the request, from 1 -> kind of failure.
        seen: The number of requests so far.
    """

    plan: dict[int, str] = field(default_factory=dict)
    seen: int = 0
    struck: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> str:
        """Count a new request, and return its kind of failure; empty for none."""
        with self._lock:
            self.seen += 1
            kind = self.plan.pop(self.seen, "")
            if kind:
                self.struck.append(self.seen)
            return kind


def before(kind: str) -> Response | None:
    """Return the error answer of a request that is not carried out; None if it is."""
    if kind in ("refused_before", "lost_before"):
        return Response("unavailable", 503)
    return None


def after(kind: str, response: Response) -> Response:
    """Return the answer to a request that was carried out, or an error if the answer gets lost."""
    if kind in ("lost_after", "error_after"):
        response.close()
        return Response("server error", 502)
    return response
