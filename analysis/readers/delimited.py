"""Delimited text (CSV, TSV) as a table, without a cell lost or moved to another column."""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from io import StringIO

import pandas as pd

_SEPARATORS = (",", "\t", ";")
_COMMENT = re.compile(r"\s*(#|%|//)")
_SHOWN = 3


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


def read_delimited(text: str) -> Delimited:
    """Return CSV or TSV as a table; the headers tell by which mark its cells are divided.

    Comments and titles before the headers are left out: lines with fewer marks than those below.

    Raises:
        ValueError: A row has more cells than there are headers.
    """
    before, body = _from_headers(text)
    separator = _separator(body)
    # Before pandas reads it, which drops the cells that have no header.
    notes = _notes(body, separator, before)
    frame = pd.read_csv(
        StringIO(body),
        sep=separator,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
        index_col=False,
    )
    named = frame.rename(columns=lambda name: str(name).strip())
    return Delimited(named.fillna(""), before, notes)


def _separator(body: str) -> str:
    return max(_SEPARATORS, key=body.split("\n", 1)[0].count)


def _from_headers(text: str) -> tuple[int, str]:
    """Return how many lines stand before the headers, and the text from there."""
    before, rest = 0, text
    while True:
        line, mark, below = rest.partition("\n")
        if not (mark and below.strip()):
            return before, rest
        following = next((one for one in below.splitlines() if one.strip()), "")
        separator = max(_SEPARATORS, key=following.count)
        fewer = _cells(line, separator) < _cells(following, separator)
        if line.strip() and not (fewer and (_COMMENT.match(line) or separator not in line)):
            return before, rest
        before, rest = before + 1, below


def _cells(line: str, separator: str) -> int:
    return len(next(csv.reader([line], delimiter=separator), []))


def _notes(body: str, separator: str, before: int) -> tuple[str, ...]:
    rows = csv.reader(StringIO(body, newline=""), delimiter=separator, skipinitialspace=True)
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
