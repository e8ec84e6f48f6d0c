"""Serve the pages' scripts and styles from a URL that contains a hash of their content.

The JavaScript modules are joined into one file at start-up, so that an arriving browser fetches
them in one request. The hash is part of the folder's URL and changes with any of the files, so
browsers cache the files indefinitely and fetch them again only after an upgrade. A study without a
server embeds the same modules in its page.

Each module becomes a function that returns its exports. Only the plain forms of ``import`` and
``export`` are understood; any other form raises an error.
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

# Embedded in every page, so that the page can report which files failed to load.
_BOOT_SCRIPT = "boot.js"
_PAGE_SCRIPT = "page.js"
_EXTENSION = "assets"
_STYLE_COMMENT = re.compile(rb"/\*(?!!).*?\*/\n?", re.DOTALL)
_YEAR_S = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent to browsers."""

    mimetype: str
    content: bytes
    compressed: bytes


class Assets:
    """The files of a folder, read once.

    Attributes:
        files: Each file by its name.
        version: A hash of all contents.
        base: The folder's URL path.
        boot: The script that is embedded in every page and never fetched.

    Args:
        folder: The folder that contains the files.
        scripts: Further scripts by name; pages load them individually.
    """

    def __init__(self, folder: Path, scripts: Mapping[str, Traversable] | None = None) -> None:
        contents = {
            path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
        }
        modules = {
            name: contents.pop(name).decode() for name in list(contents) if name.endswith(".js")
        }
        self.boot = Markup(modules.pop(_BOOT_SCRIPT))
        contents[_PAGE_SCRIPT] = join_modules(_PAGE_SCRIPT, modules).encode()
        contents |= {name: path.read_bytes() for name, path in (scripts or {}).items()}
        digest = hashlib.sha256()
        for name, content in contents.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.files = {name: _make_asset(name, content) for name, content in contents.items()}
        self.version = digest.hexdigest()[:12]
        self.base = f"/assets/{self.version}"

    def address(self, name: str) -> str:
        """Return the URL path of a file."""
        return f"{self.base}/{name}"

    @property
    def boot_source(self) -> str:
        """The content security policy source that allows the script ``boot`` and no other."""
        digest = hashlib.sha256(self.boot.encode()).digest()
        return f"'sha256-{b64encode(digest).decode()}'"


def _make_asset(name: str, content: bytes) -> Asset:
    mimetype = guess_type(name)[0] or "application/octet-stream"
    if name.endswith(".css"):
        content = _STYLE_COMMENT.sub(b"", content)
    return Asset(mimetype, content, _compress(content))


@cache
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def serve_assets(app: Flask, assets: Assets) -> None:
    """Serve the files under their versioned URL, and pass ``assets`` to the app's templates."""
    pages = Blueprint("assets", __name__)

    @pages.get("/assets/<version>/<name>")
    def send(version: str, name: str) -> Response:
        """Send a file of this version; text after a dot in the version only makes the URL distinct.

        During a rolling upgrade, a page from one node may request files from a node with another
        version. The reply is then 503 with Retry-After: modules of two versions do not work
        together.
        """
        if version.partition(".")[0] != assets.version:
            return _other_version_response()
        asset = assets.files.get(name)
        return abort(404) if asset is None else _asset_response(asset)

    app.register_blueprint(pages)
    app.extensions[_EXTENSION] = assets
    app.context_processor(lambda: {"assets": assets})


def _asset_response(asset: Asset) -> Response:
    compress = request.accept_encodings.quality("gzip") > 0
    response = Response(asset.compressed if compress else asset.content, mimetype=asset.mimetype)
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = f"public, max-age={_YEAR_S}, immutable"
    if compress:
        response.headers["Content-Encoding"] = "gzip"
    return response


def _other_version_response() -> Response:
    response = Response("another version of the program\n", HTTPStatus.SERVICE_UNAVAILABLE)
    response.mimetype = "text/plain"
    response.headers["Retry-After"] = "1"
    response.cache_control.no_store = True
    return response


