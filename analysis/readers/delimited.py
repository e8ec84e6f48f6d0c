"""Read delimited text as a data frame, without losing or shifting cells."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from experiment.materials.formats.delimited import TextFile, cells_of, find_layout

_SHOWN = 3
_ROWS_AT_ONCE = 500_000


@dataclass(frozen=True, slots=True)
class Delimited:
    """The table of a delimited text.

    Attributes:
        table: Every value as text; missing values are empty.
        before: The number of lines before the headers.
        notes: Irregularities, in sentences.
    """

    table: pd.DataFrame
    before: int
    notes: tuple[str, ...]


def read_delimited(file: TextFile) -> Delimited:
    """Read CSV or TSV as a table; the delimiter is detected from the headers.

    Comments and titles before the headers are skipped.

    Raises:
        ValueError: A row has more cells than the header row.
    """
    layout = find_layout(file, titles=True)
    # Check before reading: pandas drops cells without a header.
    notes = _notes(cells_of(file, layout, lenient=True))
    with file.lines(layout.start) as lines:
        # Read in chunks: every cell is a Python object until its chunk becomes a text column.
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
