"""Delimited text (CSV, TSV) as a table, without a cell lost or moved to another column."""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TextIO

import pandas as pd

from analysis.readers.text_file import TextFile

_SEPARATORS = (",", "\t", ";")
_COMMENT = re.compile(r"\s*(#|%|//)")
_SHOWN = 3
_ROWS_AT_ONCE, _MOST_BEFORE = 500_000, 1_000


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
