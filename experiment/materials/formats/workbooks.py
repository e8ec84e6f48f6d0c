"""The first sheet of an Excel workbook, as rows of cells."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from experiment.errors import MaterialsError

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

# A million cells or so; a table of items has some thousands.
_LARGEST_WORKBOOK_BYTES = 64 * 1024 * 1024


def sheet(path: Path) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """Return the cells of a workbook's first sheet, by rows, and what its reader must know.

    Args:
        path: The file.

    Raises:
        MaterialsError: It is no workbook, or rows of it are hidden.
    """
    # The library takes a third of a second to load, which only spreadsheets should cost.
    from openpyxl import load_workbook

    try:
        _refuse_large(path)
        book = load_workbook(path, data_only=True)
        # Charts and macros lie in sheets of other kinds.
        first, *others = book.worksheets
    except Exception as error:
        # Whatever is odd in a workbook, its reader stumbles over with an exception of any kind.
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
    """Write the value of merged cells into each of their rows, and yield that it was done."""
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
        # No more is unpacked of a part than it says that it has.
        size = sum(part.file_size for part in book.infolist())
    if size > _LARGEST_WORKBOOK_BYTES:
        raise ValueError(f"unpacked it has {size:,} bytes; {_LARGEST_WORKBOOK_BYTES:,} are allowed")


def _refuse_hidden_rows(path: Path, sheet: "Worksheet") -> None:
    """Refuse rows that nobody sees: they may have been filtered out, or forgotten."""
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
    """Return the headers of hidden columns that hold anything."""
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
