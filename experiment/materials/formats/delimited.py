"""Delimited text (CSV, TSV, semicolons, bars) and Excel workbooks: encoding, headers and cells.

Files are read in pieces, so that a large file is never in memory as a whole.
"""

import codecs
import csv
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from experiment.errors import MaterialsError
from experiment.materials.formats.words import MISSING_MARKS

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet
from collections.abc import Mapping
from types import MappingProxyType

# What a cell holds in place of a number that was not computed.
MISSING_NUMBERS = MISSING_MARKS | {"", "none"}
# About a million cells; a table of items has a few thousand.
_LARGEST_WORKBOOK_BYTES = 64 * 1024 * 1024
# Windows' ANSI code pages by language; all other languages use the first one.
_WESTERN_CODE_PAGE = "cp1252"
_CODE_PAGES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"], "cp1250"),
        **dict.fromkeys(["be", "bg", "kk", "mk", "ru", "sr", "uk"], "cp1251"),
        "el": "cp1253",
        **dict.fromkeys(["az", "tr", "uz"], "cp1254"),
        **dict.fromkeys(["he", "yi"], "cp1255"),
        **dict.fromkeys(["ar", "fa", "ur"], "cp1256"),
        **dict.fromkeys(["et", "lt", "lv"], "cp1257"),
        "vi": "cp1258",
        "th": "cp874",
        "ja": "cp932",
        "zh": "gb18030",
        "ko": "cp949",
    }
)
_TRADITIONAL_CHINESE = ("zh-hant", "zh-tw", "zh-hk")
# Characters that do not occur within words: if they do, the text has another code page.
_NO_LETTERS = "ƒ‡†\u02c6‰¤¦¨¬¯±¹²³¶\u00b8¼½¾\u00d7÷"
_LOST_WORD = re.compile(rf"\w*[^\W\d_][{_NO_LETTERS}]\w*|\w*[{_NO_LETTERS}][^\W\d_]\w*")
_ACCENTED_WORD = re.compile(r"\w*[^\W\d_\x00-\x7f]\w*")


def read_sheet(path: Path, title: str = "") -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """Return the cells of a workbook's sheet by rows, and notes about the sheet.

    Args:
        path: The file.
        title: The sheet's title; empty for the first sheet.

    Raises:
        MaterialsError: The file is not a workbook, lacks the sheet, or has hidden rows.
    """
    # The library takes a third of a second to load, so only load it for spreadsheets.
    from openpyxl import load_workbook

    try:
        _refuse_large(path)
        book = load_workbook(path, data_only=True)
        # ``worksheets`` excludes sheets with charts or macros.
        sheets = {read_sheet.title: read_sheet for read_sheet in book.worksheets}
        chosen = sheets.get(title) if title else next(iter(sheets.values()))
    except Exception as error:
        # A damaged workbook can raise any kind of exception.
        raise MaterialsError(
            f"the workbook cannot be read ({error})",
            where=str(path),
            expected="an Excel workbook (.xlsx)",
            remedy="Save it again from the spreadsheet program, or as CSV (UTF-8)",
        ) from error
    if chosen is None:
        raise MaterialsError(
            f'the workbook has no sheet "{title}"',
            where=str(path),
            expected=f"one of: {', '.join(sheets)}",
        )
    _refuse_hidden_rows(path, chosen)
    lines = [
        (number, [_to_text(value) for value in cells])
        for number, cells in enumerate(chosen.iter_rows(values_only=True), start=1)
    ]
    notes = list(_fill_merged_cells(lines, chosen))
    if not title and len(sheets) > 1:
        others = ", ".join(f'"{other}"' for other in sheets if other != chosen.title)
        notes.append(
            f'Only the first sheet of the workbook, "{chosen.title}", is read, not {others}.'
        )
    if hidden := _hidden_columns(chosen):
        notes.append(
            f"Hidden in the sheet, and read all the same: the column {', '.join(hidden)}. Show it, "
            "and delete it if it does not belong to the items."
        )
    return lines, tuple(notes)


def _fill_merged_cells(
    lines: list[tuple[int, list[str]]], read_sheet: "Worksheet"
) -> Iterator[str]:
    """Copy the value of merged cells into each of their rows, and report this."""
    tall = [
        merged_range
        for merged_range in read_sheet.merged_cells.ranges
        if merged_range.max_row > merged_range.min_row
    ]
    for merged_range in tall:
        first = lines[merged_range.min_row - 1][1]
        for _, cells in lines[merged_range.min_row : merged_range.max_row]:
            cells[merged_range.min_col - 1] = first[merged_range.min_col - 1]
    if tall:
        names = ", ".join(
            [merged_range.coord for merged_range in tall[:5]] + ["..."] * (len(tall) > 5)
        )
        yield f"Cells that are merged over several rows count in each of them: {names}."


