"""Results of PCIbex and of Ibex, whose comments name their columns."""

import csv
from itertools import takewhile
from urllib.parse import unquote

import pandas as pd

_FIRST = "# Results on "


def is_results(text: str) -> bool:
    """Return whether a text begins as results of PCIbex and Ibex do.

    Before the line that says when, there are empty comments and, from PCIbex, one that says which
    submissions the file holds.
    """
    comments = takewhile(lambda line: line.startswith("#") or not line.strip(), text.splitlines())
    return any(line.startswith(_FIRST) for line in comments)


def read_results(text: str) -> pd.DataFrame:
    """Return the rows; each block of them follows comments that name its columns.

    Commas within a cell are written ``%2C``; "NULL" stands where a cell is empty.
    """
    names: list[str] = []
    rows: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            number, _, name = line[1:].strip().partition(". ")
            if number.isdigit():
                # A list of columns begins again at 1, or goes on below where it differs.
                names = [*names[: int(number) - 1], name.rstrip(".")]
        elif line.strip():
            cells = map(_plain, next(csv.reader([line])))
            rows.append(dict(zip(names, cells, strict=False)))
    return pd.DataFrame(rows).fillna("")


def _plain(cell: str) -> str:
    return "" if cell == "NULL" else unquote(cell)
