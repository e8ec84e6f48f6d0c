"""Scores in files that are no tables with delimiters, as tables.

neural-complexity and LM_syneval print words with spaces between the columns, pandas prints a data
frame so, and minicons prints lists of tokens with their scores.
"""

import ast
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.errors import MaterialsError
from experiment.materials.formats.columns import key_of
from experiment.materials.formats.raw import RawRow, RawTable, read_raw, read_text

_DELIMITED = (".csv", ".tsv", ".tab", ".xlsx", ".jsonl", ".json", ".parquet")
# A header of columns with spaces between them has a piece of text, and what it scores.
_PIECES = {"word", "token", "sentence", "text"}
_SCORES = {"surp", "surprisal", "logprob", "log_prob", "logprob_nats", "score"}
_NOTE = "Columns are divided by spaces."


def read_scores(path: Path) -> RawTable:
    """Return a file of scores as a table, whether or not it has delimiters.

    Raises:
        AnalysisError: A line has more or fewer values than there are columns.
        MaterialsError: The file cannot be read.
    """
    if path.suffix.lower() in _DELIMITED[:-1] and path.suffix.lower() not in (".csv", ".tsv"):
        return read_raw(path)
    text, notes = read_text(path)
    lines = [(n, one) for n, one in enumerate(text.splitlines(), start=1) if one.strip()]
    header = lines[0][1].split() if lines else []
    if text.lstrip().startswith("[") and path.suffix.lower() not in _DELIMITED:
        return _printed_lists(path, text)
    names = {key_of(one) for one in header}
    if not (names & _PIECES and names & _SCORES) or any(m in lines[0][1] for m in "\t,;|"):
        return read_raw(path)
    rows = [RawRow(f"{path}, line {n}", _cells(path, n, header, one)) for n, one in lines[1:]]
    return RawTable(path, tuple(header), tuple(rows), (*notes, _NOTE))


def _cells(path: Path, number: int, header: Sequence[str], line: str) -> dict[str, str]:
    values = line.split()
    # A printed data frame has the number of the row first, below no header.
    if len(values) == len(header) + 1 and values[0].isdecimal():
        values = values[1:]
    if len(values) != len(header):
        raise AnalysisError(
            f"the line has {len(values)} values, but there are {len(header)} columns",
            where=f"{path}, line {number}",
            expected="one value in each column; a piece of text without spaces",
            remedy="Write the table with tabs or commas between the columns",
        )
    return dict(zip(header, values, strict=True))


def _printed_lists(path: Path, text: str) -> RawTable:
    """Return lists of (token, score) as a table: one list for each text."""
    try:
        found = ast.literal_eval(text.strip())
        found = found if isinstance(found[0], list) else [found]
        rows = [
            (str(n), str(place), str(token), "" if value is None else repr(float(value)))
            for n, one in enumerate(found)
            for place, (token, value, *_) in enumerate(one)
        ]
    except (ValueError, SyntaxError, TypeError, IndexError, MemoryError, RecursionError) as error:
        raise MaterialsError(
            f"the lists cannot be read ({error})",
            where=str(path),
            expected="what minicons prints: a list for each text, of pairs of token and score",
        ) from error
    positive = any(float(row[3]) > 0 for row in rows if row[3])
    name = "surprisal" if positive else "logprob"
    header = ("sentence_id", "token_id", "token", name)
    table = [
        RawRow(f"{path}, text {int(row[0]) + 1}, token {int(row[1]) + 1}",
               dict(zip(header, row, strict=True)))
        for row in rows
    ]  # fmt: skip
    said = f"Read as lists of tokens, as minicons prints them; the numbers are taken for {name}s."
    return RawTable(path, header, tuple(table), (said,))
