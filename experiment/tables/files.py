"""Reading and writing of table files, checked against their schema and written atomically."""

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TextIO

from experiment.errors import TableError, why_unread
from experiment.tables.atomic_write import atomic_write
from experiment.tables.column import Column, TableSchema


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows below their header as text, with aligned columns."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


# Initial characters that make a spreadsheet treat a cell as a formula. The apostrophe is included
# so that removing one leading apostrophe always restores the text.
_FORMULA_STARTS = frozenset("=+-@\t\n\r'")


def spreadsheet_safe(text: str) -> str:
    """Return a text, prefixed with an apostrophe if a spreadsheet would treat it as a formula.

    Full-width and small forms of the characters count as well (spreadsheets in East Asian languages
    interpret them), and so does a character after invisible ones: a byte order mark, direction
    marks, zero-width marks, spaces.

    Args:
        text: The text of a cell.
    """
    if text[:1] in _FORMULA_STARTS or _find_first_visible(text) in _FORMULA_STARTS:
        return f"'{text}"
    return text


def safe_cell(cell: object) -> object:
    """Return a cell of a table; of a text, what ``spreadsheet_safe`` returns."""
    return spreadsheet_safe(cell) if isinstance(cell, str) else cell


def safe_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV without any text that could be interpreted as a formula.

    Args:
        header: The columns' names.
        rows: The rows' cells; None is an empty cell.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(map(safe_cell, row))
    return text.getvalue()


def _find_first_visible(text: str) -> str:
    for letter in text:
        if unicodedata.category(letter) not in ("Cf", "Cc", "Zs", "Zl", "Zp"):
            return unicodedata.normalize("NFKC", letter)[:1]
    return " "


Row = Mapping[str, object]
Append = Callable[[Sequence[Row]], None]

FORMATS = (".csv", ".tsv", ".parquet")
_ROWS_AT_A_TIME = 20_000


def require_suffix(path: Path, *suffixes: str) -> None:
    """Refuse to write a table under a name with another suffix.

    Raises:
        TableError: The name ends in none of the suffixes.
    """
    if path.suffix not in suffixes:
        raise TableError(
            "no table of this format can be written here",
            where=str(path),
            expected=f"a name that ends in {' or '.join(suffixes)}",
        )


def write_table(
    schema: TableSchema, rows: Iterable[Row], path: Path, metadata: Mapping[str, str] | None = None
) -> int:
    """Write rows to ``path`` in bounded memory, and return their number; see ``open_table``."""
    n_written = 0
    with open_table(schema, path, metadata) as append:
        for chunk in split_rows(rows):
            append(chunk)
            n_written += len(chunk)
    return n_written


def split_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in lists, of which memory holds one at a time."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_AT_A_TIME)):
        yield chunk


@contextmanager
def open_table(
    schema: TableSchema, path: Path, metadata: Mapping[str, str] | None = None
) -> Iterator[Append]:
    """Yield a function that appends rows to ``path`` (.csv, .tsv or .parquet by its suffix).

    Args:
        schema: The table's columns; each row must have exactly these.
        path: The file; replaced only if the block succeeds.
        metadata: Key-value pairs kept in a Parquet file's schema.

    Raises:
        TableError: The suffix is not a known format.
    """
    require_suffix(path, *FORMATS)
    with atomic_write(path) as temporary:
        if path.suffix == ".parquet":
            from experiment.tables.parquet import open_parquet_writer

            with open_parquet_writer(schema, temporary, metadata) as append:
                yield append
        else:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                yield _start_text(schema, file, "," if path.suffix == ".csv" else "\t")


