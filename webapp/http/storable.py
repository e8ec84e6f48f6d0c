"""What is typed holds no NUL: PostgreSQL stores none, and no file has one in its name.

Nobody types one. In addresses and forms the mark for what is no character (U+FFFD) takes its place,
as it does in pages. So what was made up is still seen not to be what it pretends to be.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask, Request
from werkzeug.datastructures import FileStorage, ImmutableMultiDict, iter_multi_items

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_NUL, _NO_CHARACTER = "\0", "\ufffd"
# As a path stands in the environment: each byte is a character.
_IN_PATHS = _NO_CHARACTER.encode().decode("latin-1")


class _Fields(ImmutableMultiDict[str, Any]):
    def __init__(self, mapping: Any = ()) -> None:  # noqa: ANN401 - whatever Werkzeug has
        items = iter_multi_items(mapping or ())
        super().__init__([(_without(name), _without(value)) for name, value in items])


class _Request(Request):
    parameter_storage_class = _Fields


def _without(value: Any) -> Any:  # noqa: ANN401 - a text, or a file
    if isinstance(value, FileStorage):
        value.filename = value.filename and value.filename.replace(_NUL, _NO_CHARACTER)
    return value.replace(_NUL, _NO_CHARACTER) if isinstance(value, str) else value


def keep_out_nul(app: Flask) -> None:
    """Let an app look at nothing in addresses and forms that not every database can store."""
    app.request_class = _Request
    app.wsgi_app = _with_whole_paths(app.wsgi_app)  # type: ignore[method-assign,assignment]


def _with_whole_paths(inner: "WSGIApplication") -> "WSGIApplication":
    def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        environ["PATH_INFO"] = environ["PATH_INFO"].replace(_NUL, _IN_PATHS)
        return inner(environ, start)

    return answer
