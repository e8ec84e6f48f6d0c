"""The program and the style of the pages, under a name made of their content.

The pages' modules are joined when a process starts, so that somebody who arrives asks once for all
of them. The files are one folder on the wire, and the folder's name changes with any of them. A
browser keeps such a folder for good and asks again only after an upgrade.
"""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from http import HTTPStatus
from importlib.resources.abc import Traversable
from mimetypes import guess_type
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, Response, abort
from markupsafe import Markup
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from webapp.core.metrics import Metrics
from webapp.http.request_log import log_request, new_request_id
from webapp.http.security_headers import always_sent
from webapp.participant.bundle import joined

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

# Stands in every page itself, so that a page can tell what is missing when nothing else arrives.
_BOOT = "boot.js"
_PAGE = "page.js"
_EXTENSION = "assets"
_YEAR_S = 365 * 24 * 60 * 60
_MOST_HEADERS = 100
_SEND = "assets.send"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    mimetype: str
    content: bytes
    compressed: bytes


class Assets:
    """The files of a folder, read once.

    Attributes:
        files: Each file by its name.
        version: Another one for other contents.
        base: The folder's address.
        boot: The program that every page holds itself, and nobody fetches.

    Args:
        folder: Where they lie.
        scripts: Further programs by their names: each is for the pages that ask for it.
    """

    def __init__(self, folder: Path, scripts: Mapping[str, Traversable] | None = None) -> None:
        own = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        modules = {name: own.pop(name).decode() for name in list(own) if name.endswith(".js")}
        self.boot = Markup(modules.pop(_BOOT))
        own[_PAGE] = joined(_PAGE, modules).encode()
        own |= {name: path.read_bytes() for name, path in (scripts or {}).items()}
        digest = hashlib.sha256()
        for name, content in own.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.files = {name: _asset(name, content) for name, content in own.items()}
        self.version = digest.hexdigest()[:12]
        self.base = f"/assets/{self.version}"

    def address(self, name: str) -> str:
        """Return the address of a file."""
        return f"{self.base}/{name}"

    @property
    def boot_source(self) -> str:
        """What allows ``boot`` in a content security policy, and no other program."""
        digest = hashlib.sha256(self.boot.encode()).digest()
        return f"'sha256-{b64encode(digest).decode()}'"


def _asset(name: str, content: bytes) -> Asset:
    mimetype = guess_type(name)[0] or "application/octet-stream"
    return Asset(mimetype, content, _compressed(content))


@cache
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def serve_assets(
    app: Flask, assets: Assets, public_url: str = "", metrics: Metrics | None = None
) -> None:
    """Send the files before the app is asked, and give its templates what they say of them.

    Everybody who arrives asks for them, and the only thing of a request that changes a
    reply is whether it may be compressed: each reply is made once, without Flask.

    Args:
        app: The app.
        assets: The files.
        public_url: Where the app is reached.
        metrics: The process's metrics; None where nobody asks for them.
    """
    pages, inner = Blueprint("assets", __name__), app.wsgi_app
    replies = {
        (name, compress): _reply(asset, compress, always_sent(public_url))
        for name, asset in assets.files.items()
        for compress in (True, False)
    }

    def send(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        name = _asked(environ, assets.version)
        if name not in assets.files:
            return inner(environ, start)
        began = perf_counter()
        clear_contextvars()
        bind_contextvars(request_id=new_request_id(environ))
        headers, body = replies[name, takes_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))]
        start("200 OK", headers)
        method = environ["REQUEST_METHOD"]
        log_request(metrics, method, _SEND, HTTPStatus.OK, perf_counter() - began)
        return () if method == "HEAD" else (body,)

    @pages.get("/assets/<version>/<name>", endpoint="send")
    def refuse(version: str, name: str) -> Response:
        """Answer for a file that is not among those of this version.

        While nodes are upgraded one after the other, a page of one of them may ask another, whose
        files are others. It is told to ask again: modules of two versions do not work together.
        """
        if version.partition(".")[0] == assets.version:
            abort(404)
        return _of_another_version()

    app.wsgi_app = send  # type: ignore[method-assign,assignment]
    app.register_blueprint(pages)
    app.extensions[_EXTENSION] = assets
    app.context_processor(lambda: {"assets": assets})


def _asked(environ: "WSGIEnvironment", version: str) -> str:
    """Return the name of the file that is asked for; nothing where it is something else.

    What follows the version's point only makes the address another one.
    """
    address = environ["PATH_INFO"].removeprefix("/assets/")
    folder, _, name = address.partition("/")
    ours = len(address) < len(environ["PATH_INFO"]) and folder.partition(".")[0] == version
    return name if ours and environ["REQUEST_METHOD"] in ("GET", "HEAD") else ""


@lru_cache(_MOST_HEADERS)
def takes_gzip(accepted: str) -> bool:
    """Return whether a browser that accepts these encodings takes what is packed with gzip."""
    return parse_accept_header(accepted, Accept).quality("gzip") > 0


def _reply(
    asset: Asset, compress: bool, always: Mapping[str, str]
) -> tuple[list[tuple[str, str]], bytes]:
    """Return a file's headers and body."""
    body = asset.compressed if compress else asset.content
    text = asset.mimetype.startswith("text/") or asset.mimetype.endswith("javascript")
    headers = {
        "Content-Type": f"{asset.mimetype}; charset=utf-8" if text else asset.mimetype,
        "Content-Length": str(len(body)),
        "Vary": "Accept-Encoding",
        "Cache-Control": f"public, max-age={_YEAR_S}, immutable",
        "Referrer-Policy": "no-referrer",
        **({"Content-Encoding": "gzip"} if compress else {}),
        **always,
    }
    return list(headers.items()), body


def _of_another_version() -> Response:
    response = Response("another version of the program\n", HTTPStatus.SERVICE_UNAVAILABLE)
    response.mimetype = "text/plain"
    response.headers["Retry-After"] = "1"
    response.cache_control.no_store = True
    return response


def assets_of(app: Flask) -> Assets:
    """Return the files that an app serves."""
    found: Assets = app.extensions[_EXTENSION]
    return found
