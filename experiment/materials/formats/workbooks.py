"""Excel files: the cells of a workbook's first sheet, and the encodings of Excel's text files."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from experiment.errors import MaterialsError

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet
import re
from collections.abc import Mapping
from types import MappingProxyType

# About a million cells; a table of items has a few thousand.
_LARGEST_WORKBOOK_BYTES = 64 * 1024 * 1024
# Windows' ANSI code pages by language; all other languages use the first one.
_WESTERN = "cp1252"
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
_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk")
# Characters that do not occur within words: if they do, the text has another code page.
_NO_LETTERS = "ƒ‡†\u02c6‰¤¦¨¬¯±¹²³¶\u00b8¼½¾\u00d7÷"
_LOST = re.compile(rf"\w*[^\W\d_][{_NO_LETTERS}]\w*|\w*[{_NO_LETTERS}][^\W\d_]\w*")
_ACCENTED = re.compile(r"\w*[^\W\d_\x00-\x7f]\w*")


def sheet(path: Path) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """Return the cells of a workbook's first sheet by rows, and notes about the sheet.

    Args:
        path: The file.

    Raises:
        MaterialsError: The file is not a workbook, or has hidden rows.
    """
    # The library takes a third of a second to load, so only load it for spreadsheets.
    from openpyxl import load_workbook

    try:
        _refuse_large(path)
        book = load_workbook(path, data_only=True)
        # ``worksheets`` excludes sheets with charts or macros.
        first, *others = book.worksheets
    except Exception as error:
        # A damaged workbook can raise any kind of exception.
        raise MaterialsError(
            f"the workbook cannot be read ({error})",
            where=str(path),
            expected="an Excel workbook (.xlsx)",
            remedy="Save it again from the spreadsheet program, or as CSV (UTF-8)",
        ) from error
    _refuse_hidden_rows(path, first)
    lines = [
        (number, [_cell(value) for value in cells])
        for number, cells in enumerate(first.iter_rows(values_only=True), start=1)
    ]
    notes = list(_unmerged(lines, first))
    if others:
        names = ", ".join(f'"{sheet.title}"' for sheet in others)
        notes.append(f'Of the workbook the first sheet, "{first.title}", is read, but not {names}.')
    if hidden := _hidden_columns(first):
        notes.append(
            f"Hidden in the sheet, and read all the same: the column {', '.join(hidden)}. Show it, "
            "and delete it where it is not meant."
        )
    return lines, tuple(notes)


def _unmerged(lines: list[tuple[int, list[str]]], sheet: "Worksheet") -> Iterator[str]:
    """Copy the value of merged cells into each of their rows, and report this."""
    tall = [one for one in sheet.merged_cells.ranges if one.max_row > one.min_row]
    for one in tall:
        first = lines[one.min_row - 1][1]
        for _, cells in lines[one.min_row : one.max_row]:
            cells[one.min_col - 1] = first[one.min_col - 1]
    if tall:
        names = ", ".join([one.coord for one in tall[:5]] + ["..."] * (len(tall) > 5))
        yield f"Cells that are merged over several rows count in each of them: {names}."


def _refuse_large(path: Path) -> None:
    with zipfile.ZipFile(path) as book:
        # At most the declared size of each part is unpacked.
        size = sum(part.file_size for part in book.infolist())
    if size > _LARGEST_WORKBOOK_BYTES:
        raise ValueError(f"unpacked it has {size:,} bytes; {_LARGEST_WORKBOOK_BYTES:,} are allowed")


def _refuse_hidden_rows(path: Path, sheet: "Worksheet") -> None:
    """Refuse hidden rows: they may have been filtered out, or forgotten."""
    hidden = [
        number
        for number, row in sorted(sheet.row_dimensions.items())
        if row.hidden and any(cell.value is not None for cell in sheet[number])
    ]
    if hidden:
        shown = ", ".join(map(str, hidden[:5])) + (", ..." if len(hidden) > 5 else "")
        raise MaterialsError(
            f"{len(hidden)} row(s) of the sheet are hidden: {shown}",
            where=f"{path}, row {hidden[0]}",
            expected="a sheet without hidden rows, so that it is clear which are items",
            remedy="Show all rows and take away filters; then delete the rows that are no items",
        )


def _hidden_columns(sheet: "Worksheet") -> list[str]:
    """Return the headers of hidden columns that are not empty."""
    hidden = [
        number
        for dimension in sheet.column_dimensions.values()
        if dimension.hidden
        for number in range(dimension.min or 0, min(dimension.max or 0, sheet.max_column) + 1)
    ]
    headers = [str(sheet.cell(1, number).value or "") for number in hidden if number]
    return [f'"{header}"' for header in headers if header]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def code_page(language: str) -> str:
    """Return the encoding of Excel's CSV files for a language (a BCP 47 tag)."""
    tag = language.lower()
    if tag.startswith(_TRADITIONAL):
        return "cp950"
    return _CODE_PAGES.get(tag.partition("-")[0], _WESTERN)


def lost_word(text: str) -> str:
    """Return a word that suggests a different code page; empty if there is none."""
    found = _LOST.search(text)
    return found[0] if found else ""


def telling_word(text: str) -> str:
    """Return the first word by which a reader can verify the encoding; empty if there is none."""
    found = _ACCENTED.search(text)
    return found[0] if found else ""
