"""The program and the style of the pages, under a name made of their content.

The pages' modules are joined when a process starts, so that an arrival is one request for all of
them. The files are one folder on the wire, and the folder's name changes with any of them. A
browser keeps such a folder for good and asks again only after an upgrade. A study without a server
holds the same modules in its page.

Each module becomes a function that returns what it exports. Only the plain forms of ``import`` and
``export`` are read; any other is refused, never guessed.
"""

import gzip
import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.resources.abc import Traversable
from mimetypes import guess_type
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, request
from markupsafe import Markup

from webapp.errors import WebappError

# Stands in every page itself, so that a page can tell what is missing when nothing else arrives.
_BOOT = "boot.js"
_PAGE = "page.js"
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


def serve_assets(app: Flask, assets: Assets) -> None:
    """Serve the files at the address of their version, and name it to the app's templates."""
    pages = Blueprint("assets", __name__)

    @pages.get("/assets/<version>/<name>")
    def send(version: str, name: str) -> Response:
        """Send a file of this version; what follows the version's point only makes a new address.

        While nodes are upgraded one after the other, a page of one node may ask another, which has
        other files. It is told to ask again: modules of two versions do not work together.
        """
        if version.partition(".")[0] != assets.version:
            return _of_another_version()
        asset = assets.files.get(name)
        return abort(404) if asset is None else _reply(asset)

    app.register_blueprint(pages)
    app.extensions[_EXTENSION] = assets
    app.context_processor(lambda: {"assets": assets})


def _reply(asset: Asset) -> Response:
    compress = request.accept_encodings.quality("gzip") > 0
    response = Response(asset.compressed if compress else asset.content, mimetype=asset.mimetype)
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = f"public, max-age={_YEAR_S}, immutable"
    if compress:
        response.headers["Content-Encoding"] = "gzip"
    return response


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


_IMPORT = re.compile(
    r'^import \{(?P<names>[^}]*)\} from "(?P<path>\./|(?:\.\./)+)(?P<name>[\w/-]+\.js)";[ ]*$',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?P<kept>(?:const|let|async function\*?|function\*?|class) +(?P<name>\w+))",
    re.MULTILINE,
)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_ALIAS = re.compile(r"(\w+) as (\w+)")


def bundle(modules: Mapping[str, str], programs: Mapping[str, str]) -> str:
    """Return one program that begins a study without a server.

    Args:
        modules: The pages' modules by their names; one is ``serverless/begin.js``.
        programs: Those that a page asks for by name, such as a type of response's.

    Raises:
        WebappError: A module imports or exports in a form that is not read, or one that is not
            there, or a circle of modules import each other.
    """
    texts = {**modules, **programs}
    done: dict[str, str] = {}
    for name in texts:
        _add(name, texts, done, ())
    known = ", ".join(f'"{name}": {_variable(name)}' for name in programs)
    begin = f"{_variable('serverless/begin.js')}.begin({{ {known} }});"
    return "\n".join([*done.values(), begin, ""])


def joined(name: str, modules: Mapping[str, str]) -> str:
    """Return a module together with all that it imports, as one module with its exports.

    Args:
        name: Its name.
        modules: The texts of modules by their names.

    Raises:
        WebappError: As ``bundle``.
    """
    done: dict[str, str] = {}
    _add(name, modules, done, ())
    exported = ", ".join(_exported(modules[name]))
    return "\n".join([*done.values(), f"export const {{ {exported} }} = {_variable(name)};", ""])


def _add(name: str, texts: Mapping[str, str], done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise _unreadable(name, f"it imports itself by way of {', '.join(above)}")
    if name not in texts:
        raise _unreadable(above[-1], f"it imports {name}, which is not there")
    for imported in _imported(name, texts[name]):
        _add(imported, texts, done, (*above, name))
    done[name] = _as_function(name, texts[name])


def _imported(name: str, text: str) -> Iterator[str]:
    for line in _IMPORT.finditer(text):
        yield _place(name, line)


def _place(name: str, found: re.Match[str]) -> str:
    folder = [] if found["path"] != "./" else name.split("/")[:-1]
    return "/".join([*folder, found["name"]])


@cache
def _as_function(name: str, text: str) -> str:
    exported = ", ".join(_exported(text))
    body = _IMPORT.sub(lambda found: _taken(name, found), text)
    body = _EXPORT.sub(lambda found: found["kept"], body)
    if other := _OTHER.search(body):
        raise _unreadable(name, f'its line "{other[0]}" is in another form')
    if "</script" in body.lower():
        raise _unreadable(name, "it contains the end of a script element")
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _exported(text: str) -> list[str]:
    return [line["name"] for line in _EXPORT.finditer(text)]


def _taken(name: str, found: re.Match[str]) -> str:
    names = _ALIAS.sub(r"\1: \2", " ".join(found["names"].split()))
    return f"const {{ {names} }} = {_variable(_place(name, found))};"


def _variable(name: str) -> str:
    return "m_" + re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", name)


def _unreadable(name: str, why: str) -> WebappError:
    return WebappError(
        f"the program {name} cannot become part of a page: {why}",
        expected='lines such as: import { name } from "./other.js"; and: export const name = ...',
        remedy="Write its imports and exports in that form, or serve the study with parallax serve",
    )
