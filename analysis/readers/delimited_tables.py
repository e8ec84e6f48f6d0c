"""Read delimited text of any program as a table, without losing cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import pandas as pd

from experiment.errors import find_repeated
from experiment.materials.formats.delimited import Layout, TextFile, cells_of, find_layout
from experiment.materials.formats.header_rows import SAMPLED, read_header_rows
from experiment.materials.formats.raw import refuse_other_number

_SHOWN, _SAMPLED = 3, 50
_ROWS_AT_ONCE, _TWO = 500_000, 2


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


def read_delimited(file: TextFile, headers: Sequence[str] = ()) -> Delimited:
    """Read CSV or TSV as a table; the delimiter is detected from the headers.

    Comments and titles before the headers are skipped.

    Args:
        file: The file.
        headers: The names of its columns, if the file has no headers.

    Raises:
        ValueError: A row has more cells than the header row.
        MaterialsError: The headers are more or fewer than the cells of the first row.
    """
    layout = _layout_of_spaces(file, find_layout(file, titles=not headers))
    row_names = not headers and _has_row_names(file, layout)
    rows = cells_of(file, layout, lenient=True)
    if headers:
        line, first = next(rows, (1, []))
        refuse_other_number(headers, first, f"{file.path}, line {line}")
        rows = chain([(0, list(headers)), (line, first)], rows)
    names, note = list(headers), ""
    if not headers and not row_names:
        filled = (cells for _, cells in cells_of(file, layout, lenient=True) if any(cells))
        joined, n_headers, note = read_header_rows(list(islice(filled, SAMPLED)) or [[]])
        names = joined if n_headers > 1 else names
    # Check before reading: pandas drops cells without a header.
    n_columns, notes = (0, ()) if row_names else _check_row_lengths(rows)
    with file.lines(layout.start) as lines:
        # Read in chunks: every cell is a Python object until its chunk becomes a text column.
        chunks = pd.read_csv(
            lines,
            sep=layout.delimiter,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            index_col=None if row_names else False,
            names=names or None,
            skiprows=_TWO if note else 0,
            # Otherwise pandas refuses rows that end in more empty cells than the first ones.
            usecols=range(n_columns) if n_columns else None,
            chunksize=_ROWS_AT_ONCE,
        )
        frame = pd.concat([chunk.fillna("") for chunk in chunks], ignore_index=True)
    notes = (note, *notes) if note else notes
    return Delimited(frame.rename(columns=lambda name: str(name).strip()), layout.before, notes)


def _layout_of_spaces(file: TextFile, layout: Layout) -> Layout:
    """Return the layout of a table whose cells are divided by spaces, as R writes it by default."""
    header = next(cells_of(file, layout, lenient=True), (0, []))[1]
    if len(header) != 1:
        return layout
    spaced = replace(layout, delimiter=" ")
    sizes = [len(cells) for _, cells in islice(cells_of(file, spaced, lenient=True), _SAMPLED)]
    is_table = len(sizes) > 1 and sizes[0] > 1 and len(set(sizes[1:])) == 1
    return spaced if is_table and sizes[1] - sizes[0] in (0, 1) else layout


def _has_row_names(file: TextFile, layout: Layout) -> bool:
    """Return whether rows begin with a name that has no header, as R's ``write.table`` has it.

    Texts without quotation marks may also contain commas, so that tables with commas never do.
    """
    if layout.delimiter not in "\t ":
        return False
    names, rows = set[str](), cells_of(file, layout, lenient=True)
    _, header = next(rows, (0, []))
    number = 0
    for _, cells in rows:
        if not cells:
            continue
        if len(cells) != len(header) + 1:
            return False
        names.add(cells[0])
        number += 1
    return number > 0 and len(names) == number


def _check_row_lengths(rows: Iterator[tuple[int, list[str]]]) -> tuple[int, tuple[str, ...]]:
    """Return the number of columns, and notes on rows and headers."""
    _, headers = next(rows, (0, []))
    n_short_rows = 0
    for line, cells in rows:
        if any(cell.strip() for cell in cells[len(headers) :]):
            raise ValueError(f"line {line} has {len(cells)} cells below {len(headers)} headers")
        n_short_rows += 0 < len(cells) < len(headers)
    notes = []
    repeated = [name for name in find_repeated(map(str.strip, headers)) if name]
    if repeated:
        notes.append(
            f"the header {', '.join(repeated[:_SHOWN])} occurs more than once; the second is "
            f"called {repeated[0]}.1"
        )
    if n_short_rows:
        notes.append(
            f"{n_short_rows} row(s) have fewer cells than there are headers; was the file cut?"
        )
    return len(headers), tuple(notes)
