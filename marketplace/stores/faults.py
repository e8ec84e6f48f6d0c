"""What goes wrong between a page and a store: the numbered request fails, before or after."""

import threading
from dataclasses import dataclass, field

from flask import Response

KINDS = ("refused_before", "lost_before", "lost_after", "error_after")


@dataclass
class Faults:
    """A plan of failures, struck once each.

    Attributes:
        plan: What happens to which request, counted from 1.
        seen: How many requests there were.
    """

    plan: dict[int, str] = field(default_factory=dict)
    seen: int = 0
    struck: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> str:
        """Return what happens to the request that came now; empty for nothing."""
        with self._lock:
            self.seen += 1
            kind = self.plan.pop(self.seen, "")
            if kind:
                self.struck.append(self.seen)
            return kind


def before(kind: str) -> Response | None:
    """Return the failure of a request of which nothing was carried out; None where it goes on."""
    if kind in ("refused_before", "lost_before"):
        return Response("unavailable", 503)
    return None


def after(kind: str, response: Response) -> Response:
    """Return the answer to a request that was carried out, unless it fails on its way back."""
    if kind in ("lost_after", "error_after"):
        response.close()
        return Response("server error", 502)
    return response
