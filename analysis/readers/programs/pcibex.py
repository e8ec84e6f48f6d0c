"""Results of PCIbex and Ibex, whose comments name the columns."""

import csv
import re
from itertools import takewhile
from urllib.parse import unquote

import pandas as pd

from analysis.readers.program import Program

_FIRST_LINE_START = "# Results on "
# "1. Name." of a list, or "Col. 1: Name." of the list of one line among several.
_COLUMN_COMMENT = re.compile(r"(Col\. )?(\d+)[.:] (.*?)\.?")
_GROUPS_COMMENT = re.compile(r"The lines below this comment are in groups of \d+\.")
_LINE_COMMENT = re.compile(r"Line \d+:")
# Before each line: "...First 7... [8] Answer -- [9] Time taken to answer".
_ONE_LINE_COMMENT = re.compile(r"\.\.\.First 7\.\.\. (.*)")
_FIRST_SEVEN_COLUMNS = (
    "Time results were received", "MD5 hash that hopefully uniquely identifies participant",
    "Controller name", "Item number", "Element number", "Type", "Group",
)  # fmt: skip


def _is_results(text: str) -> bool:
    """Return whether a text starts like a results file of PCIbex or Ibex.

    The line with the time may follow empty comments and, in PCIbex, a comment that lists the
    submissions.
    """
    comments = takewhile(lambda line: line.startswith("#") or not line.strip(), text.splitlines())
    return any(line.startswith(_FIRST_LINE_START) for line in comments)


def _read_results(text: str) -> tuple[pd.DataFrame, str]:
    """Return the rows, with the columns named by the comments above them.

    Ibex writes three kinds of comments: one list for the lines below; several lists for alternating
    lines; or, with SIMPLE_RESULTS_FILE_COMMENTS, a comment for each line. Commas within a cell are
    written ``%2C``; empty cells are written "NULL".
    """
    lists: list[list[str]] = [[]]
    rows: list[dict[str, str]] = []
    turn = 0
    for line in text.splitlines():
        if line.startswith("#"):
            lists, turn = _update_column_lists(line[1:].strip(), lists), 0
        elif line.strip():
            cells = map(_decode_cell, next(csv.reader([line])))
            names = lists[turn % len(lists)] if lists else []
            rows.append(dict(zip(names, cells, strict=False)))
            turn += 1
    table = pd.DataFrame(rows).fillna("")
    return table, "PCIbex" if "PennElementType" in table else "Ibex"


def _update_column_lists(comment: str, lists: list[list[str]]) -> list[list[str]]:
    """Return the lists of columns, updated by a comment."""
    if _GROUPS_COMMENT.fullmatch(comment):
        return []
    if _LINE_COMMENT.fullmatch(comment):
        return [*lists, []]
    if one_line := _ONE_LINE_COMMENT.fullmatch(comment):
        return [[*_FIRST_SEVEN_COLUMNS, *re.split(r" -- \[\d+\] ", " -- " + one_line[1])[1:]]]
    if column := _COLUMN_COMMENT.fullmatch(comment):
        # A list of columns restarts at 1, or continues from the number at which it differs.
        last = lists[-1] if lists else []
        earlier_lists = lists[:-1] if column[1] else []
        return [*earlier_lists, [*last[: int(column[2]) - 1], column[3]]]
    return lists


def _decode_cell(cell: str) -> str:
    return "" if cell == "NULL" else unquote(cell)


PROGRAM = Program(
    name="PCIbex",
    documentation="| PCIbex, Ibex | the results file, whose comments name the columns, in any "
    "of the three forms that Ibex writes |",
    recognises=_is_results,
    read_text=_read_results,
)
