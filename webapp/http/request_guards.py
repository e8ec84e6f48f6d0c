"""Checks before a request is processed: its origin, its host, its characters.

A request that another site made the browser send must not change anything. Generated URLs may only
contain the server's own host names. Redirects are relative: behind a TLS proxy, an absolute
redirect would lead from https back to http.

PostgreSQL cannot store NUL, and file names cannot contain it. In URLs and forms, it is replaced by
the replacement character (U+FFFD), so that a forged value is still recognised as invalid.

Decoding a form takes time that its sender decides about: by its size, and by the number of its
fields. A form of more fields than any page has is refused, a large one is decoded outside the
thread that answers, and a file that arrives lets other requests go first again and again.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from time import sleep
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, request
from werkzeug.datastructures import FileStorage, ImmutableMultiDict, iter_multi_items
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_date

from webapp.core.settings import Settings
from webapp.core.subprocesses import run_in_thread
from webapp.errors import RequestError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from werkzeug.formparser import t_parse_result

# A host name of labels of at most 63 letters, or an address in brackets, and a port.
_HOST_PATTERN = re.compile(
    r"(?:(?=[^:]{1,253}(?::|$))[\w-]{1,63}(?:\.[\w-]{1,63})*\.?|\[[0-9A-Fa-f:.%]{2,60}\])(?::\d{1,5})?",
    re.ASCII,
)
_DATE_HEADERS = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE")
_CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Health checks and the operator's own tools use these hosts.
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


def guard_origins(app: Flask, settings: Settings) -> None:
    """Refuse unknown hosts and cross-site forms, and make every redirect relative.

    Args:
        app: The app.
        settings: The installation's settings. If ``public_url`` is set, only its host, those of
            ``allowed_hosts`` and this machine's own names are accepted.
    """
    if settings.public_url:
        public = urlsplit(settings.public_url).hostname or ""
        allowed = settings.allowed_hosts.split()
        hosts = [public, *allowed, *_LOCAL_HOSTS, settings.host]
        app.config["TRUSTED_HOSTS"] = list(dict.fromkeys(hosts))
    app.wsgi_app = _refuse_invalid_headers(app.wsgi_app)  # type: ignore[method-assign,assignment]
    app.before_request(_refuse_other_sites)
    app.after_request(_make_redirect_relative)


def _refuse_invalid_headers(inner: "WSGIApplication") -> "WSGIApplication":
    """Refuse an impossible Host header before any code parses it.

    An impossible date is ignored, as RFC 9110 (section 13.1) requires.
    """

    def handle(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "")
        if host and not _is_valid_host(host):
            start(
                "400 Bad Request", [("Content-Type", "text/plain"), ("Cache-Control", "no-store")]
            )
            return [b"The Host header is not a valid host name.\n"]
        for name in _DATE_HEADERS:
            if name in environ and not _is_valid_date(environ[name]):
                del environ[name]
        return inner(environ, start)

    return handle


@lru_cache(64)  # all requests have the same few hosts
def _is_valid_host(host: str) -> bool:
    if not _HOST_PATTERN.fullmatch(host):
        return False
    try:
        host.encode("ascii").decode("idna")
    except UnicodeError:
        return False
    return True


def _is_valid_date(date: str) -> bool:
    try:
        parse_date(date)
    except OverflowError:  # a year of eleven digits
        return False
    return True


def comes_from_another_site() -> bool:
    """Return whether the browser reports that another site caused the current request."""
    # All current browsers send this header; the Origin of a page without referrer is "null".
    fetch_site = request.headers.get("Sec-Fetch-Site")
    if fetch_site is not None:
        return fetch_site not in ("same-origin", "none")
    origin = request.headers.get("Origin", "null")
    return origin != "null" and _get_host_and_port(origin) != request.host


def _get_host_and_port(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:  # an unclosed bracket, or an invalid address in it
        return ""


def _refuse_other_sites() -> None:
    if request.method in _CHANGING_METHODS and comes_from_another_site():
        raise RequestError(
            "This request came from another site, so nothing was changed.",
            status=403,
            code="another_site",
        )


def _make_redirect_relative(response: Response) -> Response:
    location = response.location
    if location is not None and not location.startswith("/"):
        response.location = location.removeprefix(request.host_url.rstrip("/")) or "/"
    return response


if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_NUL, _NO_CHARACTER = "\0", "\ufffd"
# As paths appear in the WSGI environment: one character per byte.
_NO_CHARACTER_IN_PATHS = _NO_CHARACTER.encode().decode("latin-1")


class _CleanFields(ImmutableMultiDict[str, Any]):
    def __init__(self, mapping: Any = ()) -> None:  # noqa: ANN401 - whatever Werkzeug has
        items = iter_multi_items(mapping or ())
        super().__init__([(_replace_nul(name), _replace_nul(value)) for name, value in items])


# A questionnaire of a thousand questions has fewer fields. A form with a file has about ten parts.
_MOST_FIELDS, MOST_FORM_PARTS = 5_000, 200
# Decoding so many bytes takes a few milliseconds at most, whatever they are.
_MOST_BYTES_AT_ONCE = 8_192
# Long enough for the event loop to read its connections.
_YIELD_S = 1e-6
# Several times the size of a questionnaire with every field filled to its limit.
LARGEST_FORM_BYTES = 256 * 1024


class _FormParser(FormDataParser):
    """Decodes forms in bounded time."""

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> "t_parse_result":
        """Return the form's fields and files.

        Raises:
            RequestEntityTooLarge: It has too many fields, or is too large for a form without files.
        """
        if mimetype == "multipart/form-data":
            taking_turns: Any = _YieldingStream(stream)
            return super().parse(taking_turns, mimetype, content_length, options)
        if mimetype != "application/x-www-form-urlencoded":
            return super().parse(stream, mimetype, content_length, options)
        # A page to which a file is uploaded allows larger bodies, but for the file alone.
        body = stream.read(LARGEST_FORM_BYTES + 1)
        if len(body) > LARGEST_FORM_BYTES or body.count(b"&") >= _MOST_FIELDS:
            raise RequestEntityTooLarge
        decode = super().parse
        if len(body) <= _MOST_BYTES_AT_ONCE:
            return decode(BytesIO(body), mimetype, len(body), options)
        return run_in_thread(lambda: decode(BytesIO(body), mimetype, len(body), options))


class _YieldingStream:
    """The body of a request, which lets other requests run before each read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        sleep(_YIELD_S)
        return self._stream.read(size)


class _CleanRequest(Request):
    parameter_storage_class = _CleanFields
    form_data_parser_class = _FormParser


def _replace_nul(value: Any) -> Any:  # noqa: ANN401 - a text, or a file
    if isinstance(value, FileStorage):
        value.filename = value.filename and value.filename.replace(_NUL, _NO_CHARACTER)
    return value.replace(_NUL, _NO_CHARACTER) if isinstance(value, str) else value


def replace_nul_characters(app: Flask) -> None:
    """Replace NUL characters, which not every database can store, in the app's URLs and forms."""
    app.request_class = _CleanRequest
    app.wsgi_app = _replace_nul_in_paths(app.wsgi_app)  # type: ignore[method-assign,assignment]


def _replace_nul_in_paths(inner: "WSGIApplication") -> "WSGIApplication":
    def handle(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        environ["PATH_INFO"] = environ["PATH_INFO"].replace(_NUL, _NO_CHARACTER_IN_PATHS)
        return inner(environ, start)

    return handle
