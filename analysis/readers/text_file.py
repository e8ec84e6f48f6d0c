"""A file of text, read piece by piece: a large one is never held in memory as a whole."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

_PIECE = 1 << 20
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose encoding is known.

    Attributes:
        path: The file.
        encoding: How it is decoded.
    """

    path: Path
    encoding: str

    @contextmanager
    def lines(self, after: int = 0) -> Iterator[TextIO]:
        """Open the file behind its first characters, its line ends as they are written."""
        with self.path.open(encoding=self.encoding, newline="") as file:
            left = after
            while left > 0 and (piece := file.read(min(left, _PIECE))):
                left -= len(piece)
            yield file

    def head(self) -> str:
        """Return the beginning, by which a format is known."""
        with self.lines() as file:
            return file.read(_PIECE)

    def whole(self) -> str:
        """Return the whole text."""
        with self.lines() as file:
            return file.read()


def open_text(path: Path) -> TextFile:
    """Return a file of text; what is not UTF-8 is what spreadsheets write.

    Raises:
        ValueError: It is no text.
    """
    with path.open("rb") as file:
        begins = file.read(2)
    for encoding in ("utf-8-sig", *(["utf-16"] if begins in _UTF_16 else []), "cp1252"):
        if _is_text(path, encoding):
            return TextFile(path, encoding)
    raise ValueError("it is not text in UTF-8, UTF-16 or Windows-1252")


def _is_text(path: Path, encoding: str) -> bool:
    """Return whether a file can be decoded to text, of which no character is zero."""
    try:
        with path.open(encoding=encoding, newline="") as file:
            return not any("\0" in piece for piece in iter(lambda: file.read(_PIECE), ""))
    except UnicodeDecodeError:
        return False