def assets_of(app: Flask) -> Assets:
    """Return the files that an app serves."""
    assets: Assets = app.extensions[_EXTENSION]
    return assets


_IMPORT = re.compile(
    r'^import \{(?P<names>[^}]*)\} from "(?P<path>\./|(?:\.\./)+)(?P<name>[\w/-]+\.js)";[ ]*$',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?P<kept>(?:const|let|async function\*?|function\*?|class) +(?P<name>\w+))",
    re.MULTILINE,
)
_UNSUPPORTED = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_ALIAS = re.compile(r"(\w+) as (\w+)")


def bundle_scripts(modules: Mapping[str, str], programs: Mapping[str, str]) -> str:
    """Return a single script that starts a study without a server.

    Args:
        modules: The pages' modules by name; one of them is ``serverless/start.js``.
        programs: The scripts that a page requests by name, such as that of a response type.

    Raises:
        WebappError: A module uses an unsupported form of import or export, imports a missing
            module, or is part of an import cycle.
    """
    texts = {**modules, **programs}
    functions: dict[str, str] = {}
    for name in texts:
        _add_module(name, texts, functions, ())
    program_entries = ", ".join(f'"{name}": {_module_variable(name)}' for name in programs)
    start_call = f"{_module_variable('serverless/start.js')}.startStudy({{ {program_entries} }});"
    return "\n".join([*functions.values(), start_call, ""])


def join_modules(name: str, modules: Mapping[str, str]) -> str:
    """Return a module and everything it imports, as one module with the same exports.

    Args:
        name: The module's name.
        modules: The source texts of modules by name.

    Raises:
        WebappError: As for ``bundle_scripts``.
    """
    functions: dict[str, str] = {}
    _add_module(name, modules, functions, ())
    exported = ", ".join(_find_exports(modules[name]))
    return "\n".join(
        [*functions.values(), f"export const {{ {exported} }} = {_module_variable(name)};", ""]
    )


def _add_module(
    name: str, texts: Mapping[str, str], functions: dict[str, str], importers: tuple[str, ...]
) -> None:
    if name in functions:
        return
    if name in importers:
        raise _bundle_error(name, f"it imports itself by way of {', '.join(importers)}")
    if name not in texts:
        raise _bundle_error(importers[-1], f"it imports {name}, which is not there")
    for imported in _find_imports(name, texts[name]):
        _add_module(imported, texts, functions, (*importers, name))
    functions[name] = _wrap_as_function(name, texts[name])


def _find_imports(name: str, text: str) -> Iterator[str]:
    for line in _IMPORT.finditer(text):
        yield _resolve_import(name, line)


def _resolve_import(name: str, match: re.Match[str]) -> str:
    folder = [] if match["path"] != "./" else name.split("/")[:-1]
    return "/".join([*folder, match["name"]])


@cache
def _wrap_as_function(name: str, text: str) -> str:
    exported = ", ".join(_find_exports(text))
    body = _IMPORT.sub(lambda match: _destructure_import(name, match), text)
    body = _EXPORT.sub(lambda match: match["kept"], body)
    if unsupported := _UNSUPPORTED.search(body):
        raise _bundle_error(name, f'its line "{unsupported[0]}" is in another form')
    if "</script" in body.lower():
        raise _bundle_error(name, "it contains the end of a script element")
    return f"const {_module_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _find_exports(text: str) -> list[str]:
    return [line["name"] for line in _EXPORT.finditer(text)]


def _destructure_import(name: str, match: re.Match[str]) -> str:
    names = _ALIAS.sub(r"\1: \2", " ".join(match["names"].split()))
    return f"const {{ {names} }} = {_module_variable(_resolve_import(name, match))};"


def _module_variable(name: str) -> str:
    return "m_" + re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", name)


def _bundle_error(name: str, why: str) -> WebappError:
    return WebappError(
        f"the program {name} cannot become part of a page: {why}",
        expected='lines such as: import { name } from "./other.js"; and: export const name = ...',
        remedy="Write its imports and exports in that form, or serve the study with parallax serve",
    )
