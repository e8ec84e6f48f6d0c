"""Pages that differ from person to person in one part: the app makes them once in each process.

What the app sent is kept, cut where each person's own part stands, and the part is put in. Where it
stands several times, what lies between belongs to it. Both sides are compressed once; a compressed
page is the two with the part between them, as one stream (RFC 1951 lets blocks begin anew at any
byte, section 3.2.4 and 3.2.5; RFC 1952 adds the checksum at the end).
"""

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from http import HTTPStatus

from flask import Flask, Response, g

KEPT = "kept_pages"
# Pages of the lists of runs that are open; a study's own font makes one large.
_MOST_BYTES = 32 * 2**20
_LEVEL = 5
# As gzip's own, of a file without a name and a date.
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
# What is so short is cheaper as it stands.
_SHORT_BYTES = 64
# What belongs to one reply alone, or follows from its body.
_OF_ONE_REPLY = ("content-length", "content-encoding", "x-request-id")
_RAW = -zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page with a part left open.

    Attributes:
        headers: Its headers, without those that follow from the part.
        before: What stands before the part.
        between: What stands between the places where it stands.
        after: What follows it.
        packed_before: The same as the beginning of a gzip file.
        packed_after: The same as the last blocks of one.
    """

    headers: list[tuple[str, str]]
    before: bytes
    between: tuple[bytes, ...]
    after: bytes
    packed_before: bytes
    packed_after: bytes

    @property
    def n_bytes(self) -> int:
        """How much of the memory it takes."""
        kept = (self.before, *self.between, self.after, self.packed_before, self.packed_after)
        return sum(map(len, kept))

    @classmethod
    def of(cls, headers: list[tuple[str, str]], body: bytes, part: bytes) -> "KeptPage | None":
        """Return a page with these headers and this body; None where the part is not in it.

        Where nobody has anything of their own, the part is empty.
        """
        if part not in body:
            return None
        before, *between, after = body.split(part) if part else (body, b"")
        packed = _GZIP_HEAD + _blocks(before, 9, zlib.Z_FULL_FLUSH)
        last = _blocks(after, 9, zlib.Z_FINISH)
        return cls(headers, before, tuple(between), after, packed, last)

    def with_part(self, part: bytes, *, packed: bool) -> tuple[list[tuple[str, str]], bytes]:
        """Return the headers and the body of the page for one person.

        Args:
            part: What is their own.
            packed: Whether the body is to be compressed with gzip.
        """
        part += b"".join(text + part for text in self.between)
        more = [("Content-Encoding", "gzip")] if packed else []
        body = self._packed(part) if packed else self.before + part + self.after
        return [*self.headers, *more, ("Content-Length", str(len(body)))], body

    def _packed(self, part: bytes) -> bytes:
        whole = zlib.crc32(self.after, zlib.crc32(part, zlib.crc32(self.before)))
        n_bytes = len(self.before) + len(part) + len(self.after)
        end = whole.to_bytes(4, "little") + (n_bytes % 2**32).to_bytes(4, "little")
        return b"".join((self.packed_before, _middle(part), self.packed_after, end))


def _blocks(text: bytes, level: int, flush: int) -> bytes:
    """Return a text as blocks of DEFLATE that refer to nothing before them."""
    packer = zlib.compressobj(level, zlib.DEFLATED, _RAW)
    return packer.compress(text) + packer.flush(flush)


def _middle(part: bytes) -> bytes:
    if len(part) > _SHORT_BYTES:
        return _blocks(part, _LEVEL, zlib.Z_FULL_FLUSH)
    # A stored block: its length, the length's complement, and the text.
    n = len(part)
    return b"\0" + n.to_bytes(2, "little") + (n ^ 0xFFFF).to_bytes(2, "little") + part


class KeptPages:
    """The pages that a process keeps, by whatever they depend on beside the part.

    Args:
        app: The app whose pages are kept; what is added to its replies later is kept with them.
    """

    def __init__(self, app: Flask) -> None:
        self._pages = dict[Hashable, KeptPage]()
        app.after_request(self._keep)
        app.extensions[KEPT] = self

    def get(self, key: Hashable) -> KeptPage | None:
        """Return a page; None where none was kept."""
        return self._pages.get(key)

    def forget(self) -> None:
        """Keep none of them any more, as a new process."""
        self._pages.clear()

    def _keep(self, response: Response) -> Response:
        key, part = g.get("kept_page") or (None, "")
        if key is None or key in self._pages or response.status_code != HTTPStatus.OK:
            return response
        body = response.get_data()
        if response.content_encoding == "gzip":
            body = zlib.decompress(body, zlib.MAX_WBITS | 16)
        headers = [each for each in response.headers if each[0].lower() not in _OF_ONE_REPLY]
        page = KeptPage.of(headers, body, part.encode())
        if page is not None and not any(name.lower() == "set-cookie" for name, _ in headers):
            if sum(page.n_bytes for page in self._pages.values()) > _MOST_BYTES:
                self._pages.clear()
            self._pages[key] = page
        return response


def keep_page(key: Hashable, part: str) -> None:
    """Let the page that answers the present request be kept, if it is one.

    Args:
        key: Whatever it depends on, beside the part.
        part: The person's own, as it stands in the page; empty where all have the same.
    """
    g.kept_page = key, part
