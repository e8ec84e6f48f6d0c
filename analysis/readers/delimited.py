"""Delimited text as a data frame, without a cell lost or moved to another column."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from experiment.materials.formats.delimited import TextFile, cells_of, find_layout

_SHOWN = 3
_ROWS_AT_ONCE = 500_000


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

    Comments and titles before the headers are left out.

    Raises:
        ValueError: A row has more cells than there are headers.
    """
    layout = find_layout(file, titles=True)
    # Before pandas reads it, which drops the cells that have no header.
    notes = _notes(cells_of(file, layout, lenient=True))
    with file.lines(layout.start) as lines:
        # Piece by piece: every cell is an object until its piece becomes a column of texts.
        pieces = pd.read_csv(
            lines,
            sep=layout.delimiter,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            index_col=False,
            chunksize=_ROWS_AT_ONCE,
        )
        frame = pd.concat([piece.fillna("") for piece in pieces], ignore_index=True)
    return Delimited(frame.rename(columns=lambda name: str(name).strip()), layout.before, notes)


def _notes(rows: Iterator[tuple[int, list[str]]]) -> tuple[str, ...]:
    _, headers = next(rows, (0, []))
    short = 0
    for line, cells in rows:
        if any(cell.strip() for cell in cells[len(headers) :]):
            raise ValueError(f"line {line} has {len(cells)} cells below {len(headers)} headers")
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