def _refuse_large(path: Path) -> None:
    with zipfile.ZipFile(path) as book:
        # At most the declared size of each part is unpacked.
        size = sum(part.file_size for part in book.infolist())
    if size > _LARGEST_WORKBOOK_BYTES:
        raise ValueError(f"unpacked it has {size:,} bytes; {_LARGEST_WORKBOOK_BYTES:,} are allowed")


def _refuse_hidden_rows(path: Path, read_sheet: "Worksheet") -> None:
    """Refuse hidden rows: they may have been filtered out, or forgotten."""
    hidden = [
        number
        for number, row in sorted(read_sheet.row_dimensions.items())
        if row.hidden and any(cell.value is not None for cell in read_sheet[number])
    ]
    if hidden:
        row_numbers = ", ".join(map(str, hidden[:5])) + (", ..." if len(hidden) > 5 else "")
        raise MaterialsError(
            f"{len(hidden)} row(s) of the sheet are hidden: {row_numbers}",
            where=f"{path}, row {hidden[0]}",
            expected="a sheet without hidden rows, so that it is clear which are items",
            remedy="Show all rows and remove filters; then delete the rows that are not items",
        )


def _hidden_columns(read_sheet: "Worksheet") -> list[str]:
    """Return the headers of hidden columns that are not empty."""
    hidden = [
        number
        for dimension in read_sheet.column_dimensions.values()
        if dimension.hidden
        for number in range(dimension.min or 0, min(dimension.max or 0, read_sheet.max_column) + 1)
    ]
    headers = [str(read_sheet.cell(1, number).value or "") for number in hidden if number]
    return [f'"{header}"' for header in headers if header]


def _to_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def code_page(language: str) -> str:
    """Return the encoding of Excel's CSV files for a language (a BCP 47 tag)."""
    tag = language.lower()
    if tag.startswith(_TRADITIONAL_CHINESE):
        return "cp950"
    return _CODE_PAGES.get(tag.partition("-")[0], _WESTERN_CODE_PAGE)


def lost_word(text: str) -> str:
    """Return a word that suggests a different code page; empty if there is none."""
    match = _LOST_WORD.search(text)
    return match[0] if match else ""


def accented_word(text: str) -> str:
    """Return the first accented word, by which a reader can verify the encoding; else empty."""
    match = _ACCENTED_WORD.search(text)
    return match[0] if match else ""


_DELIMITERS = (",", ";", "\t", "|")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_COMMENT = re.compile(r'\s*"?(#|%|//)')
_PIECE, _MOST_BEFORE = 1 << 20, 1_000


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file with a known encoding.

    Attributes:
        path: The file.
        encoding: The name of the encoding.
        is_unicode: Whether the encoding is a Unicode encoding, so that no letter can be wrong.
    """

    path: Path
    encoding: str
    is_unicode: bool = True

    @contextmanager
    def lines(self, n_skipped: int = 0) -> Iterator[TextIO]:
        """Open the file after its first ``n_skipped`` characters, with line ends unchanged."""
        with self.path.open(encoding=self.encoding, newline="") as file:
            n_left = n_skipped
            while n_left > 0 and (chunk := file.read(min(n_left, _PIECE))):
                n_left -= len(chunk)
            yield file

    def head(self) -> str:
        """Return the beginning of the text, for recognising a format."""
        with self.lines() as file:
            return file.read(_PIECE)

    def whole(self) -> str:
        """Return the whole text."""
        with self.lines() as file:
            return file.read()


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a delimited file.

    Attributes:
        delimiter: The character between cells.
        before: The number of lines before the headers.
        start: The number of characters before the headers.
    """

    delimiter: str
    before: int
    start: int


