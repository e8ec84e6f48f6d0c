"""The modules and the style of the pages, under a name made of their content.

The modules import each other as they lie on the disk, so nothing is built or rewritten: all of
them are one folder on the wire, and the folder's name changes with any of them. A browser keeps
such a folder for good and asks again only after an upgrade.
"""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources.abc import Traversable
from mimetypes import guess_type
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, request
from markupsafe import Markup

# Stands in every page itself, so that a page can tell what is missing when nothing else arrives.
_BOOT = "boot.js"
_EXTENSION = "assets"
_YEAR_S = 365 * 24 * 60 * 60


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
        modules: The names of the program's modules.
        boot: The program that every page holds itself.

    Args:
        folder: Where they lie.
        scripts: Further programs by their names: each is for the pages that ask for it.
    """

    def __init__(self, folder: Path, scripts: Mapping[str, Traversable] | None = None) -> None:
        self.files = {path.name: _read(path) for path in sorted(folder.iterdir()) if path.is_file()}
        modules = [name for name in self.files if name.endswith(".js") and name != _BOOT]
        self.files |= {name: _read(path) for name, path in (scripts or {}).items()}
        digest = hashlib.sha256()
        for name, asset in self.files.items():
            digest.update(f"{name}\0{len(asset.content)}\0".encode() + asset.content)
        self.version = digest.hexdigest()[:12]
        self.base = f"/assets/{self.version}"
        self.modules = modules
        self.boot = Markup(self.files[_BOOT].content.decode())

    def address(self, name: str) -> str:
        """Return the address of a file."""
        return f"{self.base}/{name}"

    @property
    def boot_source(self) -> str:
        """What allows ``boot`` in a content security policy, and no other program."""
        digest = hashlib.sha256(self.files[_BOOT].content).digest()
        return f"'sha256-{b64encode(digest).decode()}'"


def _read(path: Traversable) -> Asset:
    content = path.read_bytes()
    mimetype = guess_type(path.name)[0] or "application/octet-stream"
    return Asset(mimetype, content, gzip.compress(content, mtime=0))


def serve_assets(app: Flask, assets: Assets) -> None:
    """Give the app the files' addresses, and its templates what they say of them."""
    pages = Blueprint("assets", __name__)

    @pages.get("/assets/<version>/<name>")
    def send(version: str, name: str) -> Response:
        """Send a file; what follows the version's point only makes the address another one.

        While nodes are upgraded one after the other, a page of one of them may ask another, whose
        files are others. It is told to ask again: modules of two versions do not work together.
        """
        if version.partition(".")[0] != assets.version:
            return _of_another_version()
        if name not in assets.files:
            abort(404)
        asset = assets.files[name]
        compress = request.accept_encodings.quality("gzip") > 0
        response = Response(asset.compressed if compress else asset.content)
        response.mimetype = asset.mimetype
        response.vary.add("Accept-Encoding")
        if compress:
            response.content_encoding = "gzip"
        response.cache_control.public = True
        response.cache_control.max_age = _YEAR_S
        response.cache_control.immutable = True
        return response

    app.register_blueprint(pages)
    app.extensions[_EXTENSION] = assets
    app.context_processor(lambda: {"assets": assets})


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
