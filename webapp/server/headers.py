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
_FIELD_PATTERN = re.compile(rb"([!#$%&'*+.^`|~\w-]+):([^\0\r\n]*)\r?\n", re.ASCII)
_SINGLE_FIELDS = ("content-length", "host", "transfer-encoding")
# Python parses at most 4,300 digits, and no body length needs more than 18.
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)
# A browser sends most lines again with every request. Long lines are not remembered.
_MOST_REMEMBERED, _LONGEST_REMEMBERED_BYTES = 2_000, 200


class Headers:
    """The header fields of one request, in the interface that gevent's handler expects.

    Attributes:
        status: The defects; always empty, because defective headers are refused.

    Args:
        file: The stream from which the lines are read, up to the empty line.

    Raises:
        ValueError: The headers violate HTTP.
    """

    __slots__ = ("_fields", "_first")
    status = ""

    def __init__(self, file: IO[bytes]) -> None:
        self._fields = _read_fields(file)
        self._first: dict[str, str] = {}
        for name, value in self._fields:
            if name in self._first and name in _SINGLE_FIELDS:
                raise ValueError(f"{name} is given twice")
            self._first.setdefault(name, value)
        length, coding = self.get("content-length"), self.get("transfer-encoding")
        if length is not None and not _DIGITS.fullmatch(length):
            raise ValueError("content-length is not a number")
        # The end of the body must be unambiguous; otherwise, its rest could be read as another
        # request (request smuggling).
        if coding is not None and (length is not None or coding.lower() != "chunked"):
            raise ValueError("transfer-encoding is not chunked, or combined with a length")

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the value of the first field with a name, or the default."""
        return self._first.get(name.lower(), default)

    getheader = get

    @property
    def typeheader(self) -> str | None:
        """The content type of the body."""
        return self.get("content-type")

    def __delitem__(self, name: str) -> None:
        """Remove every field with a name."""
        if self._first.pop(name.lower(), None) is not None:
            self._fields = [field for field in self._fields if field[0] != name.lower()]

    @property
    def headers(self) -> Iterator[str]:
        """Every field as a line; gevent leaves out those with an underscore."""
        return (f"{name}: {value}\r\n" for name, value in self._fields)


def _read_fields(file: IO[bytes]) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = []
    for _ in range(_MOST_LINES + 1):
        line = file.readline(_LONGEST_LINE_BYTES + 1)
        if line in (b"\r\n", b"\n"):
            return fields
        is_short = len(line) <= _LONGEST_REMEMBERED_BYTES
        fields.append(_parse_field_cached(line) if is_short else _parse_field(line))
    raise ValueError("there are too many headers")


def _parse_field(line: bytes) -> tuple[str, str]:
    if len(line) > _LONGEST_LINE_BYTES:
        raise ValueError("a header line is too long")
    if not line.endswith(b"\n"):
        raise ValueError("the headers are truncated")
    field = _FIELD_PATTERN.fullmatch(line)
    if field is None:
        raise ValueError("a header line is not a field")
    return field[1].decode("ascii").lower(), field[2].strip(b" \t").decode("latin-1")


_parse_field_cached = lru_cache(_MOST_REMEMBERED)(_parse_field)
