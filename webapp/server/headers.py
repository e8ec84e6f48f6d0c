"""Parse the header fields of a request without the standard library's email parser.

The email parser takes a fifth of the server's time for an answer, and accepts input that a web
server must refuse: continuation lines, a space after a field name, two lengths for one body.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import IO

# The standard library's limits; no browser exceeds them.
_LONGEST_LINE_BYTES, _MOST_LINES = 65_536, 100
_NAME = re.compile(rb"[!#$%&'*+.^`|~\w-]+", re.ASCII)
_FORBIDDEN = re.compile(rb"[\0\r\n]")
_ONCE = ("content-length", "host", "transfer-encoding")
# Python parses at most 4,300 digits, and no body length needs more than 18.
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)


class Headers:
    """The header fields of one request, in the interface that gevent's handler expects.

    Attributes:
        status: The defects; always empty, because defective headers are refused.

    Args:
        file: The stream from which the lines are read, up to the empty line.

    Raises:
        ValueError: The headers violate HTTP.
    """

    __slots__ = ("_fields",)
    status = ""

    def __init__(self, file: IO[bytes]) -> None:
        self._fields = list(_fields(file))
        for name in _ONCE:
            if sum(each == name for each, _ in self._fields) > 1:
                raise ValueError(f"{name} is given twice")
        length, coding = self.get("content-length"), self.get("transfer-encoding")
        if length is not None and not _DIGITS.fullmatch(length):
            raise ValueError("content-length is no number")
        # The end of the body must be unambiguous; otherwise, its rest could be read as another
        # request (request smuggling).
        if coding is not None and (length is not None or coding.lower() != "chunked"):
            raise ValueError("transfer-encoding is another one than chunked, or beside a length")

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the value of the first field with a name, or the default."""
        lower = name.lower()
        return next((value for each, value in self._fields if each == lower), default)

    getheader = get

    @property
    def typeheader(self) -> str | None:
        """The content type of the body."""
        return self.get("content-type")

    def __delitem__(self, name: str) -> None:
        """Remove every field with a name."""
        self._fields = [field for field in self._fields if field[0] != name.lower()]

    @property
    def headers(self) -> Iterator[str]:
        """Every field as a line; gevent leaves out those with an underscore."""
        return (f"{name}: {value}\r\n" for name, value in self._fields)


def _fields(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    for _ in range(_MOST_LINES + 1):
        line = file.readline(_LONGEST_LINE_BYTES + 1)
        if line in (b"\r\n", b"\n"):
            return
        if not line.endswith(b"\n") and len(line) <= _LONGEST_LINE_BYTES:
            raise ValueError("the headers are cut short")
        if len(line) > _LONGEST_LINE_BYTES:
            raise ValueError("a line of the headers is too long")
        name, colon, value = line.removesuffix(b"\n").removesuffix(b"\r").partition(b":")
        if not colon or not (known := _known_name(name)) or _FORBIDDEN.search(value):
            raise ValueError("a line of the headers is no field")
        yield known, value.strip(b" \t").decode("latin-1")
    raise ValueError("there are too many headers")


# A browser's requests all have the same field names.
@lru_cache(1000)
def _known_name(name: bytes) -> str:
    return name.decode("ascii").lower() if _NAME.fullmatch(name) else ""
