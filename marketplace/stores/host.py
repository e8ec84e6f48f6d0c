"""A plain web host: it gives out files as they lie there, and knows nothing else."""

from pathlib import Path

from flask import Blueprint, Response, abort, send_from_directory

from marketplace.stores.faults import Faults, after, before


def static_host(faults: Faults, below: Path | None = None) -> Blueprint:
    """Return a host of the folders below one, and of those in ``folders`` of the blueprint."""
    host = Blueprint("static_host", __name__)
    folders: dict[str, Path] = {}
    host.folders = folders  # type: ignore[attr-defined]

    @host.get("/sites/<name>/")
    @host.get("/sites/<name>/<path:file>")
    def send(name: str, file: str = "index.html") -> Response:
        """Send a file."""
        kind = faults.next()
        folder = folders.get(name) or (below / name if below else None)
        if folder is None or name in (".", ".."):
            abort(404)
        return before(kind) or after(kind, send_from_directory(folder.resolve(), file))

    return host
