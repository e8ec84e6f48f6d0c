"""A plain web host and a server that saves POST bodies; their requests fail as planned."""

import itertools
import threading
from dataclasses import dataclass, field
from pathlib import Path

from flask import Blueprint, Response, abort, request, send_from_directory


@dataclass
class Faults:
    """A plan of failures; each occurs once.

    Attributes:
        plan: Number of the request, from 1 -> kind of failure: ``refused_before``,
            ``lost_before``, ``lost_after`` or ``error_after``.
        n_requests: The number of requests so far.
    """

    plan: dict[int, str] = field(default_factory=dict)
    n_requests: int = 0
    failed_requests: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_failure(self) -> str:
        """Count a new request, and return its kind of failure; empty for none."""
        with self._lock:
            self.n_requests += 1
            kind = self.plan.pop(self.n_requests, "")
            if kind:
                self.failed_requests.append(self.n_requests)
            return kind


def answer_instead(kind: str) -> Response | None:
    """Return the error answer of a request that is not carried out; None if it is."""
    if kind in ("refused_before", "lost_before"):
        return Response("unavailable", 503)
    return None


def answer_or_fail(kind: str, response: Response) -> Response:
    """Return the answer to a request that was carried out, or an error if the answer gets lost."""
    if kind in ("lost_after", "error_after"):
        response.close()
        return Response("server error", 502)
    return response


_DAY_S = "86400"


def create_static_host(faults: Faults, below: Path | None = None) -> Blueprint:
    """Return a blueprint that serves subfolders of ``below`` and its own ``folders``."""
    host = Blueprint("static_host", __name__)
    folders: dict[str, Path] = {}
    host.folders = folders  # type: ignore[attr-defined]

    @host.get("/sites/<name>/")
    @host.get("/sites/<name>/<path:file>")
    def send(name: str, file: str = "index.html") -> Response:
        """Send a file."""
        kind = faults.next_failure()
        folder = folders.get(name) or (below / name if below else None)
        if folder is None or name in (".", ".."):
            abort(404)
        return answer_instead(kind) or answer_or_fail(
            kind, send_from_directory(folder.resolve(), file)
        )

    return host


def allow_all_origins(blueprint: Blueprint) -> None:
    """Allow pages of any site to send requests to these routes and read the answers (CORS)."""

    @blueprint.after_request
    def allow(response: Response) -> Response:
        response.headers["Access-Control-Allow-Origin"] = "*"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "GET, POST, PATCH, PUT"
            response.headers["Access-Control-Allow-Headers"] = "Content-Type, Accept"
            response.headers["Access-Control-Max-Age"] = _DAY_S
        return response


def create_post_store(folder: Path, faults: Faults) -> Blueprint:
    """Return the blueprint of the POST store; it answers 204 once the file is written."""
    store = Blueprint("post_store", __name__)
    allow_all_origins(store)
    numbers = itertools.count(1)

    @store.post("/keep")
    def keep() -> Response:
        """Save a request body."""
        kind = faults.next_failure()
        if (failed := answer_instead(kind)) is not None:
            return failed
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{next(numbers):06}.json").write_bytes(request.get_data())
        return answer_or_fail(kind, Response(status=204))

    return store
