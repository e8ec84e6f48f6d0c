"""Read files of judgments as tables, whichever program wrote them, without losing cells."""

import csv
import zipfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from analysis.readers import json_trials
from analysis.readers.colorless_green import COLUMNS as PUBLISHED_COLUMNS
from analysis.readers.colorless_green import with_published_headers
from analysis.readers.delimited_tables import read_delimited
from analysis.readers.program import LABELS, programs
from experiment.errors import find_repeated, why_unread
from experiment.materials.formats import r_files
from experiment.materials.formats.delimited import open_text, read_sheet
from experiment.materials.formats.header_rows import SAMPLED, read_header_rows
from experiment.materials.formats.raw import refuse_needless_options, refuse_other_number
from experiment.materials.formats.words import MISSING_MARKS, MISSING_SIGNS

# The number of a result within its file, when a folder is read.
WITHIN_FILE = "result_in_file"
# A published table with its items; ``colorless_green.py`` reads it.
_PUBLISHED = "Gulordava et al. (2018)"


@dataclass(frozen=True, slots=True)
class Source:
    """The table of a file.

    Attributes:
        path: The file.
        format: The program that wrote the file, in words; "table" if unknown.
        table: Every value as text; missing values are empty.
        left_out: The number of lines that are not rows of the table, by rule.
        notes: Irregularities of the file, in sentences.
        labels: The text of the question that a column has the answers to, where the file says it.
    """

    path: Path
    format: str
    table: pd.DataFrame
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_colorless_green(self) -> bool:
        """Whether this is the Gulordava et al. (2018) table, which contains its items."""
        return self.format == _PUBLISHED


_UNREAD = {
    ".gz": ("a compressed file", "Decompress it: gunzip --keep FILE"),
    ".xls": (
        "Excel's former format", "Save the file in one of them from the spreadsheet program"
    ),
}  # fmt: skip
# Texts that mark a missing value only among numbers.
_MARKS_AMONG_NUMBERS = MISSING_SIGNS | {"empty"}
_MARKS = MISSING_MARKS | _MARKS_AMONG_NUMBERS


def empty_missing_marks(source: Source, kept_values: Collection[str] = ()) -> Source:
    """Return a source whose marks of missing values (NA, NaN, null, a point) are empty cells.

    Args:
        source: The source.
        kept_values: Texts that a mapping speaks of, which are values.
    """
    changed: dict[str, pd.Series[str]] = {}
    notes = []
    for column in source.table.columns:
        cells = source.table[column]
        values = {str(value): str(value).strip().lower() for value in cells.unique()}
        marks = {
            value for value, lower in values.items() if lower in _MARKS and value not in kept_values
        }
        remaining_values = [
            value for value, lower in values.items() if lower and value not in marks
        ]
        if not marks or not remaining_values:
            continue
        if pd.to_numeric(pd.Series(remaining_values), errors="coerce").isna().any():
            marks = {value for value in marks if values[value] not in _MARKS_AMONG_NUMBERS}
        missing = cells.isin(marks)
        if missing.any():
            changed[column] = cells.mask(missing, "")
            mark_list = ", ".join(f'"{mark}"' for mark in sorted(marks))
            notes.append(f'{int(missing.sum()):,} cells of "{column}" hold no value: {mark_list}')
    if not changed:
        return source
    return replace(source, table=source.table.assign(**changed), notes=(*source.notes, *notes))


def read_source(path: Path, headers: Sequence[str] = (), sheet_title: str = "") -> Source:
    """Read a file as a table; the format is detected from the content rather than the name.

    A folder is read as one table of all its files, each with one result: programs that
    run in browsers often write a file for each participant.

    Args:
        path: The file or folder.
        headers: The names of all columns, in their order, if the tables have no headers.
        sheet_title: The sheet of a workbook, if it is not the first; the data frame of an R file.

    Raises:
        AnalysisError: The file does not exist, has no rows, or cannot be read.
        MaterialsError: The headers are not as many as the columns, or not needed.
    """
    if path.is_dir():
        return _stack_folder(path, headers, sheet_title)
    try:
        source = _read_file(path, headers, sheet_title)
    except (OSError, ValueError, pa.ArrowInvalid, zipfile.BadZipFile, csv.Error) as error:
        raise AnalysisError(
            f"the file cannot be read ({why_unread(error)})",
            where=str(path),
            expected="CSV, TSV, .xlsx, .rds, Parquet, JSON, or results of PCIbex, Ibex, JATOS or "
            "psiTurk",
        ) from error
    if source.table.empty:
        raise AnalysisError(
            "the file has no rows of data",
            where=str(path),
            expected="at least one row below the names of the columns",
        )
    return replace(source, table=_strip_cells(source.table))


def _strip_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without white space around its cells."""
    stripped = {}
    for column in table.columns:
        distinct = table[column].dropna().unique()
        if any(isinstance(value, str) and value != value.strip() for value in distinct):
            stripped[column] = table[column].str.strip()
    return table.assign(**stripped) if stripped else table


def _stack_folder(folder: Path, headers: Sequence[str], sheet_title: str) -> Source:
    """Return the stacked tables of a folder's files; ``result`` identifies the file."""
    all_files = sorted(path for path in folder.iterdir() if path.is_file())
    files = [path for path in all_files if path.name[0] != "."]
    sources = [read_source(file, headers, sheet_title) for file in files]
    formats = sorted({source.format for source in sources})
    if len(formats) != 1:
        raise AnalysisError(
            f"the folder's files are read as {' and '.join(formats)}"
            if formats
            else "the folder holds no files",
            where=str(folder),
            expected="files of one program, one for each participant",
            remedy="Leave only the files of judgments in the folder",
        )
    parts = [_add_file_name(source) for source in sources]
    left_out: Counter[str] = Counter()
    if hidden := len(all_files) - len(files):
        left_out["files whose names begin with a dot"] = hidden
    for source in sources:
        left_out.update(source.left_out)
    notes = tuple(
        dict.fromkeys(f"{source.path.name}: {n}" for source in sources for n in source.notes)
    )
    table = pd.concat(parts, ignore_index=True).fillna("")
    return Source(folder, formats[0], table, left_out, notes)