class DelimitedError(ValueError):
    """A file whose quotation marks are not paired.

    Attributes:
        line: The number of the line.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def open_text(path: Path, language: str = "") -> TextFile:
    """Open a text file in UTF-8, UTF-16, or the encoding of spreadsheets on Windows.

    Args:
        path: The file.
        language: The language of the text (BCP 47), which determines the encoding of spreadsheets.

    Raises:
        ValueError: The file is not text.
    """
    with path.open("rb") as file:
        is_utf_16 = file.read(2) in _UTF_16
    if is_utf_16 and _is_text(path, "utf-16"):
        return TextFile(path, "utf-16")
    if _is_text(path, "utf-8-sig"):
        return TextFile(path, "utf-8-sig")
    windows = code_page(language)
    if not is_utf_16 and _is_text(path, windows):
        return TextFile(path, windows, is_unicode=False)
    raise ValueError(f"it is not text in UTF-8, UTF-16 or {windows.replace('cp', 'Windows-')}")


def find_layout(file: TextFile, *, titles: bool = False) -> Layout:
    """Return a file's layout: the delimiter is the named one, or the one with the most cells.

    Args:
        file: The file.
        titles: Whether comments and titles may precede the headers: lines with fewer cells than
            those below.
    """
    with file.lines() as text:
        lines = list(islice(text, _MOST_BEFORE))
    first, separator = 0, ""
    if lines and lines[0][:4].lower() == "sep=" and lines[0][-1] in "\r\n":
        first, separator = 1, lines[0].strip()[4:5]
    first = _skip_title_lines(lines, first) if titles else _skip_comments(lines, first)
    header = next((line for line in lines[first:] if line.strip()), "")
    delimiter = separator or max(_DELIMITERS, key=lambda mark: _n_cells(header, mark))
    even = [mark for mark in _DELIMITERS if _divides_evenly(lines[first:], mark)]
    if not separator and len(even) == 1:
        # Another mark may occur more often, within cells, but not equally often in each line.
        delimiter = even[0]
    return Layout(delimiter, first, sum(map(len, lines[:first])))


def cells_of(
    file: TextFile, layout: Layout, *, lenient: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row's cells with the number of its last line, starting with the headers.

    Args:
        file: The file.
        layout: The file's layout.
        lenient: Whether to accept spaces before cells, and quotation marks within them.

    Raises:
        DelimitedError: A quotation mark has no counterpart.
    """
    with file.lines(layout.start) as lines:
        rows = csv.reader(
            lines, delimiter=layout.delimiter, strict=not lenient, skipinitialspace=lenient
        )
        try:
            for cells in rows:
                yield layout.before + rows.line_num, cells
        except csv.Error as error:
            raise DelimitedError(str(error), layout.before + rows.line_num) from error


def _skip_comments(lines: list[str], first: int) -> int:
    """Return the first line that is no comment, if comments without cells precede a table."""
    texts = [line for line in lines[first:] if line.strip()]
    comments = list(takewhile(lambda line: _COMMENT.match(line) and _is_one_cell(line), texts))
    if not comments or all(map(_is_one_cell, texts[len(comments) : len(comments) + 1])):
        return first
    return lines.index(texts[len(comments)], first)


def _is_one_cell(line: str) -> bool:
    return all(_n_cells(line, mark) == 1 for mark in _DELIMITERS)


def _skip_title_lines(lines: list[str], first: int) -> int:
    for number, line in enumerate(lines[first:], start=first):
        below = [text for text in lines[number + 1 :] if text.strip()]
        if _COMMENT.match(line):
            # Comments may follow each other.
            below = [text for text in below if not _COMMENT.match(text)] or below
        if not below or not _is_title(line, below[0]):
            return number
    return first


def _divides_evenly(lines: list[str], delimiter: str) -> bool:
    """Return whether a character divides each line into the same number of cells, above one."""
    sizes = {_n_cells(line, delimiter) for line in lines if line.strip()}
    return len(sizes) == 1 and sizes.pop() > 1


def _is_title(line: str, below: str) -> bool:
    if any(_divides_evenly([line, below], mark) for mark in _DELIMITERS):
        return _is_comment_alone(line)
    delimiter = max(_DELIMITERS, key=below.count)
    fewer = _n_cells(line, delimiter) < _n_cells(below, delimiter)
    comment = _COMMENT.match(line) or delimiter not in line
    return not line.strip() or bool(fewer and comment)


def _is_comment_alone(line: str) -> bool:
    """Return whether the only text in a spreadsheet's row is a comment in its first cell."""
    marks = "".join(_DELIMITERS)
    first = line.rstrip(f"{marks}\r\n")
    return not first or bool(_COMMENT.match(line) and first != line.rstrip("\r\n"))


def _n_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:  # a cell exceeds the size limit of csv
        return 0


def _is_text(path: Path, encoding: str) -> bool:
    """Return whether a file can be decoded to text without null characters."""
    try:
        with path.open(encoding=encoding, newline="") as file:
            return not any("\0" in chunk for chunk in iter(lambda: file.read(_PIECE), ""))
    except UnicodeError:
        return False
