"""Delimited text (CSV, TSV) as a table, without a cell lost or moved to another column.

A file is read piece by piece: a large one is never held in memory as a whole.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import pandas as pd

_SEPARATORS = (",", "\t", ";")
_COMMENT = re.compile(r"\s*(#|%|//)")
_SHOWN = 3
_ROWS_AT_ONCE, _MOST_BEFORE = 500_000, 1_000
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


@dataclass(frozen=True, slots=True)
class Delimited:
    """A text's table.

    Attributes:
        table: Every value as text, empty text where there is none.
        before: How many lines stand before the headers.
        notes: What was odd, in sentences.
    """

    table: pd.DataFrame
    before: int
    notes: tuple[str, ...]


def read_delimited(file: TextFile) -> Delimited:
    """Return CSV or TSV as a table; the headers tell by which mark its cells are divided.

    Comments and titles before the headers are left out: lines with fewer marks than those below.

    Raises:
        ValueError: A row has more cells than there are headers.
    """
    before, after, header = _headers(file)
    separator = max(_SEPARATORS, key=header.count)
    with file.lines(after) as lines:
        # Before pandas reads it, which drops the cells that have no header.
        notes = _notes(lines, separator, before)
    with file.lines(after) as lines:
        # Piece by piece: every cell is an object until its piece becomes a column of texts.
        pieces = pd.read_csv(
            lines,
            sep=separator,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            index_col=False,
            chunksize=_ROWS_AT_ONCE,
        )
        frame = pd.concat([piece.fillna("") for piece in pieces], ignore_index=True)
    return Delimited(frame.rename(columns=lambda name: str(name).strip()), before, notes)


def _headers(file: TextFile) -> tuple[int, int, str]:
    """Return how many lines and characters stand before the headers, and the line of these."""
    with file.path.open(encoding=file.encoding, newline="\n") as text:
        lines = list(islice(text, _MOST_BEFORE))
    for number, line in enumerate(lines):
        below = [one for one in lines[number + 1 :] if one.strip()]
        if _COMMENT.match(line):
            # Comments stand below each other.
            below = [one for one in below if not _COMMENT.match(one)] or below
        if not below or not _is_title(line, below[0]):
            return number, sum(map(len, lines[:number])), line
    return 0, 0, ""


def _is_title(line: str, below: str) -> bool:
    separator = max(_SEPARATORS, key=below.count)
    fewer = _cells(line, separator) < _cells(below, separator)
    comment = _COMMENT.match(line) or separator not in line
    return not line.strip() or bool(fewer and comment)


def _cells(line: str, separator: str) -> int:
    return len(next(csv.reader([line], delimiter=separator), []))


def _notes(lines: TextIO, separator: str, before: int) -> tuple[str, ...]:
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    headers = next(rows, [])
    short = 0
    for cells in rows:
        if any(cell.strip() for cell in cells[len(headers) :]):
            raise ValueError(
                f"line {rows.line_num + before} has {len(cells)} cells below {len(headers)} headers"
            )
        short += 0 < len(cells) < len(headers)
    notes = []
    twice = [name for name, count in Counter(map(str.strip, headers)).items() if count > 1 and name]
    if twice:
        notes.append(
            f"the header {', '.join(twice[:_SHOWN])} stands more than once; the second is called "
            f"{twice[0]}.1"
        )
    if short:
        notes.append(f"{short} row(s) have fewer cells than there are headers; was the file cut?")
    return tuple(notes)


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
