"""Delimited text (CSV, TSV, semicolons, bars): its encoding, its headers and its cells.

Files are read in pieces, so that a large file is never in memory as a whole.
"""

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from experiment.materials.formats.workbooks import code_page

_DELIMITERS = (",", ";", "\t", "|")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_COMMENT = re.compile(r"\s*(#|%|//)")
_PIECE, _MOST_BEFORE = 1 << 20, 1_000


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file with a known encoding.

    Attributes:
        path: The file.
        encoding: The name of the encoding.
        is_unicode: Whether the encoding is a Unicode encoding, so that no letter can be wrong.
    """

    path: Path
    encoding: str
    is_unicode: bool = True

    @contextmanager
    def lines(self, after: int = 0) -> Iterator[TextIO]:
        """Open the file after its first ``after`` characters, with line ends unchanged."""
        with self.path.open(encoding=self.encoding, newline="") as file:
            left = after
            while left > 0 and (piece := file.read(min(left, _PIECE))):
                left -= len(piece)
            yield file

    def head(self) -> str:
        """Return the beginning of the text, for recognising a format."""
        with self.lines() as file:
            return file.read(_PIECE)

    def whole(self) -> str:
        """Return the whole text."""
        with self.lines() as file:
            return file.read()


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a delimited file.

    Attributes:
        delimiter: The character between cells.
        before: The number of lines before the headers.
        start: The number of characters before the headers.
    """

    delimiter: str
    before: int
    start: int


class DelimitedError(ValueError):
    """A file whose quotation marks are not paired.

    Attributes:
        line: The number of the line.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def open_text(path: Path, language: str = "") -> TextFile:
    """Open a text file in UTF-8, UTF-16, or the encoding of spreadsheets on Windows.

    Args:
        path: The file.
        language: The language of the text (BCP 47), which determines the encoding of spreadsheets.

    Raises:
        ValueError: The file is not text.
    """
    with path.open("rb") as file:
        is_utf_16 = file.read(2) in _UTF_16
    if is_utf_16 and _is_text(path, "utf-16"):
        return TextFile(path, "utf-16")
    if _is_text(path, "utf-8-sig"):
        return TextFile(path, "utf-8-sig")
    windows = code_page(language)
    if not is_utf_16 and _is_text(path, windows):
        return TextFile(path, windows, is_unicode=False)
    raise ValueError(f"it is not text in UTF-8, UTF-16 or {windows.replace('cp', 'Windows-')}")


def find_layout(file: TextFile, *, titles: bool = False) -> Layout:
    """Return a file's layout: the delimiter is the named one, or the one with the most cells.

    Args:
        file: The file.
        titles: Whether comments and titles may precede the headers: lines with fewer cells than
            those below.
    """
    with file.lines() as text:
        lines = list(islice(text, _MOST_BEFORE))
    first, named = 0, ""
    if lines and lines[0][:4].lower() == "sep=" and lines[0][-1] in "\r\n":
        first, named = 1, lines[0].strip()[4:5]
    if titles:
        first = _first_that_is_no_title(lines, first)
    header = next((line for line in lines[first:] if line.strip()), "")
    delimiter = named or max(_DELIMITERS, key=lambda mark: _n_cells(header, mark))
    return Layout(delimiter, first, sum(map(len, lines[:first])))


def cells_of(
    file: TextFile, layout: Layout, *, lenient: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row's cells with the number of its last line, starting with the headers.

    Args:
        file: The file.
        layout: The file's layout.
        lenient: Whether to accept spaces before cells, and quotation marks within them.

    Raises:
        DelimitedError: A quotation mark has no counterpart.
    """
    with file.lines(layout.start) as lines:
        rows = csv.reader(
            lines, delimiter=layout.delimiter, strict=not lenient, skipinitialspace=lenient
        )
        try:
            for cells in rows:
                yield layout.before + rows.line_num, cells
        except csv.Error as error:
            raise DelimitedError(str(error), layout.before + rows.line_num) from error


def _first_that_is_no_title(lines: list[str], first: int) -> int:
    for number, line in enumerate(lines[first:], start=first):
        below = [text for text in lines[number + 1 :] if text.strip()]
        if _COMMENT.match(line):
            # Comments may follow each other.
            below = [text for text in below if not _COMMENT.match(text)] or below
        if not below or not _is_title(line, below[0]):
            return number
    return first


def _is_title(line: str, below: str) -> bool:
    delimiter = max(_DELIMITERS, key=below.count)
    fewer = _n_cells(line, delimiter) < _n_cells(below, delimiter)
    comment = _COMMENT.match(line) or delimiter not in line
    return not line.strip() or bool(fewer and comment)


def _n_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:  # a cell exceeds the size limit of csv
        return 0


def _is_text(path: Path, encoding: str) -> bool:
    """Return whether a file can be decoded to text without null characters."""
    try:
        with path.open(encoding=encoding, newline="") as file:
            return not any("\0" in piece for piece in iter(lambda: file.read(_PIECE), ""))
    except UnicodeError:
        return False