def _add_file_name(source: Source) -> pd.DataFrame:
    """Return a file's table with the file name as ``result``, however many results it contains."""
    table = source.table.rename(columns={json_trials.RESULT_COLUMN: WITHIN_FILE})
    return table.assign(**{json_trials.RESULT_COLUMN: source.path.name})


def _read_file(path: Path, headers: Sequence[str], sheet_title: str) -> Source:
    refuse_needless_options(headers, sheet_title, path)
    if path.suffix == ".parquet":
        frame = pq.read_table(path).to_pandas()
        return _recognise_program(
            path, json_trials.trials_as_text(frame.to_dict("records")), "table"
        )
    if path.suffix.lower() == ".xlsx":
        return _read_rows(path, "workbook", *read_sheet(path, sheet_title), headers)
    if path.suffix.lower() in r_files.SUFFIXES:
        return _read_rows(path, "data frame of R", *r_files.read_r_file(path, sheet_title))
    if other := _UNREAD.get(path.suffix.lower()):
        name, remedy = other
        raise AnalysisError(
            f"{name} ({path.suffix.lower()}) is not read",
            where=str(path),
            expected="an Excel workbook (.xlsx), or CSV",
            remedy=remedy,
        )
    for program in programs():
        if path.suffix in program.suffixes:
            return Source(path, program.name, program.read_file(path))
    file = open_text(path)
    if headers:
        named = read_delimited(file, headers)
        return Source(path, "table without headers", named.table, notes=named.notes)
    head = file.head()
    for program in programs():
        if program.recognises(head):
            table, name = program.read_text(file.whole())
            return Source(path, name, table)
    if head.lstrip().startswith(("[", "{")):
        frame, several = json_trials.read_json(file.whole())
        return Source(path, "JATOS", frame) if several else _recognise_program(path, frame, "JSON")
    delimited = read_delimited(file)
    left_out = {"lines before the headers": delimited.before} if delimited.before else {}
    frame, n_repeated_headers = _drop_repeated_headers(delimited.table)
    if n_repeated_headers:
        left_out["repeated headers"] = n_repeated_headers
    return _recognise_program(path, frame, "table", left_out, delimited.notes)


def _read_rows(
    path: Path,
    format_name: str,
    lines: Sequence[tuple[int, list[str]]],
    notes: tuple[str, ...],
    names: Sequence[str] = (),
) -> Source:
    """Return a table of cells; without names, its first row that is not empty has them."""
    cells = [row for _, row in lines if any(cell.strip() for cell in row)]
    if not cells:
        return Source(path, format_name, pd.DataFrame())
    if names:
        refuse_other_number(names, cells[0], str(path))
        headers, n_headers = list(names), 0
    else:
        headers, n_headers, note = read_header_rows(cells[:SAMPLED])
        notes = (*notes, note) if note else notes
    if repeated := find_repeated(header for header in headers if header):
        raise AnalysisError(
            f'the header "{repeated[0]}" occurs more than once',
            where=str(path),
            expected="each header once",
            remedy="Rename one of the columns",
        )
    named = [place for place, header in enumerate(headers) if header]
    frame = pd.DataFrame(
        [[row[place] for place in named] for row in cells[n_headers:]],
        columns=[headers[place] for place in named],
        dtype=str,
    )
    return _recognise_program(path, frame, format_name, notes=notes)


def _recognise_program(
    path: Path,
    frame: pd.DataFrame,
    default_name: str,
    left_out: Mapping[str, int] = MappingProxyType({}),
    notes: tuple[str, ...] = (),
) -> Source:
    columns = set(frame.columns)
    published = with_published_headers(frame)
    if set(PUBLISHED_COLUMNS) <= set(published.columns):
        return Source(path, _PUBLISHED, published, left_out, notes)
    matching_programs = (
        candidate
        for candidate in programs()
        if any(
            identifying and set(identifying) <= columns
            for identifying in (candidate.columns, candidate.other_columns)
        )
    )
    program = next(matching_programs, None)
    name, table = (program.name, program.tidy(frame)) if program else (default_name, frame)
    if (fewer := len(frame) - len(table)) > 0:
        left_out = {**left_out, f"what {name} writes in addition to its results": fewer}
    return Source(path, name, table, left_out, notes, table.attrs.pop(LABELS, {}))


def _drop_repeated_headers(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return a table without repeated headers, which separate results, and the number of them."""
    is_header = pd.Series(True, frame.index)
    for index, name in enumerate(frame.columns):
        if not is_header.any():
            break
        is_header &= frame.iloc[:, index] == name
    if not is_header.any():
        return frame, 0
    numbers = (is_header.cumsum() + 1).astype(str)
    without_headers = frame.assign(**{json_trials.RESULT_COLUMN: numbers})[~is_header].reset_index(
        drop=True
    )
    return without_headers, int(is_header.sum())