def _start_text(schema: TableSchema, file: TextIO, delimiter: str) -> Append:
    """Write the header, and return a function that appends rows."""
    names, absent = schema.column_names, schema.absent
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)

    def append(rows: Sequence[Row]) -> None:
        full_rows = ({**absent, **row} for row in rows)
        writer.writerows([_format_cell(row[name]) for name in names] for row in full_rows)

    return append


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    # Some readers treat a lone carriage return as the end of the row.
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def read_table(
    schema: TableSchema,
    path: Path,
    *,
    extended: bool = False,
    refused: Callable[[TableError], object] | None = None,
) -> Iterator[dict[str, object]]:
    """Yield a file's rows, with values converted to the schema's types.

    Args:
        schema: The table's columns.
        path: The file.
        extended: Whether to also read the file's further columns, as texts.
        refused: Called for each invalid row of a text table, instead of raising an exception.

    Raises:
        TableError: The file is missing, lacks a column or holds a value of the wrong type.
    """
    if not path.is_file():
        raise TableError(
            f'the table "{schema.name}" is missing', where=str(path), expected="an existing file"
        )
    if path.suffix == ".parquet":
        yield from _read_parquet(schema, path, extended=extended)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from _read_text(schema, lines, path, extended=extended, refused=refused)
    except UnicodeDecodeError as error:
        raise _make_no_text_error(path, error) from error


def parse_table(schema: TableSchema, text: str, path: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of a text table that is already in memory: see ``read_table``.

    Args:
        schema: The table's columns.
        text: The file's content.
        path: The file's path, which determines the format, and is used in messages.

    Raises:
        TableError: A column is missing, or a value is of the wrong type.
    """
    return _read_text(schema, StringIO(text, newline=""), path)


def _read_parquet(
    schema: TableSchema, path: Path, *, extended: bool
) -> Iterator[dict[str, object]]:
    from experiment.tables.parquet import open_parquet

    file = open_parquet(path)
    check_columns(schema, file.schema_arrow.names, path)
    further = [name for name in file.schema_arrow.names if name not in schema.column_names]
    columns = [*schema.column_names, *(further if extended else ())]
    present = [name for name in columns if name in file.schema_arrow.names]
    absent = {name: value for name, value in schema.absent.items() if name not in present}
    for batch in file.iter_batches(columns=present):
        for row in batch.to_pylist():
            row |= absent
            yield row if not extended else row | {name: _format_cell(row[name]) for name in further}


def _read_text(
    schema: TableSchema,
    lines: Iterable[str],
    path: Path,
    *,
    extended: bool = False,
    refused: Callable[[TableError], object] | None = None,
) -> Iterator[dict[str, object]]:
    reader = csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ",")
    try:
        check_columns(schema, reader.fieldnames or [], path)
        if extended:
            schema = schema.extended(name for name in reader.fieldnames or [] if name)
        for row in reader:
            location = f"{path}, line {reader.line_num}"
            try:
                yield {
                    c.name: _parse_cell(c, row.get(c.name, c.absent), location)
                    for c in schema.columns
                }
            except TableError as error:
                if refused is None:
                    raise
                refused(error)
    except csv.Error as error:
        raise _make_no_text_error(path, error) from error


def _make_no_text_error(path: Path, error: Exception) -> TableError:
    return TableError(
        f"not a text table ({why_unread(error)})", where=str(path), expected="UTF-8 text"
    )


def check_columns(schema: TableSchema, header: Sequence[str], path: Path) -> None:
    """Raise a TableError if a mandatory column of the schema is missing."""
    needed = [column.name for column in schema.columns if column.absent is None]
    missing = [name for name in needed if name not in header]
    if missing:
        raise TableError(
            f'the table "{schema.name}" lacks the column(s) {", ".join(missing)}',
            where=str(path),
            expected=f"the columns {', '.join(schema.column_names)}",
            remedy=f"The columns seen are {', '.join(header) or 'none'}",
        )


def _parse_cell(column: Column, text: str | None, location: str) -> object:
    # A text column may contain empty values, unless its values are restricted.
    if text is None or (text == "" and (column.type != "string" or column.values)):
        if column.optional:
            return None
        raise TableError(f'the column "{column.name}" is empty', where=location)
    if column.values and text not in column.values:
        raise TableError(
            f'"{text}" is not a value of the column "{column.name}"',
            where=location,
            expected=f"one of: {', '.join(column.values)}",
        )
    try:
        return _PARSERS[column.type](text)
    except (ValueError, KeyError) as error:
        raise TableError(
            f'"{text}" in the column "{column.name}" is not of the type {column.type}',
            where=location,
        ) from error


_PARSERS: dict[str, Callable[[str], object]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "datetime": datetime.fromisoformat,
}
